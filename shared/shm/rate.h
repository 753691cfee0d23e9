// SPDX-License-Identifier: BSD-2-Clause
// Rates over the last period, shared and exact: the events of the current period plus the share of
// the previous one that still lies within a period's length (the manual's "per second" figures).
// Periods are counted on the host's monotonic clock, so all processes agree where one begins, and one
// compare-and-swap per event is all there is to it: nothing to repair after a death.
#pragma once

#include <atomic>

#include "shared/base/time.h"

namespace penstock {

class RateCounter {
 public:
  void add(Tick now, u32 events = 1, u32 period_ms = 1000) {
    u32 period = static_cast<u32>(now / period_ms);
    std::atomic<u64> &cell = cells_[period & 1];
    u64 seen = cell.load(std::memory_order_relaxed);
    for (;;) {
      // A process whose clock is a turn old may come after others began the next but one.
      bool current = static_cast<i32>(number(seen) - period) >= 0;
      u64 want = current ? seen + events : u64{period} << 32 | events;
      if (cell.compare_exchange_weak(seen, want, std::memory_order_relaxed)) return;
    }
  }

  u32 read(Tick now, u32 period_ms = 1000) const {
    u32 period = static_cast<u32>(now / period_ms), left = period_ms - static_cast<u32>(now % period_ms);
    return events_of(period) + static_cast<u32>(u64{events_of(period - 1)} * left / period_ms);
  }
  /// ms to wait until `read` is below `limit` again.
  Millis until_below(Tick now, u32 limit, u32 period_ms = 1000) const;

 private:
  static u32 number(u64 cell) { return static_cast<u32>(cell >> 32); }
  u32 events_of(u32 period) const {
    u64 cell = cells_[period & 1].load(std::memory_order_relaxed);
    return number(cell) == period ? static_cast<u32>(cell) : 0;
  }
  std::atomic<u64> cells_[2]{}; // {period number, events}: this period's and the previous one's
};

inline Millis RateCounter::until_below(Tick now, u32 limit, u32 period_ms) const {
  if (limit == 0) return period_ms;
  u32 period = static_cast<u32>(now / period_ms), into = static_cast<u32>(now % period_ms);
  u64 current = events_of(period), previous = events_of(period - 1);
  if (current >= limit) // it weighs on as the next period's previous one, ever less
    return period_ms - into + period_ms - static_cast<Millis>(u64{limit} * period_ms / current) + 1;
  if (current + previous * (period_ms - into) / period_ms < limit) return 0;
  u64 keep_ms = (limit - current) * period_ms / previous; // the previous period may still weigh this long
  Millis wait = static_cast<Millis>(period_ms - into) - static_cast<Millis>(keep_ms) + 1;
  return wait > 0 ? wait : 1;
}

/// value = max(value, seen), by any process.
template <class T> void raise_to(std::atomic<T> &value, T seen) {
  T old = value.load(std::memory_order_relaxed);
  while (old < seen && !value.compare_exchange_weak(old, seen, std::memory_order_relaxed)) {
  }
}

} // namespace penstock
