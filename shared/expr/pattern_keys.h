// SPDX-License-Identifier: BSD-2-Clause
// From the text of a pattern to the keys of an index (manual, section 7.1): numbers and ranges, networks,
// hexadecimal blocks, words between delimiters, and the literal that every match of an expression contains.
#pragma once

#include <optional>
#include <string>

#include "shared/base/address.h"
#include "shared/expr/match.h"
#include "shared/expr/pattern_rows.h"

namespace penstock {

/// What a pattern of a match method means, checked; false and `error` where it is malformed.
bool check_pattern(MatchMethod method, bool ignore_case, bool dotted, string_view text, std::string &error);

/// "5", "1:100", ":9", "3.1".
bool parse_range(string_view text, bool dotted, i64 &low, i64 &high);
/// The range that an operator and a number (or range) stand for, as text: `gt 5` is "6:".
bool range_of_operator(string_view op, string_view text, bool dotted, std::string &out, std::string &error);
/// An address or network, also with bytes left out in the middle ("10.1").
std::optional<Network> parse_pattern_network(string_view text);
bool hex_to_bytes(string_view hex, std::string &out);
constexpr bool is_delimiter(MatchMethod m, char c) {
  return c == '/' || c == '?' || (m != MatchMethod::Dir && (c == '.' || c == ':'));
}
/// A piece of `expression` that occurs in whatever it matches, as it stands there; empty when none is certain.
string_view certain_literal(string_view expression);

/// One key of an index, for a row.
struct IndexKey {
  u32 bits = 0;
  u32 at = 0;               // of text: where it begins in the row's
  const u8 *data = nullptr; // of others: the bytes
};
/// Calls `use(key)` for each key that `text` has in the index until it says false. The text was checked.
template <class Use> bool each_key(const IndexHead &index, string_view text, Use use);

// ------------------------------------------------------------------------------------------------
constexpr u64 biased(i64 v) { return static_cast<u64>(v) ^ (u64{1} << 63); }
inline void store_big_endian(u8 *to, u64 v) {
  for (int i = 0; i < 8; i++) to[i] = static_cast<u8>(v >> (56 - 8 * i));
}

/// The aligned blocks that make up [low, high].
template <class Use> bool each_block(u64 low, u64 high, Use use) {
  for (;;) {
    u32 host = low == 0 ? 64 : static_cast<u32>(__builtin_ctzll(low));
    u64 end;
    for (;; host--) {
      end = host == 64 ? ~u64{0} : low + ((u64{1} << host) - 1);
      if (end <= high) break;
    }
    u8 bytes[8];
    store_big_endian(bytes, low);
    if (!use(IndexKey{64 - host, 0, bytes})) return false;
    if (end == high) return true;
    low = end + 1;
  }
}

template <class Use> bool each_key(const IndexHead &index, string_view text, Use use) {
  auto length = [](size_t n) { return static_cast<u32>(n) * 8; };
  auto method = static_cast<MatchMethod>(index.method);
  switch (index.kind) {
    case KeyKind::Word: {
      size_t begin = 0, end = text.size();
      while (begin < end && is_delimiter(method, text[begin])) begin++;
      while (end > begin && is_delimiter(method, text[end - 1])) end--;
      return use(IndexKey{length(end - begin), static_cast<u32>(begin)});
    }
    case KeyKind::Literal: {
      string_view piece = certain_literal(text);
      return use(IndexKey{length(piece.size()), piece.empty() ? 0 : static_cast<u32>(piece.data() - text.data())});
    }
    case KeyKind::Bytes: {
      std::string bytes;
      hex_to_bytes(text, bytes);
      return use(IndexKey{length(bytes.size()), 0, reinterpret_cast<const u8 *>(bytes.data())});
    }
    case KeyKind::Number: {
      i64 low = 0, high = -1;
      if (!parse_range(text, index.dotted, low, high)) return true;
      return each_block(biased(low), biased(high), use);
    }
    case KeyKind::V4:
    case KeyKind::V6: {
      if ((text.find(':') == string_view::npos) != (index.kind == KeyKind::V4)) return true;
      auto net = parse_pattern_network(text);
      return !net || use(IndexKey{net->bits, 0, net->ip.bytes.data()});
    }
    default: return use(IndexKey{length(text.size()), 0});
  }
}

} // namespace penstock
