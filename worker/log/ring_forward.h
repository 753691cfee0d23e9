// SPDX-License-Identifier: BSD-2-Clause
// Carries the lines of rings to syslog servers over TCP (RFC 6587), in the control process that leads.
#pragma once

#include "worker/control.h"

namespace penstock {

ControlHook ring_hook();

} // namespace penstock
