// SPDX-License-Identifier: BSD-2-Clause
// A ring of messages in shared memory (manual, section on rings): every process puts in, the control
// process reads. The newest overwrite the oldest; who reads too slowly is told how many it lost. A
// process killed while it puts one in leaves the ring as it was before.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <memory>
#include <span>
#include <string>

#include "shared/shm/robust_lock.h"
#include "shared/shm/segment.h"

namespace penstock {

class RingBuffer : Pinned {
 public:
  /// `size`: bytes for messages, each of which takes 4 more. Null and `error` set when the system refuses.
  static std::unique_ptr<RingBuffer> create(string_view name, size_t size, std::string &error);
  /// One that an earlier image made.
  static std::unique_ptr<RingBuffer> attach(int fd, std::string &error);

  string_view name() const { return header_->name; }
  size_t size() const { return header_->size; }
  int fd() const { return segment_->fd(); }

  /// One message, made of `parts`. False: it is longer than the ring.
  bool put(std::span<const iovec> parts);

  /// Where somebody reads; plain data.
  struct Reader {
    u64 position = 0; // bytes since the ring was made
    u64 number = 0;   // of the next message
  };
  Reader oldest() const; // everything that is there
  Reader newest() const; // only what comes from now on
  bool has_more(const Reader &r) const { return header_->end.load(std::memory_order_acquire) != r.position; }
  /// How far server number `n` of the ring has been served; outlives the process that serves it.
  static constexpr u32 most_servers = 8;
  Reader &served(u32 n) { return header_->served[n]; }
  /// Appends the next messages to `out`, `separator` behind each, until about `most` bytes were added.
  /// Gives the number of messages that were overwritten before they could be read.
  u64 read(Reader &r, size_t most, char separator, std::string &out);
  /// The same for one message, with nothing behind it; false when there is none.
  bool read_one(Reader &r, std::string &out, u64 &lost);

 private:
  struct Header {
    RobustStripe lock;
    std::atomic<u64> begin, end; // positions
    u64 first, next;             // numbers of the oldest message and of the next one
    u64 size;
    Reader served[most_servers]; // written by the control process that leads
    char name[64];
  };
  static constexpr size_t header_at = 64, data_at = 4096;
  static_assert(header_at + sizeof(Header) <= data_at);

  explicit RingBuffer(std::unique_ptr<Segment> segment);
  static u64 layout();
  static size_t capacity_for(size_t size);
  void copy_in(u64 position, const void *from, size_t n);
  void copy_out(u64 position, void *to, size_t n) const;
  u32 length_at(u64 position) const;
  void make_room(u64 needed);
  u64 catch_up(Reader &r) const;

  std::unique_ptr<Segment> segment_;
  Header *header_;
  char *data_;
  std::string copy_; // where messages go while the lock is held
};

} // namespace penstock
