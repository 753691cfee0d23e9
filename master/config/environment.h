// SPDX-License-Identifier: BSD-2-Clause
// Variables that the program defines for its configuration and for programs that it runs (manual 2.3).
#pragma once

#include <string>
#include <vector>

namespace penstock {

struct Config;

/// Sets HAPROXY_BRANCH, HAPROXY_CFGFILES, HAPROXY_LOCALPEER, … in the process's environment, and
/// Config::global.localpeer to the host's name where the command line gave none.
void set_predefined_variables(const std::vector<std::string> &files, Config &config);
/// HAPROXY_CLI, HAPROXY_MWORKER: what only the whole configuration tells.
void set_variables_known_after_reading(const Config &config);

} // namespace penstock
