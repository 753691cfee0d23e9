// SPDX-License-Identifier: BSD-2-Clause
// From a hash to a server (manual, "hash-type"): map-based, an array with as many cells per server as its
// weight says; or consistent, a ring of points where losing a server moves only its own requests. Both
// choose the same server as the reference implementation for the same hash, servers and weights.
#pragma once

#include <span>
#include <vector>

#include "shared/base/basic.h"

namespace penstock {

class HashRing {
 public:
  struct Entry {
    u32 member;
    u32 id;     // of the server: its points do not depend on its place in the configuration
    u32 weight; // in units of weight_scale
  };
  void clear() { map_.clear(), points_.clear(); }
  void build_map(std::span<const Entry> servers);
  void build_points(std::span<const Entry> servers);
  std::span<const u32> map() const { return map_; }
  bool empty() const { return map_.empty() && points_.empty(); }

  /// Calls visit(member) for the hash's server, then for the following ones, until it returns true.
  template <class Visit> void walk(u32 hash, Visit visit) const {
    if (!map_.empty()) {
      for (size_t i = 0, at = hash % map_.size(); i < map_.size(); i++)
        if (visit(map_[(at + i) % map_.size()])) return;
    } else if (!points_.empty()) {
      for (size_t i = 0, at = nearest(hash); i < points_.size(); i++)
        if (visit(points_[(at + i) % points_.size()].member)) return;
    }
  }

 private:
  struct Point {
    u32 hash, member;
    bool operator<(const Point &b) const { return hash < b.hash; }
  };
  size_t nearest(u32 hash) const;
  std::vector<u32> map_;
  std::vector<Point> points_;
};

} // namespace penstock
