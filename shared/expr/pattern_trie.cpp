// SPDX-License-Identifier: BSD-2-Clause
#include "shared/expr/pattern_trie.h"

#include <algorithm>
#include <new>

namespace penstock {

namespace {

u32 common_bits(const BitKey &a, const BitKey &b, u32 limit) {
  u32 n = 0;
  while (n + 8 <= limit && a.byte(n / 8) == b.byte(n / 8)) n += 8;
  while (n < limit && a.bit(n) == b.bit(n)) n++;
  return n;
}

u64 load_bytes(const BitKey &k, size_t from, size_t n) {
  u64 v = 0;
  if (k.step == 1) std::memcpy(&v, k.base + from, n);
  else
    for (size_t i = 0; i < n; i++) v |= u64{k.base[static_cast<std::ptrdiff_t>(from + i) * k.step]} << (8 * i);
  return v;
}

void store(std::atomic<u32> &link, u32 v) { link.store(v, std::memory_order_release); }

} // namespace

bool same_bits(const BitKey &a, const BitKey &b, u32 known, u32 bits) {
  u32 whole = bits / 8;
  if (a.step == 1 && b.step == 1 && a.map == byte_maps.map[0]) {
    if (whole > known && std::memcmp(a.base + known, b.base + known, whole - known) != 0) return false;
  } else {
    for (u32 i = known; i < whole; i++)
      if (a.byte(i) != b.byte(i)) return false;
  }
  u32 rest = bits % 8;
  return rest == 0 || ((a.byte(whole) ^ b.byte(whole)) >> (8 - rest)) == 0;
}

/// Folding sets bit 5 of every byte: equal texts that differ in case hash alike, and the few others that
/// then share a root are told apart below it.
u64 PatternTrie::hash(const BitKey &k) const {
  constexpr u64 k1 = 0x9E3779B97F4A7C15, k2 = 0xD6E8FEB86659FD93;
  const u64 mask = k.map == byte_maps.map[0] ? 0 : 0x2020202020202020;
  if (head_.hashed != 0 && head_.hashed <= 8) {
    u64 h = (load_bytes(k, 0, head_.hashed) | mask) * k1;
    return (h ^ h >> 32) * k2;
  }
  size_t n = k.bits / 8, i = 0;
  u64 h = n * k1;
  for (; i + 8 <= n; i += 8) {
    h = (h ^ (load_bytes(k, i, 8) | mask)) * k2;
    h ^= h >> 32;
  }
  h = (h ^ (load_bytes(k, i, n - i) | mask)) * k2;
  return (h ^ h >> 29) * k1;
}

BitKey PatternTrie::key_of(const Posting &p) const {
  switch (head_.kind) {
    case KeyKind::Bytes:
    case KeyKind::Number:
    case KeyKind::V4:
    case KeyKind::V6: return {reinterpret_cast<const u8 *>(&p.at), 1, byte_maps.map[0], p.bits};
    case KeyKind::End: return backward_key(row(p.row).text(), head_.fold);
    case KeyKind::Whole:
    case KeyKind::Start: return forward_key(row(p.row).text(), head_.fold);
    default: break;
  }
  BitKey k = forward_key(row(p.row).text().substr(p.at, p.bits / 8), head_.fold);
  return k;
}

u32 PatternTrie::some_posting(u32 link) const {
  while (!(link & leaf_tag)) {
    const Branch &b = branch(link);
    if (b.postings) return b.postings;
    link = b.child[0] ? b.child[0] : b.child[1];
  }
  return link & ~leaf_tag;
}

u32 PatternTrie::new_branch(u32 bits, u32 postings, u32 zero, u32 one) {
  u32 address = heap_.allocate(sizeof(Branch));
  if (address == 0) return 0;
  Branch &b = branch(address);
  b.bits = bits;
  b.postings.store(postings, std::memory_order_relaxed);
  b.child[0].store(zero, std::memory_order_relaxed);
  b.child[1].store(one, std::memory_order_relaxed);
  return address;
}

// ---------------------------------------------------------------------------------------------- rings

/// First the entry, then the way to it: in between, a reader sees the ring without its new member.
void PatternTrie::join_ring(std::atomic<u32> &link, u32 tag, u32 last, u32 fresh) {
  Posting &p = posting(fresh);
  p.same.store(last ? posting(last).same.load() : fresh, std::memory_order_relaxed);
  store(link, fresh | tag);
  if (last) store(posting(last).same, fresh);
}

/// A member whose joining or leaving was cut short is found as well: it is the last, and nobody leads to it.
u32 PatternTrie::leave_ring(std::atomic<u32> &link, u32 tag, u32 row_address) {
  u32 last = link.load() & ~tag, before = last;
  u64 seen = 0;
  for (u32 p = posting(last).same;; before = p, p = posting(p).same) {
    u64 order = row(posting(p).row).order;
    if (order <= seen) { // round, without having met the last
      if (posting(last).row != row_address) return 0;
      store(link, before | tag);
      return last;
    }
    seen = order;
    if (posting(p).row != row_address) {
      if (p == last) return 0;
      continue;
    }
    store(posting(before).same, posting(p).same);
    if (p == last) store(link, before | tag);
    return p;
  }
}

// --------------------------------------------------------------------------------------------- insert

bool PatternTrie::insert(u32 address) {
  Posting &p = posting(address);
  const BitKey k = key_of(p);
  const u32 bits = p.bits;
  std::atomic<u32> *at = &root_of(k);
  u32 link = at->load();
  if (link == 0) {
    join_ring(*at, leaf_tag, 0, address);
    return true;
  }
  u32 deep = link; // somewhere below agrees with k as far as any key does
  while (!(deep & leaf_tag)) {
    const Branch &b = branch(deep);
    u32 next = b.bits < bits ? b.child[k.bit(b.bits)].load() : 0;
    if (next == 0) break;
    deep = next;
  }
  const Posting &other_posting = posting(some_posting(deep));
  const BitKey other = key_of(other_posting);
  const u32 common = common_bits(k, other, std::min(bits, other_posting.bits));
  while (!(link & leaf_tag) && branch(link).bits < common) {
    at = &branch(link).child[k.bit(branch(link).bits)];
    link = at->load();
  }
  const bool is_leaf = link & leaf_tag;
  const u32 link_bits = is_leaf ? posting(link & ~leaf_tag).bits : branch(link).bits;
  if (link_bits == common && common == bits) { // the key is known
    std::atomic<u32> &ring = is_leaf ? *at : branch(link).postings;
    u32 tag = is_leaf ? leaf_tag : 0, last = ring.load() & ~leaf_tag;
    join_ring(ring, tag, last, address);
    return true;
  }
  if (link_bits == common && !is_leaf) { // k goes beyond a branch that has no child there
    join_ring(branch(link).child[k.bit(common)], leaf_tag, 0, address);
    return true;
  }
  u32 children[2] = {0, 0}, postings = 0;
  if (link_bits == common) postings = link & ~leaf_tag; // the leaf's key is a prefix of k
  else children[other.bit(common)] = link;
  if (common == bits) postings = address;
  else children[k.bit(common)] = address | leaf_tag;
  u32 fresh = new_branch(common, postings, children[0], children[1]);
  if (fresh == 0) return false;
  p.same.store(address, std::memory_order_relaxed);
  store(*at, fresh);
  return true;
}

// --------------------------------------------------------------------------------------------- remove

std::atomic<u32> *PatternTrie::ring_of(const BitKey &k, Spot &spot) const {
  spot.at = &root_of(k);
  u32 link = spot.at->load();
  while (link != 0 && !(link & leaf_tag) && branch(link).bits < k.bits) {
    spot.above = spot.at;
    spot.at = &branch(link).child[k.bit(branch(link).bits)];
    link = spot.at->load();
  }
  if (link == 0) return nullptr;
  spot.is_leaf = link & leaf_tag;
  std::atomic<u32> &ring = spot.is_leaf ? *spot.at : branch(link).postings;
  u32 last = ring.load() & ~leaf_tag;
  return last != 0 && posting(last).bits == k.bits && same_bits(key_of(posting(last)), k, 0, k.bits) ? &ring : nullptr;
}

bool PatternTrie::settle(const BitKey &k, u32 row_address) {
  Spot spot;
  std::atomic<u32> *ring = ring_of(k, spot);
  if (!ring) return false;
  u32 last = ring->load() & ~leaf_tag, member = posting(last).same;
  if (posting(last).row != row_address) return each_row(last, [&](PatternRow &r) { return heap_.address_of(&r) == row_address; });
  while (member != last) { // it is the last: somebody must lead to it
    u32 next = posting(member).same;
    if (row(posting(next).row).order <= row(posting(member).row).order) {
      store(posting(member).same, last);
      break;
    }
    member = next;
  }
  return true;
}

u32 PatternTrie::remove(const BitKey &k, u32 row_address) {
  Spot spot;
  std::atomic<u32> *found = ring_of(k, spot), *at = spot.at, *above = spot.above;
  if (!found) return 0;
  std::atomic<u32> &ring = *found;
  const bool is_leaf = spot.is_leaf;
  const u32 link = at->load(), last = ring.load() & ~leaf_tag;
  if (posting(last).same != last) return leave_ring(ring, is_leaf ? leaf_tag : 0, row_address);
  if (posting(last).row != row_address) return 0;
  if (!is_leaf) { // a branch stays where keys still part
    store(ring, 0);
    Branch &b = branch(link);
    u32 left = b.child[0], right = b.child[1];
    if (left && right) return last;
    store(*at, left ? left : right);
    heap_.retire(link, sizeof(Branch));
    return last;
  }
  if (!above) {
    store(*at, 0);
    return last;
  }
  u32 parent_address = above->load();
  Branch &parent = branch(parent_address);
  u32 sibling = at == &parent.child[0] ? parent.child[1] : parent.child[0];
  if (parent.postings && sibling) {
    store(*at, 0);
    return last;
  }
  store(*above, parent.postings ? parent.postings | leaf_tag : sibling);
  heap_.retire(parent_address, sizeof(Branch));
  return last;
}

} // namespace penstock
