// SPDX-License-Identifier: BSD-2-Clause
// The manual's two-period frequency counters, to the unit: the events of the current period plus the share
// of the previous one that still lies within a period's length. A period begins with the first event after
// two periods of silence, and the next one right behind it. Changed with the entry's stripe held; of the
// two words that a turn of the period writes, the order is such that a death between them counts too much
// rather than too little.
#pragma once

#include <cstring>

#include "shared/shm/stick_layout.h"

namespace penstock::stick {

/// ms since the period's start. Another process' clock may be a turn ahead of ours.
inline u32 rate_age(const RateCell &cell, u32 now) {
  u32 age = now - cell.start;
  constexpr u32 clocks_differ = 60'000;
  return age > ~u32{0} - clocks_differ ? 0 : age;
}

inline void set_counts(RateCell &cell, u32 current, u32 previous) {
  u64 both = u64{previous} << 32 | current;
  std::memcpy(&cell.current, &both, sizeof both); // one store
}

inline void rate_add(RateCell &cell, u32 now, u32 events, u32 period) {
  u32 age = rate_age(cell, now);
  if (cell.current == 0 && cell.previous == 0) {
    cell.start = now;
    return set_counts(cell, events, 0);
  }
  if (age < period) {
    cell.current += events;
  } else if (age - period < period) {
    cell.start += period;
    set_counts(cell, events, cell.current);
  } else {
    cell.start = now;
    set_counts(cell, events, 0);
  }
}

inline u32 rate_read(const RateCell &cell, u32 now, u32 period) {
  u32 age = rate_age(cell, now), current = cell.current, previous = cell.previous;
  if (age >= period) {
    if (age - period >= period) return 0;
    age -= period;
    previous = current, current = 0;
  }
  if (current == 0 && previous <= 1) return previous; // a single event does not flicker
  return current + static_cast<u32>(u64{previous} * (period - age) / period);
}

/// As if all of it had just happened.
inline void rate_set(RateCell &cell, u32 now, u32 events) {
  cell.start = now;
  set_counts(cell, events, 0);
}

} // namespace penstock::stick
