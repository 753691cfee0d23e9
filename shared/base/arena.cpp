// SPDX-License-Identifier: BSD-2-Clause
#include "shared/base/arena.h"

#include "shared/base/sanitizer.h"

namespace penstock {

// Under the address sanitizer each piece is a block of its own, and reset() gives all of them back: that there are
// always two of them, the first for nobody, makes it call drop_extra_blocks().
void *Arena::take_slow(size_t bytes, size_t align) {
  size_t want = bytes + align > block_bytes_ ? bytes + align : block_bytes_;
  if (address_sanitizer) want = bytes;
  if (address_sanitizer && blocks_.empty()) blocks_.push_back(std::make_unique_for_overwrite<char[]>(1));
  blocks_.push_back(std::make_unique_for_overwrite<char[]>(want));
  if (blocks_.size() == 1) first_size_ = want;
  current_ = blocks_.back().get();
  size_ = want;
  used_ = bytes;
  return current_; // operator new[] aligns for every fundamental type
}

void Arena::drop_extra_blocks() {
  if (address_sanitizer) return release();
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
