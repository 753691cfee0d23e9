// SPDX-License-Identifier: BSD-2-Clause
// The access log: one line per request (mode http) or connection (mode tcp), to the frontend's log
// targets (manual, section 8.2). Called by Step::Finish, or with `option logasap` by Step::Response;
// connections that die before there is a stream are told by the listener with log_connection_error().
#pragma once

#include "worker/stream/stream.h"

namespace penstock {

/// Logs the stream unless it is already logged, silent, or excluded by dontlognull / dontlog-normal.
void log_stream(Stream &stream);

/// Whether the stream's line may be written when the response's head is there (`option logasap`).
bool log_early(const Stream &stream);

/// Why a connection never became a stream. The texts are what log readers match.
enum class ConnectionError : u8 {
  None, ProxyHeaderAborted, ProxyHeaderTruncated, ProxyHeaderTimeout, ProxyHeaderInvalid, ProxyHeaderFamily,
  CipAborted, CipTruncated, CipTimeout, CipInvalid, HandshakeAborted, HandshakeTimeout, HandshakeFailed, count_,
};
string_view connection_error_text(ConnectionError e);
/// For the fetches fc_err and fc_err_str, and counters of failed handshakes: the line of a failed
/// PROXY header or handshake, in `error-log-format` or the built-in form.
void log_connection_error(Session &session, ConnectionError error);

} // namespace penstock
