// SPDX-License-Identifier: BSD-2-Clause
#include "worker/lb/hash_ring.h"

#include <algorithm>
#include <numeric>

#include "shared/base/hash.h"
#include "shared/shm/rows.h"

namespace penstock {

/// Every server gains its weight per cell; the cell goes to the first of those whose credit reaches the
/// most whole totals, and costs a total. So cells of one server are spread, and the order of the
/// configuration decides between those who are about equally due.
void HashRing::build_map(std::span<const Entry> servers) {
  clear();
  u32 divisor = 0;
  for (const Entry &e : servers) divisor = std::gcd(divisor, e.weight);
  if (divisor == 0) return;
  i64 total = 0;
  for (const Entry &e : servers) total += e.weight / divisor;
  std::vector<i64> credit(servers.size(), 0);
  map_.reserve(static_cast<size_t>(total));
  for (i64 cell = 0; cell < total; cell++) {
    size_t best = 0;
    i64 most = -1;
    for (size_t i = 0; i < servers.size(); i++) {
      credit[i] += servers[i].weight / divisor;
      i64 totals = (credit[i] + total) / total;
      if (totals > most) best = i, most = totals;
    }
    credit[best] -= total;
    map_.push_back(servers[best].member);
  }
}

/// weight_scale points per unit of weight, spread by hashing the server's id and the point's number.
void HashRing::build_points(std::span<const Entry> servers) {
  constexpr u32 points_of_an_id = 256 * weight_scale;
  clear();
  for (const Entry &e : servers)
    for (u32 n = 0; n < e.weight; n++) points_.push_back({avalanche(e.id * points_of_an_id + n), e.member});
  std::stable_sort(points_.begin(), points_.end());
}

/// The closer of the two neighbours on the ring.
size_t HashRing::nearest(u32 hash) const {
  size_t n = points_.size();
  size_t next = static_cast<size_t>(std::lower_bound(points_.begin(), points_.end(), Point{hash, 0}) - points_.begin());
  size_t above = next % n, below = (next + n - 1) % n;
  u32 up = points_[above].hash - hash, down = hash - points_[below].hash;
  return up <= down ? above : below;
}

} // namespace penstock
