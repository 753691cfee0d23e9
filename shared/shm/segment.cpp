// SPDX-License-Identifier: BSD-2-Clause
#include "shared/shm/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace penstock {

static constexpr u64 segment_magic = 0x6b636f74736e6570; // "penstock"

static std::unique_ptr<Segment> refuse(std::string &error, const char *what, int fd) {
  error = std::string(what) + ": " + std::strerror(errno);
  if (fd >= 0) close(fd);
  return nullptr;
}

std::unique_ptr<Segment> Segment::map(int fd, size_t capacity, std::string &error) {
  void *base = mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (base == MAP_FAILED) return refuse(error, "cannot map shared memory", fd);
  madvise(base, capacity, MADV_DONTDUMP);
  return std::unique_ptr<Segment>(new Segment(fd, static_cast<char *>(base), capacity));
}

std::unique_ptr<Segment> Segment::create(const char *name, u64 layout, size_t capacity, size_t bytes, std::string &error) {
  int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return refuse(error, "cannot create shared memory", -1);
  if (ftruncate(fd, static_cast<off_t>(bytes)) < 0) return refuse(error, "cannot size shared memory", fd);
  if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0) return refuse(error, "cannot seal shared memory", fd);
  auto segment = map(fd, capacity, error);
  if (segment) segment->header() = {segment_magic, layout, capacity, bytes};
  return segment;
}

std::unique_ptr<Segment> Segment::attach(int fd, u64 layout, size_t capacity, std::string &error) {
  struct stat st;
  SegmentHeader header;
  if (fstat(fd, &st) < 0 || pread(fd, &header, sizeof header, 0) != ssize_t{sizeof header} || header.magic != segment_magic) {
    error = "descriptor is no shared segment";
    return nullptr;
  }
  if (header.layout != layout) {
    error = "shared segment has another layout";
    return nullptr;
  }
  return map(fd, capacity, error);
}

Segment::~Segment() {
  munmap(base_, capacity_);
  close(fd_);
}

bool Segment::grow(size_t bytes) {
  if (bytes <= header().bytes) return true;
  if (bytes > capacity_ || ftruncate(fd_, static_cast<off_t>(bytes)) < 0) return false;
  header().bytes = bytes;
  return true;
}

bool Segment::reserve(size_t offset, size_t bytes) {
  if (!grow(offset + bytes)) return false;
  return fallocate(fd_, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0;
}

} // namespace penstock
