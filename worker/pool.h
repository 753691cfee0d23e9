// SPDX-License-Identifier: BSD-2-Clause
// A pool of objects that are reused, not destroyed: their vectors keep their memory, so that requests
// allocate nothing in steady state. Each object has an index for life and a generation that changes with
// every use, so that a Handle that others keep (shared queues) is recognised when it is stale.
#pragma once

#include <memory>
#include <vector>

#include "shared/base/basic.h"

namespace penstock {

template <class T> class Pool : Pinned {
 public:
  /// T has members pool_index and pool_generation.
  T &take() {
    if (free_.empty()) {
      all_.push_back(std::make_unique<T>());
      all_.back()->pool_index = static_cast<u32>(all_.size() - 1);
      free_.reserve(all_.size());
      return *all_.back();
    }
    T *t = free_.back();
    free_.pop_back();
    return *t;
  }
  void give(T &t) {
    t.pool_generation++;
    free_.push_back(&t);
  }
  /// The object if that use of it still goes on.
  T *find(u32 index, u32 generation) {
    return index < all_.size() && all_[index]->pool_generation == generation ? all_[index].get() : nullptr;
  }
  size_t in_use() const { return all_.size() - free_.size(); }

 private:
  std::vector<std::unique_ptr<T>> all_;
  std::vector<T *> free_;
};

} // namespace penstock
