// SPDX-License-Identifier: BSD-2-Clause
// A heap in shared memory for data that many processes read without a lock while one at a time changes
// it (pattern rows and their indexes): blocks by size class out of one growing segment, addressed in
// units of eight bytes. What a writer has unlinked it retires; a retired block is used again only when
// every process that was in the middle of a turn of its event loop has ended that turn. Writers hold the
// heap's one robust lock. Each step leaves the lists whole, so that a writer killed between two of them
// loses at most the block in its hands.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "shared/shm/robust_lock.h"
#include "shared/shm/segment.h"

namespace penstock {

/// One per reading process: odd while a turn runs.
struct alignas(64) ReaderCell {
  std::atomic<u64> turn{0};
  std::atomic<i32> pid{0}; // 0: nobody
};

class SharedHeap : Pinned {
 public:
  static constexpr u32 max_readers = 66;
  static constexpr size_t capacity = size_t{16} << 30; // of addresses; memory is taken as it is needed
  static constexpr size_t largest_block = size_t{1} << 28;

  static std::unique_ptr<SharedHeap> create(const char *name, std::string &error);

  template <class T> T *at(u32 address) const { return reinterpret_cast<T *>(base_ + size_t{address} * 8); }
  u32 address_of(const void *p) const { return static_cast<u32>((static_cast<const char *>(p) - base_) / 8); }
  /// Whether `bytes` at an address that came from outside lie in the heap.
  bool holds(u64 address, size_t bytes) const;
  /// A page for whoever builds on the heap, zeroed at first.
  static constexpr size_t user_bytes = 4096;
  char *user() const;

  // ------------------------------------------------------------------ under the lock
  RobustStripe &lock() const;
  /// 0: the heap is full. Not zeroed.
  u32 allocate(size_t bytes);
  /// Of a block that no reader has seen.
  void release(u32 address, size_t bytes);
  /// Of a block that readers may still look at.
  void retire(u32 address, size_t bytes);
  /// Retired blocks that can still be noted; below `few` a writer should leave off.
  u32 retire_room() const;
  static constexpr u32 few = 1024;

  // ------------------------------------------------------------------ readers
  /// The cell of a reader that begins; what an earlier holder of the number left there is forgotten.
  ReaderCell &claim_reader(u32 number);

  // ------------------------------------------------------------------ upkeep
  /// From time to time: forgets readers that died. Without the lock.
  void forget_dead_readers();
  /// Likewise: takes memory ahead of need and frees what can be freed. Under the lock.
  void tidy();
  /// No growth beyond this.
  void set_limit(u64 bytes);
  u64 used_bytes() const; // of the segment, handed out at least once

 private:
  struct Header;
  explicit SharedHeap(std::unique_ptr<Segment> segment) : segment_(std::move(segment)), base_(segment_->base()) {}
  Header &header() const;
  bool make_room(u64 end);
  void reclaim();
  bool readers_passed();
  void take_snapshot();

  std::unique_ptr<Segment> segment_;
  char *base_;
};

} // namespace penstock
