// SPDX-License-Identifier: BSD-2-Clause
// Whether what an expression looks at exists where it runs.
#pragma once

#include <string>

#include "shared/base/basic.h"

namespace penstock {

/// What of `needs` is not to be had where `available` is; 0 when all is.
u32 missing_needs(u32 needs, u32 available);
std::string describe_needs(u32 needs); // "the request's headers, a stream"

} // namespace penstock
