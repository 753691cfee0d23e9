// SPDX-License-Identifier: BSD-2-Clause
// Which bytes may stand where in a message (RFC 9110, section 5.6; RFC 9112, section 3), as tables, and
// the search for the end of a line sixteen bytes at a time. Private to the HTTP/1 codec.
#pragma once

#include <array>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "shared/base/basic.h"

namespace penstock::h1 {

enum CharClass : u8 {
  char_token = 1,  // of a method or field name
  char_target = 2, // of a request target, as the manual allows: all that is visible but '#'
  char_digit = 4,
};

inline constexpr auto char_classes = [] {
  std::array<u8, 256> t{};
  for (unsigned c = 0x21; c < 0x7f; c++) t[c] |= char_target;
  t['#'] = static_cast<u8>(t['#'] & ~char_target);
  auto mark = [&t](string_view set, u8 cls) {
    for (char c : set) t[static_cast<u8>(c)] |= cls;
  };
  constexpr string_view alnum = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  mark(alnum, char_token);
  mark("0123456789", char_digit);
  mark("!#$%&'*+-.^_`|~", char_token);
  return t;
}();

inline bool is(char c, u8 cls) { return char_classes[static_cast<u8>(c)] & cls; }

/// First byte that is NUL, CR or LF, or `end`.
inline const char *find_line_stop(const char *p, const char *end) {
#if defined(__SSE2__)
  const __m128i top = _mm_set1_epi8('\r');
  for (; end - p >= 16; p += 16) {
    __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i *>(p));
    auto low = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(v, top), v))); // <= CR
    for (; low; low &= low - 1) {
      const char *at = p + __builtin_ctz(low);
      if (*at == '\r' || *at == '\n' || *at == '\0') return at;
    }
  }
#endif
  while (p < end && *p != '\r' && *p != '\n' && *p != '\0') p++;
  return p;
}

} // namespace penstock::h1
