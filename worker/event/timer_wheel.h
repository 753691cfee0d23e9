// SPDX-License-Identifier: BSD-2-Clause
// A hierarchical timer wheel: four levels of 64 slots, one millisecond at the bottom. Inserting and
// removing cost the same however many timers there are. Slots are rings through a sentinel, so that a
// timer leaves without knowing its slot; the bitmaps may therefore name an empty slot, which costs a look.
// Owned by the loop; nobody else uses it.
#pragma once

#include "worker/event/loop.h"

namespace penstock {

class TimerWheel : Pinned {
 public:
  explicit TimerWheel(Tick now);

  /// Puts `t` where `at` says (in the past: the next millisecond). It must not be in the wheel.
  void insert(Timer &t, Tick at) { place(t, at, now_ + 1); }
  static void unlink(Timer &t);
  /// Fires what is due at `now`; a timer whose deadline has moved meanwhile goes back in.
  void advance(Tick now);
  /// The next time at which advance() has something to do; `never` when it is empty.
  Tick next();

 private:
  void place(Timer &t, Tick at, Tick earliest);
  static constexpr unsigned levels = 4, slot_bits = 6, slots = 1 << slot_bits;
  void cascade(unsigned level, unsigned slot);
  void fire(unsigned slot, Tick now);
  Tick next_of(unsigned level);

  Timer ring_[levels][slots];
  u64 bits_[levels] = {};
  Tick now_;
};

} // namespace penstock
