// SPDX-License-Identifier: BSD-2-Clause
// See ring_buffer.h. A message is its length in 4 bytes and its text; both may go around the end. `begin`
// and `end` only grow, and each is moved by one store, before (begin) or after (end) the bytes are
// written: there is nothing to repair after a death.
#include "shared/shm/ring_buffer.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace penstock {

namespace {
void nothing_to_repair(void *, RobustStripe &) {}
constexpr size_t length_bytes = sizeof(u32), longest = 65535;
} // namespace

u64 RingBuffer::layout() { return layout_mix(layout_mix(0x72696e67, 1), sizeof(Header)); }

size_t RingBuffer::capacity_for(size_t size) { return data_at + (size + 4095) / 4096 * 4096; }

RingBuffer::RingBuffer(std::unique_ptr<Segment> segment)
    : segment_(std::move(segment)), header_(segment_->at<Header>(header_at)), data_(segment_->at<char>(data_at)) {}

std::unique_ptr<RingBuffer> RingBuffer::create(string_view name, size_t size, std::string &error) {
  size_t capacity = capacity_for(size);
  auto segment = Segment::create("penstock ring", layout(), capacity, capacity, error);
  if (!segment || !segment->reserve(0, capacity)) {
    if (error.empty()) error = "no memory for a ring";
    return nullptr;
  }
  std::unique_ptr<RingBuffer> ring(new RingBuffer(std::move(segment)));
  Header &h = *new (ring->header_) Header{};
  init_stripe(h.lock);
  h.size = size;
  name.copy(h.name, sizeof h.name - 1);
  return ring;
}

std::unique_ptr<RingBuffer> RingBuffer::attach(int fd, std::string &error) {
  SegmentHeader header{};
  if (pread(fd, &header, sizeof header, 0) != ssize_t{sizeof header}) {
    error = "descriptor is no ring";
    return nullptr;
  }
  auto segment = Segment::attach(fd, layout(), header.capacity, error);
  return segment ? std::unique_ptr<RingBuffer>(new RingBuffer(std::move(segment))) : nullptr;
}

void RingBuffer::copy_in(u64 position, const void *from, size_t n) {
  size_t at = position % header_->size, first = std::min<size_t>(n, header_->size - at);
  std::memcpy(data_ + at, from, first);
  std::memcpy(data_, static_cast<const char *>(from) + first, n - first);
}

void RingBuffer::copy_out(u64 position, void *to, size_t n) const {
  size_t at = position % header_->size, first = std::min<size_t>(n, header_->size - at);
  std::memcpy(to, data_ + at, first);
  std::memcpy(static_cast<char *>(to) + first, data_, n - first);
}

u32 RingBuffer::length_at(u64 position) const {
  u32 length;
  copy_out(position, &length, sizeof length);
  return length;
}

void RingBuffer::make_room(u64 needed) {
  u64 begin = header_->begin.load(std::memory_order_relaxed), end = header_->end.load(std::memory_order_relaxed);
  while (begin < end && end - begin + needed > header_->size) {
    begin += length_bytes + length_at(begin);
    header_->first++;
  }
  header_->begin.store(begin, std::memory_order_release);
}

bool RingBuffer::put(std::span<const iovec> parts) {
  size_t length = 0;
  for (const iovec &part : parts) length += part.iov_len;
  if (length > longest || length + length_bytes > header_->size) return false;
  StripeGuard guard(header_->lock, nothing_to_repair, nullptr);
  // A writer that died between the two stores has counted a message that is not there, or the other way round.
  if (header_->begin.load() == header_->end.load()) header_->first = header_->next;
  make_room(length + length_bytes);
  u64 at = header_->end.load(std::memory_order_relaxed);
  u32 size = static_cast<u32>(length);
  copy_in(at, &size, sizeof size);
  at += length_bytes;
  for (const iovec &part : parts) {
    copy_in(at, part.iov_base, part.iov_len);
    at += part.iov_len;
  }
  header_->next++;
  header_->end.store(at, std::memory_order_release);
  return true;
}

RingBuffer::Reader RingBuffer::oldest() const {
  StripeGuard guard(header_->lock, nothing_to_repair, nullptr);
  return {header_->begin.load(), header_->first};
}

RingBuffer::Reader RingBuffer::newest() const {
  StripeGuard guard(header_->lock, nothing_to_repair, nullptr);
  return {header_->end.load(), header_->next};
}

/// With the lock held: a reader that was overtaken goes on with the oldest message. Gives how many it missed.
u64 RingBuffer::catch_up(Reader &r) const {
  u64 begin = header_->begin.load(std::memory_order_relaxed);
  if (r.position >= begin) return 0;
  u64 lost = header_->first > r.number ? header_->first - r.number : 0;
  r = {begin, header_->first};
  return lost;
}

u64 RingBuffer::read(Reader &r, size_t most, char separator, std::string &out) {
  u64 lost;
  most = std::max(most, longest + 1); // any message fits
  copy_.resize(most);
  size_t used = 0;
  {
    StripeGuard guard(header_->lock, nothing_to_repair, nullptr);
    lost = catch_up(r);
    u64 end = header_->end.load(std::memory_order_relaxed);
    while (r.position < end) {
      u32 length = length_at(r.position);
      if (used + length + 1 > most) break;
      copy_out(r.position + length_bytes, copy_.data() + used, length);
      used += length;
      copy_[used++] = separator;
      r.position += length_bytes + length;
      r.number++;
    }
  }
  out.append(copy_.data(), used);
  return lost;
}

bool RingBuffer::read_one(Reader &r, std::string &out, u64 &lost) {
  copy_.resize(longest);
  u32 length = 0;
  {
    StripeGuard guard(header_->lock, nothing_to_repair, nullptr);
    lost = catch_up(r);
    if (r.position >= header_->end.load(std::memory_order_relaxed)) return false;
    length = length_at(r.position);
    copy_out(r.position + length_bytes, copy_.data(), length);
    r.position += length_bytes + length;
    r.number++;
  }
  out.append(copy_.data(), length);
  return true;
}

} // namespace penstock
