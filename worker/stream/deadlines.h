// SPDX-License-Identifier: BSD-2-Clause
// Inactivity: which side the stream waits for, and until when (timeout client, server, tunnel,
// client-fin, server-fin). A side that nobody waits for cannot be too slow.
#pragma once

#include "worker/stream/flow.h"

namespace penstock {

/// Sets both deadlines from what the pumps wait for. `up`, `down`: something moved from the client, from the server
/// since the last call.
void update_deadlines(Stream &s, bool up, bool down);

} // namespace penstock
