// SPDX-License-Identifier: BSD-2-Clause
// The commands of the master socket: one row each.
#pragma once

#include "shared/base/basic.h"

namespace penstock {

struct Child;
class MasterSession;
class Supervisor;

/// Runs one command line (no `;`, no prefix) and prints its answer.
void run_master_command(MasterSession &session, string_view command);

/// `@1`: the newest generation's control; `@!PID`: the control of the generation that PID belongs to. Null: none.
Child *find_target(Supervisor &supervisor, string_view prefix);

} // namespace penstock
