// SPDX-License-Identifier: BSD-2-Clause
// What `penstock-mmdb build` reads: lines of a network and a value, CSV, or JSON.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "contrib/mmdb/writer.h"

namespace penstock {

struct BuildInput {
  enum Form : u8 { Plain, Csv, JsonLines } form = Plain;
  std::string field = "value";      // Plain: the key that the value gets
  std::vector<std::string> columns; // Csv: names; empty: the first line has them
};

/// Adds every network to the writer. False and `error`, with the line's number.
bool read_networks(std::istream &in, const BuildInput &input, MmdbWriter &writer, std::string &error);

} // namespace penstock
