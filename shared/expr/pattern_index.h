// SPDX-License-Identifier: BSD-2-Clause
// The indexes behind PatternSet, each on its own so that it can be tested alone. All are built once over
// keys that live elsewhere and answer with the number of the entry.
#pragma once

#include <span>
#include <vector>

#include "shared/base/basic.h"

namespace penstock {

__extension__ using u128 = unsigned __int128;

/// Keys as the indexes see them: already folded to lower case where case is ignored.
using KeyOf = std::span<const string_view>;

/// Exact look-up: open addressing, 8 bits of the hash kept beside the number to spare cache misses.
class HashIndex {
 public:
  void build(KeyOf keys, bool ignore_case);
  i64 find(string_view s) const;

 private:
  struct Cell { u32 entry = ~0u; u32 tag = 0; };
  std::vector<Cell> cells_;
  std::vector<string_view> keys_;
  u64 mask_ = 0;
  bool fold_ = false;
};

/// Longest prefix (or, built over reversed order, longest suffix): keys sorted, each with a link to the
/// longest other key that is a prefix of it. All prefixes of a text lie on the links of its neighbour.
class PrefixIndex {
 public:
  void build(KeyOf keys, bool ignore_case, bool from_end);
  /// The longest key with which `s` starts (ends) and that `good(length)` accepts; -1 for none.
  template <class Good> i64 find(string_view s, Good good) const {
    for (u32 at = neighbour(s); at != none; at = nodes_[at].parent) {
      const Node &n = nodes_[at];
      if (n.key.size() <= s.size() && common(n.key, s) == n.key.size() && good(n.key.size())) return n.entry;
    }
    return -1;
  }

 private:
  static constexpr u32 none = ~0u;
  struct Node { string_view key; u32 entry; u32 parent; };
  u32 neighbour(string_view s) const; // last node that is not greater
  size_t common(string_view key, string_view s) const; // length of the common prefix (suffix)
  int compare(string_view key, string_view s) const;
  unsigned char at(string_view s, size_t i) const { return static_cast<unsigned char>(from_end_ ? s[s.size() - 1 - i] : s[i]); }
  std::vector<Node> nodes_;
  bool fold_ = false, from_end_ = false;
};

/// Which range holds a number. Overlaps are settled when built: the higher priority, then the earlier entry.
template <class Key> class RangeIndex {
 public:
  struct Range { Key low, high; u32 entry, priority; };
  void build(std::vector<Range> ranges);
  i64 find(Key k) const;
  bool empty() const { return starts_.empty(); }

 private:
  std::vector<Key> starts_;  // of disjoint segments, ascending
  std::vector<i64> owners_;  // entry, or -1 for a gap
  std::vector<u32> buckets_; // by the top 16 bits, when there are many: where to start
  static constexpr unsigned shift = sizeof(Key) * 8 - 16;
};

/// Which of many words occurs in a text: Aho-Corasick over the bytes that occur in the words.
class SubstringIndex {
 public:
  /// False when the automaton would be unreasonably large.
  bool build(KeyOf keys, bool ignore_case);
  /// The first entry (in order) that occurs anywhere in `s`.
  i64 find(string_view s) const;

 private:
  u8 class_of_[256] = {};
  unsigned classes_ = 1;     // class 0: bytes of no word
  std::vector<u32> next_;    // state * classes_ + class
  std::vector<u32> best_;    // lowest entry that ends in the state or one of its suffixes
};

} // namespace penstock
