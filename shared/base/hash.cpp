// SPDX-License-Identifier: BSD-2-Clause
#include "shared/base/hash.h"

#include <zlib.h>

#include <array>
#include <bit>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "shared/base/text.h"

namespace penstock {

u32 sdbm(string_view bytes) {
  u32 h = 0;
  for (char c : bytes) h = static_cast<u8>(c) + (h << 6) + (h << 16) - h;
  return h;
}

u32 djb2(string_view bytes) {
  u32 h = 5381;
  for (char c : bytes) h = h * 33 + static_cast<u8>(c);
  return h;
}

/// Our own: the name is the language's, the values are not those of other programs. FNV-1a over 64 bits,
/// folded by a multiplication whose high half depends on every input bit.
u32 wt6(string_view bytes) {
  u64 h = 0xcbf29ce484222325;
  for (char c : bytes) h = (h ^ static_cast<u8>(c)) * 0x100000001b3;
  h = (h ^ h >> 32) * 0xd6e8feb86659fd93;
  return static_cast<u32>(h ^ h >> 32);
}

u32 crc32(string_view bytes) {
  return static_cast<u32>(::crc32(0, reinterpret_cast<const Bytef *>(bytes.data()), static_cast<uInt>(bytes.size())));
}

static constexpr std::array<u32, 256> castagnoli_table() {
  std::array<u32, 256> table{};
  for (u32 n = 0; n < 256; n++) {
    u32 c = n;
    for (int bit = 0; bit < 8; bit++) c = c & 1 ? (c >> 1) ^ 0x82f63b78 : c >> 1;
    table[n] = c;
  }
  return table;
}

u32 crc32c(string_view bytes) {
  static constexpr std::array<u32, 256> table = castagnoli_table();
  u32 c = ~u32{0};
  for (char byte : bytes) c = table[(c ^ static_cast<u8>(byte)) & 0xff] ^ (c >> 8);
  return ~c;
}

u32 xxh32(string_view bytes, u32 seed) { return XXH32(bytes.data(), bytes.size(), seed); }
u64 xxh64(string_view bytes, u64 seed) { return XXH64(bytes.data(), bytes.size(), seed); }
u64 xxh3(string_view bytes, u64 seed) { return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed); }

u32 leading_number(string_view text) {
  u32 n = 0;
  for (char c : text) {
    if (!is_digit(c)) break;
    n = n * 10 + static_cast<u32>(c - '0');
  }
  return n;
}

} // namespace penstock
