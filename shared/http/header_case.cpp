// SPDX-License-Identifier: BSD-2-Clause
#include "shared/http/header_case.h"

#include <algorithm>

namespace penstock {

HeaderCase::HeaderCase(const std::map<std::string, std::string> &from_lower) {
  entries_.reserve(from_lower.size());
  for (const auto &[lower, written] : from_lower) entries_.push_back({lower, written});
}

string_view HeaderCase::spelling(string_view lower) const {
  auto it = std::ranges::lower_bound(entries_, lower, {}, &Entry::lower);
  return it != entries_.end() && it->lower == lower ? it->written : lower;
}

} // namespace penstock
