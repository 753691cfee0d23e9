// SPDX-License-Identifier: BSD-2-Clause
// The runtime socket's listeners (`stats socket`), as a part of the control process.
#pragma once

#include "worker/control.h"

namespace penstock {

ControlHook cli_hook();

} // namespace penstock
