// SPDX-License-Identifier: BSD-2-Clause
// What `-dK[classes]` prints: every word of the language that works here, from the rows themselves.
#pragma once

#include <string>

#include "shared/base/basic.h"

namespace penstock {

/// `classes`: names separated by commas out of all, acl, cfg, cnv, flt, smp, svc; empty or "help" lists
/// them. Unknown ones are named in a comment line.
std::string list_keywords(string_view classes);

} // namespace penstock
