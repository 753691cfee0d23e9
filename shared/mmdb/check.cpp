// SPDX-License-Identifier: BSD-2-Clause
#include "shared/mmdb/check.h"

#include <algorithm>
#include <cstdlib>

namespace penstock {

namespace {

constexpr u8 on_path = 255, queued = 255;

/// Well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates.
bool is_utf8(string_view s) {
  for (size_t i = 0; i < s.size();) {
    u8 c = static_cast<u8>(s[i]);
    if (c < 0x80) { i++; continue; }
    u32 more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
    if (c < 0xc2 || c > 0xf4 || i + more >= s.size()) return false;
    u32 point = c & (0x3f >> more);
    for (u32 k = 1; k <= more; k++) {
      u8 d = static_cast<u8>(s[i + k]);
      if ((d & 0xc0) != 0x80) return false;
      point = point << 6 | (d & 0x3f);
    }
    if ((more == 2 && (point < 0x800 || (point >= 0xd800 && point < 0xe000))) || (more == 3 && (point < 0x10000 || point > 0x10ffff))) return false;
    i += more + 1;
  }
  return true;
}

u8 *zeroed(size_t n) { return static_cast<u8 *>(std::calloc(std::max<size_t>(n, 1), 1)); }

} // namespace

void MmdbCheck::Free::operator()(u8 *p) const { std::free(p); }

MmdbCheck::MmdbCheck(string_view file) {
  if (!view_.open(file, error_)) {
    state_ = State::Bad;
    return;
  }
  nodes_.reset(zeroed(view_.meta().node_count));
  values_.reset(zeroed(view_.meta().data_bytes));
  work_ = u64{view_.meta().data_bytes} * 8 + 100'000;
  if (!nodes_ || !values_) {
    fail("is too large for the memory that there is");
    return;
  }
  if (view_.tree().size() + 16 <= file.size() && file.substr(view_.tree().size(), 16).find_first_not_of('\0') != string_view::npos) {
    fail("has no gap of zeros between tree and data: its node count is wrong");
    return;
  }
  path_.push_back({0, 0, 0});
  nodes_.get()[0] = on_path;
}

MmdbCheck::State MmdbCheck::step(size_t budget) {
  while (state_ == State::More && budget > 0) state_ = path_.empty() ? step_data(budget) : step_tree(budget);
  return state_;
}

/// A record that is no node: nothing, or the place of a value.
bool MmdbCheck::leaf(u32 record) {
  u32 beyond = record - view_.meta().node_count;
  if (beyond == 0) return true;
  if (beyond < 16) return fail("has a search tree that points into the gap before the data"), false;
  if (beyond - 16 >= view_.meta().data_bytes) return fail("has a search tree that points past the data"), false;
  u8 &mark = values_.get()[beyond - 16];
  if (mark == 0) {
    mark = queued;
    offsets_.push_back(beyond - 16);
  }
  return true;
}

MmdbCheck::State MmdbCheck::step_tree(size_t &budget) {
  u8 *nodes = nodes_.get();
  while (!path_.empty() && budget > 0) {
    budget--;
    Step &top = path_.back();
    if (top.side == 2) {
      u8 height = static_cast<u8>(top.height + 1);
      nodes[top.node] = static_cast<u8>(height + 1);
      path_.pop_back();
      if (!path_.empty()) path_.back().height = std::max(path_.back().height, height);
      continue;
    }
    u32 record = view_.record(top.node, top.side++);
    if (record >= view_.meta().node_count) {
      if (!leaf(record)) return state_;
      continue;
    }
    u8 seen = nodes[record];
    if (seen == on_path) return fail("has a search tree that runs in a circle");
    u32 below = seen == 0 ? 1 : seen - 1u;
    if (path_.size() + below > view_.bits()) return fail("has a search tree that is deeper than an address is long");
    if (seen) {
      top.height = std::max(top.height, static_cast<u8>(below));
    } else {
      nodes[record] = on_path;
      path_.push_back({record, 0, 0});
    }
  }
  return State::More;
}

MmdbCheck::State MmdbCheck::step_data(size_t &budget) {
  if (at_ == 0 && std::count(nodes_.get(), nodes_.get() + view_.meta().node_count, 0) > 0)
    return fail("has a search tree with nodes to which nothing leads: it is broken, or its node count is wrong");
  for (; budget > 0; budget--) {
    if (at_ == offsets_.size()) return State::Good;
    u32 height, next;
    if (!value(offsets_[at_++], 0, next, height)) return error_.empty() ? fail("has a broken value at " + std::to_string(offsets_[at_ - 1])) : State::Bad;
  }
  return State::More;
}

/// One value where it is written; `next` becomes what follows it.
bool MmdbCheck::value(u32 offset, u32 depth, u32 &next, u32 &height) {
  string_view s = view_.data();
  MmdbValue v;
  if (depth > mmdb_max_depth) return fail("has values nested deeper than " + std::to_string(mmdb_max_depth)), false;
  if (work_-- == 0) return fail("has values that are shared beyond reason"), false;
  if (!mmdb_read(s, offset, v)) return fail("has a broken value at " + std::to_string(offset) + " of its data"), false;
  next = v.next;
  height = 0;
  if (v.type == MmdbType::Pointer) return pointed(v.pointee, depth, height);
  if (v.type == MmdbType::Map || v.type == MmdbType::Array) return members(v, depth, next, height);
  if (v.type == MmdbType::String && !is_utf8(s.substr(v.at, v.size))) return fail("has text that is not UTF-8 at " + std::to_string(offset) + " of its data"), false;
  return true;
}

bool MmdbCheck::members(const MmdbValue &v, u32 depth, u32 &next, u32 &height) {
  string_view s = view_.data();
  next = v.at;
  for (u32 i = 0; i < v.size; i++) {
    u32 below = 0;
    if (v.type == MmdbType::Map) {
      MmdbValue key;
      if (!mmdb_read_through(s, next, key) || key.type != MmdbType::String) return fail("has a map whose key is no text at " + std::to_string(next) + " of its data"), false;
      if (!value(next, depth + 1, next, below)) return false;
    }
    if (!value(next, depth + 1, next, below)) return false;
    height = std::max(height, below + 1);
  }
  return true;
}

/// What a pointer leads to is looked at once, however many lead there.
bool MmdbCheck::pointed(u32 offset, u32 depth, u32 &height) {
  MmdbValue v;
  if (!mmdb_read(view_.data(), offset, v) || v.type == MmdbType::Pointer) return fail("has a pointer to no value at " + std::to_string(offset) + " of its data"), false;
  u8 mark = values_.get()[offset];
  u32 next;
  if (mark == 0 || mark == queued) {
    if (!value(offset, depth, next, height)) return false;
    values_.get()[offset] = static_cast<u8>(height + 1);
  } else {
    height = mark - 1u;
  }
  if (depth + height > mmdb_max_depth) return fail("has values nested deeper than " + std::to_string(mmdb_max_depth)), false;
  return true;
}

std::string check_mmdb(string_view file) {
  MmdbCheck check(file);
  while (check.step(SIZE_MAX) == MmdbCheck::State::More) {}
  return check.error();
}

} // namespace penstock
