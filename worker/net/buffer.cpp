// SPDX-License-Identifier: BSD-2-Clause
// See buffer.h.
#include "worker/net/buffer.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "shared/base/sanitizer.h"

namespace penstock {

BufferPool::BufferPool(u32 bufsize, size_t budget_of_large)
    : capacity_{bufsize, std::max(bufsize, 64u << 10), std::max(bufsize, 256u << 10)}, kept_limit_{256, 16, 8}, budget_(budget_of_large) {
  if (address_sanitizer) kept_limit_[normal] = kept_limit_[large] = kept_limit_[huge] = 0;
}

BufferPool::~BufferPool() {
  for (Buffer *b : free_)
    while (b != nullptr) {
      Buffer *next = b->next_free;
      std::free(b);
      b = next;
    }
}

Buffer *BufferPool::take(u8 size_class) {
  while (size_class > normal && budget_ < capacity_[size_class]) size_class--;
  if (size_class > normal) budget_ -= capacity_[size_class];
  in_use_++;
  if (Buffer *b = free_[size_class]) {
    free_[size_class] = b->next_free;
    kept_[size_class]--;
    b->head = b->tail = 0;
    return b;
  }
  void *memory = std::malloc(sizeof(Buffer) + capacity_[size_class]);
  if (memory == nullptr) throw std::bad_alloc();
  Buffer *b = new (memory) Buffer;
  b->capacity = capacity_[size_class], b->size_class = size_class;
  return b;
}

void BufferPool::give(Buffer *b) {
  u8 c = b->size_class;
  if (c > normal) budget_ += capacity_[c];
  in_use_--;
  if (kept_[c] >= kept_limit_[c]) return std::free(b);
  b->next_free = free_[c];
  free_[c] = b;
  kept_[c]++;
}

} // namespace penstock
