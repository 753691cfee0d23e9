// SPDX-License-Identifier: BSD-2-Clause
// The counters that several steps touch: response statuses, bytes.
#pragma once

#include "worker/stream/flow.h"

namespace penstock {

/// The server's response came with that status.
void count_server_status(Stream &s, u16 status);
/// The stream has ended with the status that its client was told, 0 for none: once, in frontend and backend.
void count_final_status(Stream &s);
/// Adds the bytes since the last call.
void count_bytes(Stream &s);

/// One more event of a rate, and its maximum.
inline void count_rate(RateCounter &rate, std::atomic<u32> &most, Tick now) {
  rate.add(now);
  u32 seen = rate.read(now);
  if (seen > most.load(std::memory_order_relaxed)) raise_to(most, seen);
}
/// A session was given to a server or a backend. Few writes: the cell is shared.
inline void note_last_session(std::atomic<i64> &last) {
  i64 now_s = runtime->loop.wall_now_us() / 1'000'000;
  if (last.load(std::memory_order_relaxed) != now_s) last.store(now_s, std::memory_order_relaxed);
}

} // namespace penstock
