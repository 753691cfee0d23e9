// SPDX-License-Identifier: BSD-2-Clause
#include "shared/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace penstock {

bool iequals(string_view a, string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); i++)
    if (ascii_lower(a[i]) != ascii_lower(b[i])) return false;
  return true;
}

bool istarts_with(string_view s, string_view prefix) {
  return s.size() >= prefix.size() && iequals(s.substr(0, prefix.size()), prefix);
}

string_view trim(string_view s) {
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

std::string lower(string_view s) {
  std::string out(s);
  for (char &c : out) c = ascii_lower(c);
  return out;
}

std::vector<string_view> split(string_view s, char by) {
  std::vector<string_view> out;
  for (;;) {
    size_t at = s.find(by);
    out.push_back(s.substr(0, at));
    if (at == string_view::npos) return out;
    s.remove_prefix(at + 1);
  }
}

template <class T> static std::optional<T> parse_all(string_view s) {
  T v;
  auto [end, ec] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (ec != std::errc{} || end != s.data() + s.size()) return std::nullopt;
  return v;
}

std::optional<u64> parse_u64(string_view s) { return parse_all<u64>(s); }

std::optional<i64> parse_i64(string_view s) {
  if (s.starts_with('+') && s.size() > 1 && is_digit(s[1])) s.remove_prefix(1);
  return parse_all<i64>(s);
}

char *write_u64(char *out, u64 v) { return std::to_chars(out, out + 20, v).ptr; }

unsigned edit_distance(string_view a, string_view b, unsigned limit) {
  constexpr size_t max_len = 63;
  if (a.size() > max_len || b.size() > max_len) return limit;
  std::array<std::array<u8, max_len + 1>, 3> row{}; // two back, one back, current
  for (size_t j = 0; j <= b.size(); j++) row[1][j] = static_cast<u8>(j);
  for (size_t i = 1; i <= a.size(); i++) {
    auto &cur = row[2];
    cur[0] = static_cast<u8>(i);
    for (size_t j = 1; j <= b.size(); j++) {
      unsigned cost = ascii_lower(a[i - 1]) != ascii_lower(b[j - 1]);
      unsigned v = std::min({row[1][j] + 1u, cur[j - 1] + 1u, row[1][j - 1] + cost});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) v = std::min(v, row[0][j - 2] + 1u);
      cur[j] = static_cast<u8>(v);
    }
    row[0] = row[1];
    row[1] = cur;
  }
  return std::min<unsigned>(row[1][b.size()], limit);
}

} // namespace penstock
