// SPDX-License-Identifier: BSD-2-Clause
#include "shared/expr/pattern_index.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <queue>
#include <set>

#include "shared/base/text.h"

namespace penstock {

static char folded(char c, bool fold) { return fold ? ascii_lower(c) : c; }

// ------------------------------------------------------------------------------------------- HashIndex

/// Eight bytes at a time. Folding sets bit 5 of every byte: equal texts that differ in case hash alike,
/// and the few others that then collide are told apart by the comparison.
static u64 hash_text(string_view s, bool fold) {
  constexpr u64 k1 = 0x9E3779B97F4A7C15, k2 = 0xD6E8FEB86659FD93;
  const u64 mask = fold ? 0x2020202020202020 : 0;
  u64 h = s.size() * k1;
  const char *p = s.data();
  size_t n = s.size();
  for (; n >= 8; n -= 8, p += 8) {
    u64 v;
    std::memcpy(&v, p, 8);
    h = (h ^ (v | mask)) * k2;
    h ^= h >> 32;
  }
  u64 v = 0;
  std::memcpy(&v, p, n);
  h = (h ^ (v | mask)) * k2;
  h ^= h >> 29;
  return h * k1;
}

static bool same_text(string_view key, string_view s, bool fold) {
  if (key.size() != s.size()) return false;
  return fold ? iequals(key, s) : std::memcmp(key.data(), s.data(), s.size()) == 0;
}

void HashIndex::build(KeyOf keys, bool ignore_case) {
  fold_ = ignore_case;
  keys_.assign(keys.begin(), keys.end());
  size_t cells = 16;
  while (cells < keys.size() * 2) cells *= 2;
  cells_.assign(cells, {});
  mask_ = cells - 1;
  for (u32 i = 0; i < keys.size(); i++) {
    u64 h = hash_text(keys[i], fold_);
    u64 at = h & mask_;
    for (; cells_[at].entry != ~0u; at = (at + 1) & mask_)
      if (same_text(keys_[cells_[at].entry], keys[i], fold_)) break; // the first of equal keys wins
    if (cells_[at].entry == ~0u) cells_[at] = {i, static_cast<u32>(h >> 32)};
  }
}

i64 HashIndex::find(string_view s) const {
  u64 h = hash_text(s, fold_);
  for (u64 at = h & mask_; cells_[at].entry != ~0u; at = (at + 1) & mask_)
    if (cells_[at].tag == static_cast<u32>(h >> 32) && same_text(keys_[cells_[at].entry], s, fold_)) return cells_[at].entry;
  return -1;
}

// ----------------------------------------------------------------------------------------- PrefixIndex

size_t PrefixIndex::common(string_view key, string_view s) const {
  size_t n = std::min(key.size(), s.size()), i = 0;
  if (!from_end_ && !fold_) {
    for (; i + 8 <= n; i += 8)
      if (std::memcmp(key.data() + i, s.data() + i, 8) != 0) break;
  }
  while (i < n && at(key, i) == static_cast<unsigned char>(folded(static_cast<char>(at(s, i)), fold_))) i++;
  return i;
}

int PrefixIndex::compare(string_view key, string_view s) const {
  size_t i = common(key, s);
  if (i == key.size() || i == s.size()) return key.size() < s.size() ? -1 : key.size() > s.size();
  auto a = at(key, i), b = static_cast<unsigned char>(folded(static_cast<char>(at(s, i)), fold_));
  return a < b ? -1 : 1;
}

void PrefixIndex::build(KeyOf keys, bool ignore_case, bool from_end) {
  fold_ = ignore_case;
  from_end_ = from_end;
  std::vector<u32> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return compare(keys[a], keys[b]) < 0; });
  nodes_.reserve(order.size());
  for (u32 i : order) {
    u32 last = nodes_.empty() ? none : static_cast<u32>(nodes_.size() - 1);
    if (last != none && compare(nodes_[last].key, keys[i]) == 0) continue; // the first of equal keys wins
    u32 parent = last; // climb until it is a prefix
    while (parent != none && common(nodes_[parent].key, keys[i]) < nodes_[parent].key.size()) parent = nodes_[parent].parent;
    nodes_.push_back({keys[i], i, parent});
  }
}

u32 PrefixIndex::neighbour(string_view s) const {
  size_t low = 0, high = nodes_.size(); // first node greater than s
  while (low < high) {
    size_t mid = (low + high) / 2;
    if (compare(nodes_[mid].key, s) <= 0) low = mid + 1;
    else high = mid;
  }
  return low == 0 ? none : static_cast<u32>(low - 1);
}

// ------------------------------------------------------------------------------------------ RangeIndex

template <class Key> void RangeIndex<Key>::build(std::vector<Range> ranges) {
  if (ranges.empty()) return;
  struct Event { Key at; bool opens; u32 range; };
  std::vector<Event> events;
  for (u32 i = 0; i < ranges.size(); i++) {
    events.push_back({ranges[i].low, true, i});
    if (ranges[i].high != static_cast<Key>(~Key{0})) events.push_back({static_cast<Key>(ranges[i].high + 1), false, i});
  }
  std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) { return a.at < b.at; });
  auto better = [&](u32 a, u32 b) {
    if (ranges[a].priority != ranges[b].priority) return ranges[a].priority > ranges[b].priority;
    return ranges[a].entry != ranges[b].entry ? ranges[a].entry < ranges[b].entry : a < b;
  };
  std::set<u32, decltype(better)> open(better);
  for (size_t i = 0; i < events.size();) {
    Key at = events[i].at;
    for (; i < events.size() && events[i].at == at; i++) {
      if (events[i].opens) open.insert(events[i].range);
      else open.erase(events[i].range);
    }
    i64 owner = open.empty() ? -1 : i64{ranges[*open.begin()].entry};
    if (!owners_.empty() && owners_.back() == owner) continue;
    starts_.push_back(at);
    owners_.push_back(owner);
  }
  if (starts_.size() < 256) return;
  buckets_.assign(65537, 0);
  size_t seg = 0;
  for (u32 b = 0; b < 65536; b++) {
    while (seg < starts_.size() && (starts_[seg] >> shift) < b) seg++;
    buckets_[b] = static_cast<u32>(seg);
  }
  buckets_[65536] = static_cast<u32>(starts_.size());
}

template <class Key> i64 RangeIndex<Key>::find(Key k) const {
  size_t low = 0, high = starts_.size();
  if (!buckets_.empty()) {
    auto top = static_cast<u32>(k >> shift);
    low = buckets_[top];
    high = buckets_[top + 1];
  }
  while (low < high) { // first segment that starts after k
    size_t mid = (low + high) / 2;
    if (starts_[mid] <= k) low = mid + 1;
    else high = mid;
  }
  return low == 0 ? -1 : owners_[low - 1];
}

template class RangeIndex<u32>;
template class RangeIndex<u64>;
template class RangeIndex<u128>;

// -------------------------------------------------------------------------------------- SubstringIndex

bool SubstringIndex::build(KeyOf keys, bool ignore_case) {
  constexpr size_t max_cells = 32u << 20;
  size_t states = 1;
  for (string_view k : keys) {
    states += k.size();
    for (char c : k) {
      auto &cls = class_of_[static_cast<unsigned char>(folded(c, ignore_case))];
      if (cls == 0) {
        if (classes_ == 255) return false;
        cls = static_cast<u8>(classes_++);
      }
    }
  }
  if (ignore_case)
    for (char c = 'A'; c <= 'Z'; c++) class_of_[static_cast<unsigned char>(c)] = class_of_[static_cast<unsigned char>(ascii_lower(c))];
  if (states * classes_ > max_cells) return false;

  next_.assign(classes_, 0);
  best_.assign(1, ~0u);
  for (u32 i = 0; i < keys.size(); i++) {
    u32 state = 0;
    for (char c : keys[i]) {
      size_t cell = state * classes_ + class_of_[static_cast<unsigned char>(c)];
      if (next_[cell] == 0) {
        next_[cell] = static_cast<u32>(best_.size());
        best_.push_back(~0u);
        next_.resize(next_.size() + classes_, 0);
      }
      state = next_[cell];
    }
    best_[state] = std::min(best_[state], i);
  }
  // Breadth first: fill the missing moves with those of the longest proper suffix.
  std::vector<u32> suffix(best_.size(), 0);
  std::queue<u32> todo;
  for (unsigned c = 1; c < classes_; c++)
    if (next_[c]) todo.push(next_[c]);
  while (!todo.empty()) {
    u32 state = todo.front();
    todo.pop();
    best_[state] = std::min(best_[state], best_[suffix[state]]);
    for (unsigned c = 1; c < classes_; c++) {
      u32 &to = next_[state * classes_ + c];
      u32 via = next_[suffix[state] * classes_ + c];
      if (to == 0) to = via;
      else suffix[to] = via, todo.push(to);
    }
  }
  return true;
}

i64 SubstringIndex::find(string_view s) const {
  u32 state = 0, best = best_[0]; // best_[0]: an empty word occurs everywhere
  for (char c : s) {
    state = next_[state * classes_ + class_of_[static_cast<unsigned char>(c)]];
    best = std::min(best, best_[state]);
  }
  return best == ~0u ? -1 : i64{best};
}

} // namespace penstock
