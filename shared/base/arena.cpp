// SPDX-License-Identifier: BSD-2-Clause
#include "shared/base/arena.h"

namespace penstock {

void *Arena::take_slow(size_t bytes, size_t align) {
  size_t want = bytes + align > block_bytes_ ? bytes + align : block_bytes_;
  if (address_sanitizer) want = bytes; // a block of its own
  blocks_.push_back(std::make_unique_for_overwrite<char[]>(want));
  if (blocks_.size() == 1) first_size_ = want;
  current_ = blocks_.back().get();
  size_ = want;
  used_ = bytes;
  return current_; // operator new[] aligns for every fundamental type
}

void Arena::drop_extra_blocks() {
  blocks_.resize(1);
  current_ = blocks_.front().get();
  size_ = first_size_;
}

void Arena::release() {
  blocks_.clear();
  current_ = nullptr;
  size_ = used_ = first_size_ = 0;
}

} // namespace penstock
