// SPDX-License-Identifier: BSD-2-Clause
// The list of all tables of configuration keywords. A new kw_*.cpp adds its function here.
#include "master/config/kw_proxy.h"
#include "shared/table/registry.h"

namespace penstock {

std::span<const KeywordDef> kw_global_rows();
std::span<const KeywordDef> kw_global_accepted_rows();
std::span<const KeywordDef> kw_global_env_rows();
std::span<const KeywordDef> kw_global_http_rows();
std::span<const KeywordDef> kw_global_process_rows();
std::span<const KeywordDef> kw_global_stats_rows();
std::span<const KeywordDef> kw_global_tune_rows();
std::span<const KeywordDef> kw_maxmind_rows();
std::span<const KeywordDef> kw_planned_rows();
std::span<const KeywordDef> kw_ring_rows();
std::span<const KeywordDef> kw_userlist_rows();

std::span<const KeywordRows> keyword_tables() {
  static constexpr KeywordRows tables[] = {
      kw_global_rows,
      kw_global_accepted_rows,
      kw_global_env_rows,
      kw_global_http_rows,
      kw_global_process_rows,
      kw_global_stats_rows,
      kw_global_tune_rows,
      kw_maxmind_rows,
      kw_planned_rows,
      kw_ring_rows,
      kw_userlist_rows,
      balance_keywords,
      bind_keywords,
      check_keywords,
      check_script_keywords,
      cookie_keywords,
      error_keywords,
      legacy_rule_keywords,
      log_keywords,
      option_keywords,
      option_more_keywords,
      planned_proxy_keywords,
      proxy_keywords,
      proxy_route_keywords,
      proxy_timeout_keywords,
      rule_keywords,
      server_keywords,
      stats_keywords,
      stick_keywords,
      stick_table_keywords,
  };
  return tables;
}

} // namespace penstock
