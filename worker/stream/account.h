// SPDX-License-Identifier: BSD-2-Clause
// The counters that several steps touch: response statuses, bytes.
#pragma once

#include "worker/stream/flow.h"

namespace penstock {

/// One response with that status, in frontend, backend and server as far as each took part.
void count_status(Stream &s, u16 status, bool from_server);
/// Adds the bytes since the last call.
void count_bytes(Stream &s);

} // namespace penstock
