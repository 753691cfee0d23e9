// SPDX-License-Identifier: BSD-2-Clause
// The event engine: descriptors, timers and end-of-turn work of one single-threaded process. Used by
// the workers and by the control process. What is behind it (epoll today) is known to loop.cpp alone.
#pragma once

#include <atomic>

#include "shared/base/basic.h"
#include "shared/base/time.h"

namespace penstock {

enum IoEvents : u32 { io_readable = 1, io_writable = 2, io_hangup = 4 /* peer closed its writing side */, io_error = 8 };

/// Something with a descriptor. Derive, give the loop the function; no virtual table on the hot path.
struct IoHandle {
  using Fn = void (*)(IoHandle &self, u32 events);
  int fd = -1;
  u32 armed = 0; // the loop's: what the engine watches
  Fn on_event = nullptr;
};

/// A one-shot timer, embedded in its owner. Moving a deadline later is free (noticed when it fires);
/// moving it earlier costs a re-insertion.
struct Timer {
  using Fn = void (*)(Timer &self);
  Tick deadline = never; // what the owner wants
  Tick queued = never;   // the loop's: where it is in the wheel
  Timer *prev = nullptr, *next = nullptr;
  Fn on_expire = nullptr;
};

/// Work to do once before the loop sleeps again: a stream to run, an object to bury.
struct Deferred {
  using Fn = void (*)(Deferred &self);
  Fn run = nullptr;
  Deferred *next = nullptr;
  bool queued = false;
};

class Loop : Pinned {
 public:
  Loop();
  ~Loop();

  /// Watches `h.fd`. Edge: events are reported once per change and the owner remembers them.
  void add_edge(IoHandle &h, u32 events);
  void add_level(IoHandle &h, u32 events);
  void change(IoHandle &h, u32 events, bool edge);
  void remove(IoHandle &h); // not needed before close()

  void set_timer(Timer &t, Tick deadline); // `never` cancels
  void cancel(Timer &t);
  void defer(Deferred &d);                 // runs this turn, after the events (next turn when deferred work asks)
  void bury(Deferred &d);                  // runs at the very end of the turn: deletes its owner

  /// One turn: waits at most until the next timer, runs events, timers, deferred work, burials.
  void turn(Millis at_most = 60'000);
  void run(); // until stop()
  void stop() { stopping_ = true; }
  /// Whether deferred work waits: the next turn will not sleep.
  bool busy() const;

  /// A word that other processes read: odd while a turn's work is done, even while the loop waits.
  void mark_turns(std::atomic<u64> &word) { turn_word_ = &word; }

  /// For a fork: the child closes it.
  int engine_fd() const;

  Tick now() const { return now_ms_; }   // read once per turn
  i64 now_us() const { return now_us_; }
  i64 wall_now_us() const { return wall_us_; }
  u64 turns() const { return turns_; }

 private:
  struct Impl;
  Impl *impl_;
  Tick now_ms_ = 0;
  i64 now_us_ = 0, wall_us_ = 0, wall_ahead_us_ = 0;
  Tick wall_due_ = 0;
  u64 turns_ = 0;
  std::atomic<u64> *turn_word_ = nullptr;
  bool stopping_ = false;
  void read_clocks();
};

} // namespace penstock
