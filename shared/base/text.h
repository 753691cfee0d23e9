// SPDX-License-Identifier: BSD-2-Clause
// Small text helpers on string_view; no allocation unless the result is a std::string.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shared/base/basic.h"

namespace penstock {

inline constexpr char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
inline constexpr char ascii_upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }
inline constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline constexpr bool is_alpha(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }
inline constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline constexpr int hex_digit(char c) {
  return is_digit(c) ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

bool iequals(string_view a, string_view b); // ASCII case-insensitive
bool istarts_with(string_view s, string_view prefix);
string_view trim(string_view s); // blanks, tabs, CR, LF at both ends
std::string lower(string_view s);
std::vector<string_view> split(string_view s, char by);

/// The whole of `s` as a decimal number; nothing on sign, blanks, overflow or other characters.
std::optional<u64> parse_u64(string_view s);
/// As above with an optional sign.
std::optional<i64> parse_i64(string_view s);

/// Writes `v` in decimal at `out` (room for 20 characters); returns the end.
char *write_u64(char *out, u64 v);

/// Edit distance with transposition, for near-miss hints; stops counting at `limit`.
unsigned edit_distance(string_view a, string_view b, unsigned limit);

} // namespace penstock
