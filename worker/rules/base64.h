// SPDX-License-Identifier: BSD-2-Clause
// Base64 (RFC 4648, sections 4 and 5), into memory that the caller gives.
#pragma once

#include "shared/base/basic.h"

namespace penstock {

inline constexpr size_t base64_bad = ~size_t{0};

/// `out` has room for 4 * (size + 2) / 3 characters. `url`: the other alphabet, without padding.
size_t base64_encode(string_view in, char *out, bool url);
/// `out` has room for as many bytes as `in`. base64_bad on characters that do not belong there.
size_t base64_decode(string_view in, char *out, bool url);

} // namespace penstock
