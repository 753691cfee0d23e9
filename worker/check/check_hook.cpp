// SPDX-License-Identifier: BSD-2-Clause
#include "worker/check/check_hook.h"

#include <memory>

#include "worker/check/checker.h"

namespace penstock {

namespace {

/// Health checks and the steps of slow start: both change servers, so only the leader runs them.
struct Checks {
  explicit Checks(Control &c) : control(c), checker(c.loop, *c.config, *c.service, c.states) {
    ramp.checks = this;
    ramp.on_expire = [](Timer &t) { static_cast<Ramp &>(t).checks->advance(); };
    c.states.refresh_all(c.loop.now());
    checker.start();
    advance();
  }
  ~Checks() { control.loop.cancel(ramp); }

  void advance() {
    // A server may begin its slow start at any moment, so this is looked at every so often anyway.
    Tick next = control.states.advance_slow_starts(control.loop.now());
    control.loop.set_timer(ramp, std::min(next, control.loop.now() + 500));
  }

  struct Ramp : Timer { Checks *checks = nullptr; };
  Control &control;
  Checker checker;
  Ramp ramp;
};

std::unique_ptr<Checks> running;

} // namespace

ControlHook check_hook() {
  ControlHook hook;
  hook.name = "checks";
  hook.lead = [](Control &c) { running = std::make_unique<Checks>(c); };
  hook.stop_leading = [](Control &) { running.reset(); };
  hook.stop = [](Control &) { running.reset(); };
  return hook;
}

} // namespace penstock
