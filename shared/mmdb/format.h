// SPDX-License-Identifier: BSD-2-Clause
// The MaxMind DB file format, version 2: a binary search tree over the bits of an address, a data section of
// typed values, a map of metadata at the end (https://maxmind.github.io/MaxMind-DB/). Everything here reads from
// bytes in memory, trusts none of them and never reads past the end. The checker (check.h), the tool
// penstock-mmdb and the shared store use it; look-ups on the traffic path go through libmaxminddb.
#pragma once

#include <optional>
#include <string>

#include "shared/base/address.h"

namespace penstock {

enum class MmdbType : u8 {
  Extended, Pointer, String, Double, Bytes, Uint16, Uint32, Map, Int32, Uint64, Uint128, Array, Container, End, Boolean, Float,
};
inline constexpr u32 mmdb_max_depth = 64; // of maps and arrays in each other

/// One value's head. Scalars: `size` bytes at `at`; maps and arrays: `size` members, the first at `at`.
struct MmdbValue {
  MmdbType type = MmdbType::Extended;
  u32 size = 0;
  u32 at = 0;
  u32 next = 0;     // what follows a scalar or a pointer, as it is written
  u32 pointee = 0;  // of a Pointer
};
/// The head at `offset` of a section; pointers are not followed. False: it leaves the section or is malformed.
bool mmdb_read(string_view section, u32 offset, MmdbValue &out);
/// The same, a pointer followed (a pointer to a pointer is malformed). `next` is what follows in the writing.
bool mmdb_read_through(string_view section, u32 offset, MmdbValue &out);
/// Big-endian number of a scalar of at most 8 bytes.
u64 mmdb_number(string_view section, const MmdbValue &v);
/// Writes the value as JSON. False: malformed, or the text would be longer than `limit`.
bool mmdb_json(string_view section, u32 offset, std::string &out, size_t limit);
/// Text of a JSON string, with its quotes.
void mmdb_quote(std::string &out, string_view text);
/// Decimal text of an integer of up to 16 bytes.
std::string mmdb_decimal(string_view big_endian);

struct MmdbMeta {
  u32 node_count = 0, record_size = 0, ip_version = 0;
  u64 build_epoch = 0;
  u32 tree_bytes = 0, data_bytes = 0; // the data section starts 16 bytes after the tree
  std::string type, description;      // the latter in English
};

/// A database in memory that somebody else holds.
class MmdbView {
 public:
  /// Reads the metadata and the geometry. False and `error` when they are not those of a database.
  bool open(string_view file, std::string &error);

  const MmdbMeta &meta() const { return meta_; }
  string_view tree() const { return file_.substr(0, meta_.tree_bytes); }
  string_view data() const { return file_.substr(meta_.tree_bytes + 16, meta_.data_bytes); }
  string_view metadata() const { return metadata_; }
  u32 record(u32 node, u32 side) const;
  u32 bits() const { return meta_.ip_version == 6 ? 128 : 32; }
  /// Node (or leaf value) after 96 zero bits, and how many of them were taken: where IPv4 lies in an IPv6 tree.
  u32 ipv4_start(u32 &taken) const;

  struct Found {
    u32 prefix = 0;              // bits that the answer holds for, counted in the address' own family
    std::optional<u32> offset;   // in the data section; none: the database knows nothing
  };
  Found find(const Ip &ip) const;
  /// The offset of what a path ("country", "iso_code"; numbers for arrays, negative ones from the end) leads to.
  std::optional<u32> follow(u32 offset, const std::string *path, size_t length) const;

 private:
  string_view file_, metadata_;
  MmdbMeta meta_;
};

} // namespace penstock
