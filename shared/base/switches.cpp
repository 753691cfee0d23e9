// SPDX-License-Identifier: BSD-2-Clause
#include "shared/base/switches.h"

namespace penstock {

Switches switches;

} // namespace penstock
