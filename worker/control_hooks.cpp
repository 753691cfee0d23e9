// SPDX-License-Identifier: BSD-2-Clause
// The parts of the control process, in the order in which they start.
#include "worker/check/check_hook.h"
#include "worker/cli/cli_server.h"
#include "worker/cli/maxmind_update.h"
#include "worker/control.h"
#include "worker/log/ring_forward.h"
#include "worker/table_sweep.h"

namespace penstock {

std::span<const ControlHook> control_hooks() {
  static const ControlHook hooks[] = {check_hook(), pattern_hook(), cli_hook(), maxmind_hook(), table_hook(), ring_hook()};
  return hooks;
}

} // namespace penstock
