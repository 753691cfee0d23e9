// SPDX-License-Identifier: BSD-2-Clause
// What -v, -vv, -dL and their kin print.
#pragma once

#include <string>

#include "shared/base/basic.h"

namespace penstock {

std::string version_text(); // -v
std::string build_text();   // -vv
std::string pools_text();   // -dMhelp
std::string traces_text();  // -dthelp
std::string libraries_text(); // -dL

} // namespace penstock
