// SPDX-License-Identifier: BSD-2-Clause
// The parts of the control process, in the order in which they start.
#include "worker/control.h"

namespace penstock {

std::span<const ControlHook> control_hooks() { return {}; }

} // namespace penstock
