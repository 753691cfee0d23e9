// SPDX-License-Identifier: BSD-2-Clause
#include "shared/shm/heap.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>

namespace penstock {

namespace {

constexpr u32 small_units = 64; // up to here a class per size
constexpr u32 classes = small_units + 4 * 24;
constexpr u32 ring_size = 1 << 18;
constexpr u64 growth_step = u64{1} << 20; // bytes
constexpr u32 reclaim_at_once = 32;

/// Above the small sizes, four classes to a doubling.
u32 class_of(u64 units) {
  if (units <= small_units) return static_cast<u32>(units);
  u32 top = 63 - static_cast<u32>(std::countl_zero(units - 1)), shift = top - 2;
  u64 quarters = ((units - 1) >> shift) + 1; // 5 … 8
  return small_units + (top - 6) * 4 + static_cast<u32>(quarters - 4);
}
u64 units_of(u32 cls) {
  if (cls <= small_units) return cls;
  u32 n = cls - small_units - 1, top = 6 + n / 4;
  return u64{n % 4 + 5} << (top - 2);
}

struct Retired {
  u32 address, cls;
};

} // namespace

struct SharedHeap::Header {
  RobustStripe lock;
  std::atomic<u64> used{0};     // bytes handed out at least once, from the segment's start
  std::atomic<u64> reserved{0}; // bytes that have memory
  std::atomic<u64> limit{0};
  u32 free[classes + 1];
  // Retired blocks, oldest first: [freed, boundary) wait for the snapshot, [boundary, noted) came after it.
  u32 freed = 0, boundary = 0, noted = 0;
  u32 since_look = 0;
  std::atomic<u32> readers{0};  // cells ever used
  u64 snapshot[max_readers];    // of turns that must end; even: nothing to wait for
  ReaderCell cells[max_readers];
  alignas(64) char user[user_bytes];
  Retired ring[ring_size];
};

namespace {
constexpr size_t header_at = 64;
}

SharedHeap::Header &SharedHeap::header() const { return *reinterpret_cast<Header *>(base_ + header_at); }
RobustStripe &SharedHeap::lock() const { return header().lock; }
char *SharedHeap::user() const { return header().user; }

std::unique_ptr<SharedHeap> SharedHeap::create(const char *name, std::string &error) {
  constexpr size_t fixed = (header_at + sizeof(Header) + 4095) & ~size_t{4095};
  static_assert(std::is_standard_layout_v<Header>);
  auto segment = Segment::create(name, 1, capacity, fixed, error);
  if (!segment) return nullptr;
  std::unique_ptr<SharedHeap> heap(new SharedHeap(std::move(segment)));
  Header &h = *new (heap->base_ + header_at) Header; // the ring stays a hole until it is used
  init_stripe(h.lock);
  std::memset(h.free, 0, sizeof h.free);
  h.used = h.reserved = fixed;
  h.limit = capacity;
  return heap;
}

bool SharedHeap::holds(u64 address, size_t bytes) const {
  u64 begin = address * 8;
  return address <= UINT32_MAX && begin >= header_at + sizeof(Header) && begin + bytes <= header().used.load();
}

u64 SharedHeap::used_bytes() const { return header().used.load(); }
void SharedHeap::set_limit(u64 bytes) { header().limit = std::min<u64>(bytes, capacity); }

// ------------------------------------------------------------------------------------------- blocks

bool SharedHeap::make_room(u64 end) {
  Header &h = header();
  u64 have = h.reserved.load();
  if (end <= have) return true;
  if (end > h.limit.load()) return false;
  u64 to = std::min(std::max(end, have + growth_step), h.limit.load());
  to = (to + 4095) & ~u64{4095};
  if (!segment_->reserve(have, to - have)) return false;
  h.reserved = to;
  return true;
}

u32 SharedHeap::allocate(size_t bytes) {
  if (bytes > largest_block) return 0;
  Header &h = header();
  u32 cls = class_of(std::max<u64>(1, (bytes + 7) / 8));
  if (h.free[cls] == 0 && h.noted != h.freed) reclaim();
  if (u32 address = h.free[cls]) {
    h.free[cls] = *at<u32>(address);
    return address;
  }
  u64 begin = h.used.load(), end = begin + units_of(cls) * 8;
  if (!make_room(end)) return 0;
  h.used = end;
  return static_cast<u32>(begin / 8);
}

void SharedHeap::release(u32 address, size_t bytes) {
  Header &h = header();
  u32 cls = class_of(std::max<u64>(1, (bytes + 7) / 8));
  *at<u32>(address) = h.free[cls];
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  h.free[cls] = address;
}

// ------------------------------------------------------------------------------------------- retiring

u32 SharedHeap::retire_room() const { return ring_size - (header().noted - header().freed); }

void SharedHeap::retire(u32 address, size_t bytes) {
  Header &h = header();
  if (h.noted - h.freed >= ring_size || ++h.since_look >= 16) reclaim();
  if (h.noted - h.freed >= ring_size) return; // nobody could ever tell when it is free: it stays out of use
  h.ring[h.noted % ring_size] = {address, class_of(std::max<u64>(1, (bytes + 7) / 8))};
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  h.noted++;
}

void SharedHeap::take_snapshot() {
  Header &h = header();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  h.boundary = h.noted;
  for (u32 i = 0, n = h.readers.load(); i < n; i++) h.snapshot[i] = h.cells[i].pid.load() ? h.cells[i].turn.load() : 0;
}

bool SharedHeap::readers_passed() {
  Header &h = header();
  for (u32 i = 0, n = h.readers.load(); i < n; i++) {
    if ((h.snapshot[i] & 1) == 0) continue;
    if (h.cells[i].pid.load() && h.cells[i].turn.load() == h.snapshot[i]) return false;
    h.snapshot[i] = 0;
  }
  return true;
}

void SharedHeap::reclaim() {
  Header &h = header();
  h.since_look = 0;
  if (h.freed == h.boundary) {
    if (h.noted == h.boundary) return;
    take_snapshot();
  }
  if (!readers_passed()) return;
  for (u32 n = 0; n < reclaim_at_once && h.freed != h.boundary; n++) {
    Retired r = h.ring[h.freed % ring_size];
    h.freed++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *at<u32>(r.address) = h.free[r.cls];
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    h.free[r.cls] = r.address;
  }
}

// ------------------------------------------------------------------------------------------- readers

ReaderCell &SharedHeap::claim_reader(u32 number) {
  PENSTOCK_ENSURE(number < max_readers);
  Header &h = header();
  ReaderCell &cell = h.cells[number];
  cell.turn.store((cell.turn.load() | 1) + 1); // a turn that its dead holder was in has ended
  cell.pid.store(getpid());
  u32 seen = h.readers.load();
  while (seen <= number && !h.readers.compare_exchange_weak(seen, number + 1)) {
  }
  return cell;
}

void SharedHeap::forget_dead_readers() {
  Header &h = header();
  for (u32 i = 0, n = h.readers.load(); i < n; i++) {
    i32 pid = h.cells[i].pid.load();
    if (pid != 0 && (h.cells[i].turn.load() & 1) && kill(pid, 0) < 0 && errno == ESRCH) h.cells[i].pid.compare_exchange_strong(pid, 0);
  }
}

void SharedHeap::tidy() {
  Header &h = header();
  for (int i = 0; i < 64; i++) reclaim();
  if (h.used.load() + growth_step / 2 > h.reserved.load()) make_room(std::min(h.reserved.load() + growth_step, h.limit.load()));
}

} // namespace penstock
