// SPDX-License-Identifier: BSD-2-Clause
// The list of all tables of configuration keywords. A new kw_*.cpp adds its function here.
#include "master/config/kw_proxy.h"
#include "shared/table/registry.h"

namespace penstock {

std::span<const KeywordDef> kw_global_rows();

std::span<const KeywordRows> keyword_tables() {
  static constexpr KeywordRows tables[] = {
      kw_global_rows,
      balance_keywords,
      bind_keywords,
      option_keywords,
      option_more_keywords,
      proxy_keywords,
      proxy_route_keywords,
      proxy_timeout_keywords,
      server_keywords,
  };
  return tables;
}

} // namespace penstock
