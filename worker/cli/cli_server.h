// SPDX-License-Identifier: BSD-2-Clause
// The runtime socket's listeners (`stats socket`), as a part of the control process.
#pragma once

#include "worker/control.h"

namespace penstock {

ControlHook cli_hook();
/// Upkeep of the store that the commands about maps and ACLs change (cmd_pattern.cpp).
ControlHook pattern_hook();

} // namespace penstock
