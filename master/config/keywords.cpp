// SPDX-License-Identifier: BSD-2-Clause
// The list of all tables of configuration keywords. A new kw_*.cpp adds its function here.
#include "shared/table/registry.h"

namespace penstock {

std::span<const KeywordDef> kw_global_rows();

std::span<const KeywordRows> keyword_tables() {
  static constexpr KeywordRows tables[] = {
      kw_global_rows,
  };
  return tables;
}

} // namespace penstock
