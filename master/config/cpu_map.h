// SPDX-License-Identifier: BSD-2-Clause
// `cpu-map [auto:]GROUP[/WORKERS] CPUS…` (manual 3.1). There is one group here: workers are what the
// manual calls threads of group 1; lines for other groups are checked and have no effect.
#pragma once

#include <optional>
#include <vector>

#include "master/config/parser.h"

namespace penstock {

void parse_cpu_map(LineContext &ctx);

/// "all", "odd", "even", "3", "1-4", "2-": numbers from `first` to `last`, in order; nothing if malformed.
std::optional<std::vector<u32>> parse_number_set(string_view text, u32 first, u32 last);

} // namespace penstock
