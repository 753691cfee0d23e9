// SPDX-License-Identifier: BSD-2-Clause
// What the fuzzers share. Each is one file with libFuzzer's entry; beside memory errors it holds the code to
// promises of its own. The unit tests replay the kept inputs of tests/fuzz/seeds through the same functions.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "shared/base/basic.h"

namespace penstock {

inline void must(bool holds, const char *promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  __builtin_trap();
}

/// The input from front to back: numbers first, the text is what is left.
class FuzzInput {
 public:
  FuzzInput(const std::uint8_t *data, size_t size) : rest_(reinterpret_cast<const char *>(data), size) {}
  u8 byte() {
    if (rest_.empty()) return 0;
    u8 b = static_cast<u8>(rest_[0]);
    rest_.remove_prefix(1);
    return b;
  }
  /// Up to the next `end`, which is passed over; the rest when there is none.
  string_view until(char end) {
    size_t n = rest_.find(end);
    string_view out = rest_.substr(0, n);
    rest_ = n == string_view::npos ? string_view() : rest_.substr(n + 1);
    return out;
  }
  string_view rest() const { return rest_; }

 private:
  string_view rest_;
};

/// Bytes as a file that has a name, without touching a disk.
class MemoryFile : Pinned {
 public:
  MemoryFile() : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {}
  std::string holding(string_view bytes) {
    bool written = ftruncate(fd_, 0) == 0 && pwrite(fd_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
    return written ? "/proc/self/fd/" + std::to_string(fd_) : "/dev/null";
  }

 private:
  int fd_;
};

} // namespace penstock
