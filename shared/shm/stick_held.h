// SPDX-License-Identifier: BSD-2-Clause
// A stripe of a stick table, held for a scope and made anew first if its last holder died in the middle of
// a change. For stick_*.cpp only.
#pragma once

#include "shared/shm/stick_table.h"

namespace penstock {

struct StickTable::Held : Pinned {
  Held(StickTable &t, u32 s) : table(t), number(s), guard(t.stripe(s).lock, repair, this) {}
  static void repair(void *self, RobustStripe &) {
    auto &held = *static_cast<Held *>(self);
    held.table.rebuild(held.number);
  }
  StickTable &table;
  u32 number;
  StripeGuard guard;
};

} // namespace penstock
