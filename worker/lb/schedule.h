// SPDX-License-Identifier: BSD-2-Clause
// The order in which weighted round robin serves: each member as often as its weight says, its turns
// spread as evenly as they can be. Pure; the same weights give the same schedule in every worker.
#pragma once

#include <span>
#include <vector>

#include "shared/base/basic.h"

namespace penstock {

/// Positions that a schedule may have: where weights would ask for more, they are scaled down.
inline constexpr u32 max_schedule = 16384;

/// Fills `schedule` with indexes into `weights`. Weights of 0 do not take part.
void build_schedule(std::span<const u32> weights, std::vector<u32> &schedule);

} // namespace penstock
