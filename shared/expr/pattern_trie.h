// SPDX-License-Identifier: BSD-2-Clause
// Prefix trees over bit strings in shared memory: one structure behind the indexes of all match methods.
// A walk along a text meets every key that is a prefix of it, shortest first; a walk along an address
// every network around it. Path-compressed: a branch exists only where keys part or end. A table of roots
// chosen by a hash of the keys' first bytes keeps trees shallow however many keys there are.
// Walks take no lock; insert and remove run under the heap's lock, one store makes each visible.
#pragma once

#include <cstring>

#include "shared/expr/pattern_rows.h"
#include "shared/shm/heap.h"

namespace penstock {

/// The identity, and upper to lower case.
struct ByteMaps {
  u8 map[2][256] = {};
  constexpr ByteMaps() {
    for (unsigned c = 0; c < 256; c++) map[0][c] = static_cast<u8>(c), map[1][c] = static_cast<u8>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
};
inline constexpr ByteMaps byte_maps;

/// A bit string: bytes read forwards or backwards, as they are or in lower case.
struct BitKey {
  const u8 *base;
  std::ptrdiff_t step;
  const u8 *map;
  u32 bits;

  u8 byte(size_t i) const { return map[base[static_cast<std::ptrdiff_t>(i) * step]]; }
  u32 bit(u32 n) const { return byte(n / 8) >> (7 - n % 8) & 1; }
};
inline constexpr size_t longest_key = size_t{1} << 28;
inline BitKey forward_key(string_view s, bool fold) {
  return {reinterpret_cast<const u8 *>(s.data()), 1, byte_maps.map[fold], static_cast<u32>(s.size() < longest_key ? s.size() : longest_key) * 8};
}
inline BitKey backward_key(string_view s, bool fold) {
  size_t n = s.size() < longest_key ? s.size() : longest_key;
  return {reinterpret_cast<const u8 *>(s.data()) + s.size() - 1, -1, byte_maps.map[fold], static_cast<u32>(n) * 8};
}
/// Whether the first `bits` of both agree, of which `known` whole bytes are known to.
bool same_bits(const BitKey &a, const BitKey &b, u32 known, u32 bits);

class PatternTrie {
 public:
  PatternTrie(SharedHeap &heap, IndexHead &head) : heap_(heap), head_(head) {}

  /// The key of a posting in this index.
  BitKey key_of(const Posting &p) const;
  /// The root under which a key that begins like `k` lies if it has the hashed bytes; `k` has them.
  std::atomic<u32> &hashed_root(const BitKey &k) const {
    u64 h = hash(k);
    return heap_.at<std::atomic<u32>>(head_.table)[(h >> 32) & head_.mask];
  }
  const std::atomic<u32> &short_root() const { return head_.short_root; }
  bool reaches_table(const BitKey &k) const { return head_.hashed == 0 || k.bits >= head_.hashed * 8u; }
  /// Calls `visit(ring, bits)` for every key below `root` that is a prefix of `k`, until it says true.
  template <class Visit> bool walk(const std::atomic<u32> &root, const BitKey &k, Visit visit) const;
  /// All of them: the short ones, then the others.
  template <class Visit> bool walk_all(const BitKey &k, Visit visit) const {
    if (head_.hashed && head_.short_root.load(std::memory_order_acquire) && walk(head_.short_root, k, visit)) return true;
    return reaches_table(k) && walk(hashed_root(k), k, visit);
  }
  /// Calls `visit(row)` for the rows of a ring by age, until it says true.
  template <class Visit> bool each_row(u32 ring, Visit visit) const;

  /// Adds a posting whose fields but `same` are filled. False: the heap is full.
  bool insert(u32 posting);
  /// After a death: whether the posting of `row` under `k` is there; one that was half in is put in.
  bool settle(const BitKey &k, u32 row);
  /// Takes the posting of `row` under `k` out and gives its address, 0 if there is none. The caller retires it.
  u32 remove(const BitKey &k, u32 row);

 private:
  Posting &posting(u32 address) const { return *heap_.at<Posting>(address); }
  Branch &branch(u32 address) const { return *heap_.at<Branch>(address); }
  PatternRow &row(u32 address) const { return *heap_.at<PatternRow>(address); }
  std::atomic<u32> &root_of(const BitKey &k) const { return reaches_table(k) ? hashed_root(k) : head_.short_root; }
  u64 hash(const BitKey &k) const;
  /// Where a ring hangs: the link to the leaf or branch, and the link to the branch above.
  struct Spot {
    std::atomic<u32> *at = nullptr, *above = nullptr;
    bool is_leaf = false;
  };
  std::atomic<u32> *ring_of(const BitKey &k, Spot &spot) const;
  u32 some_posting(u32 link) const;
  u32 new_branch(u32 bits, u32 postings, u32 zero, u32 one);
  void join_ring(std::atomic<u32> &link, u32 tag, u32 last, u32 fresh);
  u32 leave_ring(std::atomic<u32> &link, u32 tag, u32 row);

  SharedHeap &heap_;
  IndexHead &head_;
};

template <class Visit> bool PatternTrie::walk(const std::atomic<u32> &root, const BitKey &k, Visit visit) const {
  u32 known = 0; // whole bytes of k that agree with every key below
  for (u32 link = root.load(std::memory_order_acquire); link != 0;) {
    if (link & leaf_tag) {
      u32 ring = link & ~leaf_tag;
      const Posting &p = posting(ring);
      return p.bits <= k.bits && same_bits(key_of(p), k, known, p.bits) && visit(ring, p.bits);
    }
    const Branch &b = branch(link);
    if (b.bits > k.bits) return false;
    if (u32 ring = b.postings.load(std::memory_order_acquire)) {
      if (!same_bits(key_of(posting(ring)), k, known, b.bits)) return false;
      known = b.bits / 8;
      if (visit(ring, b.bits)) return true;
    }
    if (b.bits == k.bits) return false;
    link = b.child[k.bit(b.bits)].load(std::memory_order_acquire);
  }
  return false;
}

/// Readers may be in a ring whose members leave it: the ages tell when it has come round.
template <class Visit> bool PatternTrie::each_row(u32 ring, Visit visit) const {
  u64 seen = 0;
  for (u32 p = posting(ring).same.load(std::memory_order_acquire);; p = posting(p).same.load(std::memory_order_acquire)) {
    PatternRow &r = row(posting(p).row);
    if (r.order <= seen) return false;
    seen = r.order;
    if (visit(r)) return true;
    if (p == ring) return false;
  }
}

} // namespace penstock
