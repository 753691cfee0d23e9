// SPDX-License-Identifier: BSD-2-Clause
// The mean of about the last 1024 values (management guide, qtime and its kin): exact up to that many, older
// ones fade afterwards. All processes write; a value that two add at one instant may be lost, which a mean over
// a thousand does not show, and which costs no locked instruction.
#pragma once

#include <atomic>

#include "shared/base/basic.h"

namespace penstock {

struct SlidingMean {
  static constexpr u32 window = 1024;
  std::atomic<u64> sum{0};
  std::atomic<u32> count{0};
  u32 reserved = 0;

  void add(u64 value) {
    u64 s = sum.load(std::memory_order_relaxed);
    u32 n = count.load(std::memory_order_relaxed);
    if (n < window) count.store(n + 1, std::memory_order_relaxed);
    else s -= s / window;
    sum.store(s + value, std::memory_order_relaxed);
  }
  u64 read() const {
    u32 n = count.load(std::memory_order_relaxed);
    return n != 0 ? sum.load(std::memory_order_relaxed) / n : 0;
  }
  void clear() { sum = 0, count = 0; }
};

} // namespace penstock
