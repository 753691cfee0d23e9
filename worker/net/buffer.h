// SPDX-License-Identifier: BSD-2-Clause
// Buffers come from a pool of the worker and go back as soon as they are empty, so that idle connections
// hold none. Three sizes: tune.bufsize for everybody, and two larger ones that a busy transfer grows into
// while the worker's budget for them lasts.
#pragma once

#include <cstring>

#include "shared/base/basic.h"

namespace penstock {

struct Buffer {
  u32 capacity = 0;
  u32 head = 0, tail = 0; // content is [head, tail)
  u8 size_class = 0;
  Buffer *next_free = nullptr;

  char *data() { return reinterpret_cast<char *>(this + 1); }
  string_view content() { return {data() + head, tail - head}; }
  u32 size() const { return tail - head; }
  bool empty() const { return head == tail; }
  u32 room() const { return capacity - tail; }
  char *end() { return data() + tail; }
  void consume(u32 n) {
    head += n;
    if (head == tail) head = tail = 0;
  }
  void append(string_view s) {
    std::memcpy(end(), s.data(), s.size());
    tail += static_cast<u32>(s.size());
  }
  /// Moves the content to the front.
  void compact() {
    if (head == 0) return;
    std::memmove(data(), data() + head, size());
    tail -= head, head = 0;
  }
};

class BufferPool : Pinned {
 public:
  static constexpr u8 normal = 0, large = 1, huge = 2, classes = 3;

  explicit BufferPool(u32 bufsize, size_t budget_of_large = 64u << 20);
  ~BufferPool();

  /// An empty buffer of that size, or of the next smaller one that the budget allows.
  Buffer *take(u8 size_class = normal);
  void give(Buffer *b);
  /// Gives it back and forgets it; null is fine.
  void drop(Buffer *&b) {
    if (b != nullptr) give(b), b = nullptr;
  }
  u32 bufsize() const { return capacity_[normal]; }
  size_t in_use() const { return in_use_; }

 private:
  u32 capacity_[classes];
  u32 kept_limit_[classes];
  Buffer *free_[classes] = {};
  u32 kept_[classes] = {};
  size_t budget_, in_use_ = 0;
};

} // namespace penstock
