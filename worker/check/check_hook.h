// SPDX-License-Identifier: BSD-2-Clause
// How checks join the control process: they run while it leads.
#pragma once

#include "worker/control.h"

namespace penstock {

ControlHook check_hook();

} // namespace penstock
