// SPDX-License-Identifier: BSD-2-Clause
// Whether a MaxMind database may be used: walks its whole search tree and every value that the tree leads to,
// so that a look-up later finds nothing that leaves the file, runs in circles or nests too deep. In portions,
// because the control process does this between other things. Its own work is bounded by the file's size.
#pragma once

#include <memory>
#include <vector>

#include "shared/mmdb/format.h"

namespace penstock {

class MmdbCheck : Pinned {
 public:
  enum class State : u8 { More, Good, Bad };
  /// The bytes must stay until the end of the check.
  explicit MmdbCheck(string_view file);
  /// About `budget` nodes or values further.
  State step(size_t budget);
  const std::string &error() const { return error_; }
  const MmdbView &view() const { return view_; }
  u64 entries() const { return offsets_.size(); } // distinct ones, once the tree is walked

 private:
  State fail(std::string why) { return error_ = std::move(why), state_ = State::Bad; }
  State step_tree(size_t &budget);
  State step_data(size_t &budget);
  bool leaf(u32 record);
  bool value(u32 offset, u32 depth, u32 &next, u32 &height);
  bool members(const MmdbValue &v, u32 depth, u32 &next, u32 &height);
  bool pointed(u32 offset, u32 depth, u32 &height);

  struct Step { u32 node; u8 side, height; };
  struct Free { void operator()(u8 *p) const; };
  MmdbView view_;
  State state_ = State::More;
  std::string error_;
  std::vector<Step> path_;
  std::unique_ptr<u8, Free> nodes_;  // per node: 0 unseen, 255 on the path, else 1 + height of what is below
  std::unique_ptr<u8, Free> values_; // per byte of data: 0 unseen, 255 a leaf of the tree not yet looked at, else 1 + height
  std::vector<u32> offsets_;
  size_t at_ = 0;
  u64 work_ = 0; // values that may still be looked at
};

/// All at once. "" or what is wrong.
std::string check_mmdb(string_view file);

} // namespace penstock
