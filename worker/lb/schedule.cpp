// SPDX-License-Identifier: BSD-2-Clause
#include "worker/lb/schedule.h"

#include <algorithm>
#include <numeric>

namespace penstock {

namespace {

/// The next turn of a member: turn k of one with weight w is due at (2k+1)/2w of the round.
struct Turn {
  u64 number; // 2k+1
  u64 weight;
  u32 member;
  bool operator<(const Turn &b) const { // of a max-heap: later turns are less
    u64 mine = number * b.weight, other = b.number * weight;
    return mine != other ? mine > other : member > b.member;
  }
};

} // namespace

void build_schedule(std::span<const u32> weights, std::vector<u32> &schedule) {
  schedule.clear();
  u64 total = 0;
  u32 divisor = 0;
  for (u32 w : weights) total += w, divisor = std::gcd(divisor, w);
  if (total == 0) return;
  total /= divisor;
  u64 room = std::max<u64>(max_schedule, weights.size());
  std::vector<Turn> turns;
  u64 length = 0;
  for (u32 m = 0; m < weights.size(); m++) {
    if (weights[m] == 0) continue;
    u64 w = weights[m] / divisor;
    if (total > room) w = std::max<u64>(1, w * room / total);
    turns.push_back({1, w, m});
    length += w;
  }
  schedule.reserve(length);
  std::make_heap(turns.begin(), turns.end());
  while (schedule.size() < length) {
    std::pop_heap(turns.begin(), turns.end());
    Turn &t = turns.back();
    schedule.push_back(t.member);
    t.number += 2;
    std::push_heap(turns.begin(), turns.end());
  }
}

} // namespace penstock
