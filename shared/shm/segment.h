// SPDX-License-Identifier: BSD-2-Clause
// A piece of memory shared by the processes of one service: a sealed memfd, mapped once over a virtual
// range large enough for all its life, so that growing it (ftruncate) never moves what others hold.
// Holes cost nothing until they are touched. Inside are indexes and offsets only, never pointers. The
// master creates segments, every fork inherits the mapping, a re-executed master attaches by descriptor.
#pragma once

#include <memory>
#include <string>

#include "shared/base/basic.h"

namespace penstock {

/// What lies at the start of every segment.
struct SegmentHeader {
  u64 magic;
  u64 layout;   // hash of sizes and capacities: another value means another program's idea of the content
  u64 capacity; // bytes of the virtual range
  u64 bytes;    // bytes that exist
};

class Segment : Pinned {
 public:
  ~Segment();

  /// A new one, zeroed but for its header. Null and `error` set when the system refuses.
  static std::unique_ptr<Segment> create(const char *name, u64 layout, size_t capacity, size_t bytes, std::string &error);
  /// One that another process image created. Refused when magic or layout differ.
  static std::unique_ptr<Segment> attach(int fd, u64 layout, size_t capacity, std::string &error);

  int fd() const { return fd_; }
  char *base() const { return base_; }
  SegmentHeader &header() const { return *reinterpret_cast<SegmentHeader *>(base_); }
  /// Makes at least `bytes` exist.
  bool grow(size_t bytes);
  /// Takes real memory for a range now, so that a lack of it is an error here and no SIGBUS later.
  bool reserve(size_t offset, size_t bytes);
  template <class T> T *at(size_t offset) const { return reinterpret_cast<T *>(base_ + offset); }

 private:
  Segment(int fd, char *base, size_t capacity) : fd_(fd), base_(base), capacity_(capacity) {}
  static std::unique_ptr<Segment> map(int fd, size_t capacity, std::string &error);
  int fd_;
  char *base_;
  size_t capacity_;
};

/// Folds one more number into a layout hash (FNV-1a over its bytes).
constexpr u64 layout_mix(u64 hash, u64 value) {
  for (int i = 0; i < 8; i++) hash = (hash ^ (value >> (8 * i) & 0xff)) * 0x100000001b3;
  return hash;
}

} // namespace penstock
