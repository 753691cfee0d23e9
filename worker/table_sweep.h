// SPDX-License-Identifier: BSD-2-Clause
// The control process' part in stick tables: what has expired goes, little by little.
#pragma once

#include "worker/control.h"

namespace penstock {

ControlHook table_hook();

} // namespace penstock
