// SPDX-License-Identifier: BSD-2-Clause
// What an agent says about its server: one line of words (manual 5.2, agent-check).
#pragma once

#include <optional>
#include <string>

#include "shared/base/basic.h"

namespace penstock {

struct AgentReport {
  enum Admin : u8 { Unchanged, Ready, Drain, Maint } admin = Unchanged;
  enum Operation : u8 { Silent, Up, Down, Stopped, Fail } operation = Silent;
  std::optional<u32> weight;         // absolute
  std::optional<u32> weight_percent; // of the configured weight
  std::optional<u32> maxconn;
  std::string description;           // what followed a '#'
  bool understood = false;           // at least one word was
};

/// `line` up to the first CR or LF; words separated by blanks, tabs or commas. Unknown words are passed over.
AgentReport parse_agent_report(string_view line);

} // namespace penstock
