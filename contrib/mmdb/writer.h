// SPDX-License-Identifier: BSD-2-Clause
// Makes MaxMind databases: networks and their records in, the bytes of a file out. Networks may be nested, the
// longest prefix wins; equal records and equal texts are written once. Used by penstock-mmdb only.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "shared/base/address.h"

namespace Poco::Dynamic { class Var; }

namespace penstock {

class MmdbWriter {
 public:
  /// `record` is a JSON value; false and `error` when it cannot be read.
  bool add(const Network &network, const std::string &record, std::string &error);
  std::string type = "penstock", description = "made by penstock-mmdb";
  u64 build_epoch = 0;
  u32 ip_version = 0;  // 0: 4 if all networks are, else 6
  u32 record_size = 0; // 0: the smallest that does
  /// The whole file; "" and `error` when it would be too large for the format.
  std::string file(std::string &error);

 private:
  struct Entry { Network network; u32 record; };
  struct Node { i64 child[2] = {-1, -1}; }; // -1 nothing, >= 0 a node, <= -2 record -2 - n
  void insert(const Entry &e, bool six);
  void encode(std::string &out, const Poco::Dynamic::Var &value);
  void encode_text(std::string &out, const std::string &text);
  std::string metadata(u32 nodes) const;
  std::string tree(u32 bits) const;

  std::vector<Entry> entries_;
  std::vector<Node> nodes_;
  std::string data_;
  std::vector<u32> offsets_;                         // of records
  std::unordered_map<std::string, u32> records_;     // by their JSON
  std::unordered_map<std::string, size_t> texts_;    // where a text was written
};

} // namespace penstock
