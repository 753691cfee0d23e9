// SPDX-License-Identifier: BSD-2-Clause
// A line that a client of the runtime socket sent, taken apart (management guide 9.3): commands
// separated by `;`, words by blanks, a backslash before either of them (or before a backslash) taking
// its meaning away, and at the end of the line possibly `<<` or `<<PATTERN`, which announces a payload.
// Pure: no socket.
#pragma once

#include <string>
#include <vector>

#include "shared/base/basic.h"

namespace penstock {

struct CliLine {
  std::vector<std::vector<std::string>> commands; // each at least one word
  bool payload = false;     // lines follow, up to one that says `payload_end`
  std::string payload_end;  // "" ends with an empty line
};
CliLine parse_cli_line(string_view line);

} // namespace penstock
