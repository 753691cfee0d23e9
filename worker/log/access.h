// SPDX-License-Identifier: BSD-2-Clause
// The access log: one line per request (mode http) or connection (mode tcp), to the frontend's log
// targets (manual, section 8.2). Called by Step::Finish, or with `option logasap` by Step::Response;
// connections that die before there is a stream are told by the listener with log_connection_error().
#pragma once

#include "worker/stream/stream.h"

namespace penstock {

/// Logs the stream unless it is already logged, silent, or excluded by dontlognull / dontlog-normal.
void log_stream(Stream &stream);

/// For Step::Route: a frontend without any format logs "Connect from …" there and then.
void log_stream_start(Stream &stream);
/// For Step::Response (Connect in mode tcp): whether the line is written now and not at the end (`option logasap`).
bool log_early(const Stream &stream);

/// Whether something went wrong with it, in the sense of dontlog-normal and log-separate-errors: a failure,
/// a refusal, a repetition or a status of 500 and above. Answers of our own are no failures.
bool had_trouble(const StreamFacts &facts);

/// The line of a failed PROXY header or handshake, in `error-log-format` or the built-in form. `sent_any`: the
/// client had sent something (dontlognull).
void log_connection_error(Session &session, ConnectionError error, bool sent_any);

} // namespace penstock
