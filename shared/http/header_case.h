// SPDX-License-Identifier: BSD-2-Clause
// `h1-case-adjust`: spellings of field names for peers that insist on capitals. Names are lower case
// everywhere in the proxy; this is looked at only while a head is written to such a peer.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "shared/base/basic.h"

namespace penstock {

class HeaderCase {
 public:
  HeaderCase() = default;
  explicit HeaderCase(const std::map<std::string, std::string> &from_lower);
  /// The spelling to write; `lower` itself where none was given. Both have the same length.
  string_view spelling(string_view lower) const;

 private:
  struct Entry {
    string_view lower, written;
  };
  std::vector<Entry> entries_; // sorted by `lower`; text is the configuration's
};

} // namespace penstock
