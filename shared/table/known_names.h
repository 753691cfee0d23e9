// SPDX-License-Identifier: BSD-2-Clause
// Names that the manual has for actions, converters and sample fetches (ACL derivatives included),
// whether they have a row here or not: what has none is refused as "not supported yet" instead of
// "unknown". Keywords and options that are planned have rows that say so.
#pragma once

#include "shared/base/basic.h"

namespace penstock {

bool language_has_action(string_view name); // without parentheses: "set-var"
bool language_has_converter(string_view name);
bool language_has_fetch(string_view name);

} // namespace penstock
