// SPDX-License-Identifier: BSD-2-Clause
// Accepts connections on one listening socket, as many as limits allow: tune.maxaccept per turn, maxconn
// of the bind line, the frontend and the service, rate limits. At a limit the socket is not polled
// until there is room again; without descriptors it rests for a moment. No busy loop in either case.
#pragma once

#include "shared/model/proxy.h"
#include "shared/shm/service.h"
#include "worker/event/loop.h"

namespace penstock {

struct ProxyState;

class Listener : Pinned {
 public:
  Listener(const Bind &bind, ProxyState &state, int fd);
  /// Begins to poll.
  void start();
  /// Stops for good: soft stop. Closes our copy; the socket itself is the master's to keep.
  void stop();
  bool polled() const { return started_ && !stopped_; }
  bool adopted = false; // its slot has no worker of its own
  /// There may be room again.
  void resume();
  /// `disable frontend`, `enable frontend`, `shutdown frontend`: refuses connections, or accepts again.
  void obey_state();
  /// A connection of this listener has ended.
  void released();

  const Bind &bind() const { return bind_; }
  ProxyState &state() { return state_; }
  ProxyCounters *counters() { return counters_; }
  u32 connections() const { return connections_; }

 private:
  static void on_event(IoHandle &h, u32 events);
  static void on_timer(Timer &t);
  void accept_some();
  bool accept_one();
  bool admit();
  Millis rate_wait() const;
  void pause(Millis at_most);
  void inherit_options();

  struct Handle : IoHandle { Listener *listener; } io_;
  struct PauseTimer : Timer { Listener *listener; } timer_;
  const Bind &bind_;
  ProxyState &state_;
  ProxyCounters *counters_ = nullptr; // option socket-stats
  u32 connections_ = 0;
  u32 full_batches_ = 0;
  u32 batch_ = 1; // how many are likely to wait: avoids the accept that finds nothing
  bool paused_ = false, started_ = false, stopped_ = false, refusing_ = false;
};

/// Wakes the listeners that wait for a connection of `frontend` (or of anything) to end.
void resume_listeners(ProxyState &frontend);

} // namespace penstock
