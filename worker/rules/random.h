// SPDX-License-Identifier: BSD-2-Clause
// Random numbers for rules: fast, seeded from the system once per process, not for secrets.
#pragma once

#include "shared/base/basic.h"

namespace penstock {

u64 random_u64();
inline u32 random_u32() { return static_cast<u32>(random_u64() >> 32); }
/// The 36 characters of a UUID of version 4 or 7 (RFC 9562).
void write_uuid(char *out, int version);

} // namespace penstock
