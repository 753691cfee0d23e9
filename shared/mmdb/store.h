// SPDX-License-Identifier: BSD-2-Clause
// The MaxMind databases of the configuration (`maxmind-load`), one copy per host. A database's bytes are copied
// into a shared segment that the master makes and every process inherits: two areas, of which one is current
// and the other takes the next version. Nothing is ever mapped from the operator's file, so a truncated file
// harms nobody. A new version is copied and checked whole (check.h) before one 64-bit word makes it current;
// who looks something up pins the version for as long as that takes, and an area is written again only when
// nobody pins what lies there. Versions are written by one process at a time: the master at the start,
// afterwards the control process.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "shared/mmdb/check.h"
#include "shared/shm/rows.h"
#include "shared/shm/segment.h"

namespace penstock {

/// What one process counts and pins; each has its own, so nothing here is contended.
struct alignas(64) MmdbCell {
  std::atomic<u64> pinned{0}; // version, 0 none
  std::atomic<u64> lookups{0}, found{0}, cached{0};
};

class MmdbStore : Pinned {
 public:
  static constexpr u32 other_cell = max_slots; // of the process that is no worker

  /// Opens and checks the file. Null and `error` set unless `optional` and the file is missing.
  static std::unique_ptr<MmdbStore> load(std::string name, std::string path, bool optional, std::string &error);
  ~MmdbStore();

  const std::string &name() const { return name_; }
  const std::string &path() const { return path_; }
  bool auto_reload = false;

  u64 current() const { return head().current.load(std::memory_order_acquire); }
  string_view bytes(u64 version) const;
  const MmdbMeta &meta(u64 version); // of a version that cannot go away: for the control process
  MmdbCell &cell(u32 slot) const { return head().cells[slot]; }
  /// The current version, which stays until unpin(); 0: there is none.
  u64 pin(u32 slot) {
    if (!read_only_) protect();
    MmdbCell &c = cell(slot);
    for (u64 version = current();; version = current()) {
      c.pinned.store(version, std::memory_order_seq_cst);
      if (head().current.load(std::memory_order_seq_cst) == version) return version;
    }
  }
  void unpin(u32 slot) { cell(slot).pinned.store(0, std::memory_order_release); }
  /// A process is gone, whatever it was doing.
  void forget(u32 slot) { unpin(slot); }

  /// Whether the file is another one than the one that was last tried.
  bool file_changed();
  /// Frees the area of the previous version if nobody reads it any more. False: somebody does.
  bool release_old();

 private:
  friend class MmdbLoad;
  struct Head {
    SegmentHeader segment;
    std::atomic<u64> current;
    u64 sizes[2];
    MmdbCell cells[max_slots + 1];
  };
  struct Stamp {
    u64 device = 0, inode = 0, size = 0;
    i64 seconds = 0, nanoseconds = 0;
    bool operator==(const Stamp &) const = default;
  };
  MmdbStore(std::string name, std::string path) : name_(std::move(name)), path_(std::move(path)) {}
  bool make_segment(size_t file_bytes, std::string &error);
  Head &head() const { return *segment_->at<Head>(0); }
  char *area(u64 version) const { return segment_->base() + areas_at + (version & 1) * area_bytes_; }
  bool pinned(u64 version) const;
  void protect();

  static constexpr size_t areas_at = 64 * 1024;
  static_assert(sizeof(Head) <= areas_at);
  std::string name_, path_, file_name_;
  int folder_ = -1; // of the file: reachable after chroot too
  std::unique_ptr<Segment> segment_;
  size_t area_bytes_ = 0;
  Stamp tried_;
  bool read_only_ = false;
  u64 meta_version_ = 0;
  MmdbMeta meta_;
};

/// One attempt to take a file up, in portions. At its end the new version is current, or nothing has changed.
class MmdbLoad : Pinned {
 public:
  enum class State : u8 { More, Done, Failed };
  explicit MmdbLoad(MmdbStore &store);
  ~MmdbLoad();
  State step(size_t budget); // about so many bytes copied or values checked
  const std::string &error() const { return error_; }
  bool missing() const { return missing_; }

 private:
  State fail(std::string why);
  State copy(size_t budget);
  State publish();
  MmdbStore &store_;
  int fd_ = -1;
  u64 version_ = 0;
  size_t size_ = 0, copied_ = 0;
  bool missing_ = false;
  std::string error_;
  std::unique_ptr<MmdbCheck> check_;
};

// ------------------------------------------------------------------------- those of the configuration

/// By the name of a `maxmind-load` line; null when there is none.
MmdbStore *find_mmdb(string_view name);
/// By name, or by the path of a file, which is then loaded. Null and `error`.
MmdbStore *need_mmdb(string_view name_or_path, std::string &error);
void add_mmdb(std::unique_ptr<MmdbStore> store);
const std::vector<std::unique_ptr<MmdbStore>> &all_mmdb();
/// Places in each worker's memory of look-ups (`maxmind-cache-size`).
inline u32 mmdb_cache_size = 4096;

} // namespace penstock
