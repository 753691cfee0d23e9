// SPDX-License-Identifier: BSD-2-Clause
// Hash functions whose results users see: balancing (manual, "hash-type"), the converters of the same
// names, dynamic cookies. Not for hash tables fed by outsiders.
#pragma once

#include "shared/base/basic.h"

namespace penstock {

u32 sdbm(string_view bytes);
u32 djb2(string_view bytes);
u32 wt6(string_view bytes);
u32 crc32(string_view bytes);  // Ethernet, gzip
u32 crc32c(string_view bytes); // Castagnoli: iSCSI, PROXY protocol v2
u32 xxh32(string_view bytes, u32 seed);
u64 xxh64(string_view bytes, u64 seed);
u64 xxh3(string_view bytes, u64 seed);

/// Spreads 32 bits so that every bit of the input concerns every bit of the output (`avalanche`): Bob
/// Jenkins' integer hash in six shifts, then low bits carried into the topmost ones.
constexpr u32 avalanche(u32 a) {
  a = (a + 0x7ed55d16) + (a << 12);
  a = (a ^ 0xc761c23c) ^ (a >> 19);
  a = (a + 0x165667b1) + (a << 5);
  a = (a + 0xd3a2646c) ^ (a << 9);
  a = (a + 0xfd7046c5) + (a << 3);
  a = (a ^ 0xb55a4f09) ^ (a >> 16);
  return a * 0xc0000001;
}

/// The decimal number at the start of `text`, 0 without one (hash function `none`).
u32 leading_number(string_view text);

} // namespace penstock
