// SPDX-License-Identifier: BSD-2-Clause
// What becomes of an attempt at a server that went wrong: shared by the steps that talk to servers.
#pragma once

#include "worker/stream/flow.h"

namespace penstock {

/// The connection could not be had.
Next attempt_failed(Stream &s, FaultKind kind);
/// Gives up the link and goes for another try (retries, redispatch). The caller has checked that one is left.
Next try_again(Stream &s, bool same_server_pause);
/// Whether what went wrong after the request was sent may be tried again (`word`: a bit of RetryOn): the words
/// of retry-on allow it, and nothing that was sent is lost.
bool may_retry(Stream &s, u32 word);
/// Passive health (`observe`): one error or success of the server; layer 7 where `http`.
void report_server_error(Stream &s, bool http);
/// A connection came about, or (http) a good response came: errors are no longer in a row. With `observe layer7`
/// only a response says so.
void report_server_success(Stream &s, bool http);

} // namespace penstock
