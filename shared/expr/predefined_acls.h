// SPDX-License-Identifier: BSD-2-Clause
// The ACLs that exist without being declared (manual, section 7.4).
#pragma once

#include <span>

#include "shared/base/basic.h"

namespace penstock {

struct PredefinedAcl {
  string_view name;
  string_view text; // as it would be written after `acl NAME`
};
std::span<const PredefinedAcl> predefined_acls();

} // namespace penstock
