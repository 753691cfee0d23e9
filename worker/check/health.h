// SPDX-License-Identifier: BSD-2-Clause
// What check results, agents and operators do to a server: the rise and fall counting, the transitions
// and the events that tell of them. The state itself, and what follows from it for slow start,
// trackers and waiting requests, is in shared memory (shared/shm/server_state.h).
#pragma once

#include "shared/shm/rows.h"
#include "worker/check/runner.h"
#include "worker/log/events.h"

namespace penstock {

class Service;
class ServerStates;

class Health {
 public:
  Health(Service &service, ServerStates &states) : service_(service), states_(states) {}

  /// Fills the row of a server that no earlier generation has checked.
  void initialise(const Server &s);
  /// Counts a health check's result and moves the server's state when rise or fall is reached.
  void health_result(const Server &s, const CheckResult &r, Tick now);
  /// An agent's word on operation: up, or down for the reason that `r` tells.
  void agent_result(const Server &s, bool up, const CheckResult &r, Tick now);
  /// `observe`: traffic errors have reached error-limit; does what `on-error` says.
  void observed_errors(const Server &s, Tick now);
  /// Administrative changes, with their events.
  void maintain(const Server &s, Tick now);
  void drain(const Server &s, Tick now);
  void make_ready(const Server &s, Tick now);

 private:
  void count(const Server &s, bool passed, const CheckResult &r, Tick now);
  void move(const Server &s, OpState to, const CheckResult &why, bool agent, Tick now);
  void tell(const Server &s, ServerEvent event, string_view cause, bool via);
  void tell_all(const Server &s, ServerEvent event);

  Service &service_;
  ServerStates &states_;
};

} // namespace penstock
