// SPDX-License-Identifier: BSD-2-Clause
// A bump allocator: memory that lives until the owner says reset(). Evaluations, headers and log
// lines take their temporary text from one, so that the traffic path never calls malloc in steady state.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "shared/base/basic.h"

namespace penstock {

class Arena : Pinned {
 public:
  explicit Arena(size_t block_bytes = 4096) : block_bytes_(block_bytes) {}

  /// `bytes` of memory aligned to `align`, valid until reset(). Never fails but by std::bad_alloc.
  void *take(size_t bytes, size_t align = 8) {
    size_t at = (used_ + align - 1) & ~(align - 1);
    if (current_ == nullptr || at + bytes > size_) return take_slow(bytes, align);
    used_ = at + bytes;
    return current_ + at;
  }
  char *chars(size_t n) { return static_cast<char *>(take(n, 1)); }

  string_view copy(string_view s) {
    if (s.empty()) return {};
    char *p = chars(s.size());
    std::memcpy(p, s.data(), s.size());
    return {p, s.size()};
  }

  /// Forgets everything; keeps the first block for the next user.
  void reset() {
    if (blocks_.size() > 1) drop_extra_blocks();
    used_ = 0;
  }

  /// Gives even the first block back to the system.
  void release();

 private:
  void *take_slow(size_t bytes, size_t align);
  void drop_extra_blocks();

  size_t block_bytes_;
  char *current_ = nullptr;
  size_t size_ = 0;
  size_t used_ = 0;
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t first_size_ = 0;
};

} // namespace penstock
