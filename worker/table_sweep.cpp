// SPDX-License-Identifier: BSD-2-Clause
// See table_sweep.h. A look-up never finds an expired entry, swept or not; sweeping gives its place back.
#include "worker/table_sweep.h"

#include "shared/shm/stick_table.h"

namespace penstock {

namespace {

constexpr Millis pause_idle = 1'000, pause = 200, pause_behind = 5;

struct Sweeper : Timer {
  Control *control = nullptr;
} sweeper;

void sweep(Timer &) {
  Control &control = *sweeper.control;
  Tick now = control.loop.now();
  bool done = true, used = false;
  for (const auto &def : control.config->tables) {
    if (def->live == nullptr || def->live->used() == 0) continue;
    used = true;
    done &= def->live->sweep(now);
  }
  control.loop.set_timer(sweeper, now + (!done ? pause_behind : used ? pause : pause_idle));
}

void lead(Control &control) {
  if (control.config->tables.empty()) return;
  sweeper.control = &control;
  sweeper.on_expire = sweep;
  control.loop.set_timer(sweeper, control.loop.now() + pause);
}
void stop_leading(Control &control) {
  if (sweeper.control != nullptr) control.loop.cancel(sweeper);
}

} // namespace

ControlHook table_hook() { return {.name = "stick tables", .lead = lead, .stop_leading = stop_leading}; }

} // namespace penstock
