// SPDX-License-Identifier: BSD-2-Clause
// What the keyword files of proxy sections share: the lists of their rows (collected by keywords.cpp)
// and the pieces of syntax that several keywords have in common.
#pragma once

#include <span>

#include "master/config/parser.h"
#include "shared/table/registry.h"

namespace penstock {

/// Rows, one function per file.
std::span<const KeywordDef> proxy_keywords();         // kw_proxy.cpp
std::span<const KeywordDef> proxy_timeout_keywords(); // kw_proxy_timeout.cpp
std::span<const KeywordDef> proxy_route_keywords();   // kw_proxy_route.cpp
std::span<const KeywordDef> option_keywords();        // kw_option.cpp
std::span<const KeywordDef> option_more_keywords();   // kw_option_more.cpp
std::span<const KeywordDef> bind_keywords();          // kw_bind.cpp
std::span<const KeywordDef> server_keywords();        // kw_server.cpp
std::span<const KeywordDef> balance_keywords();       // kw_balance.cpp
std::span<const KeywordDef> cookie_keywords();        // kw_cookie.cpp
std::span<const KeywordDef> check_keywords();         // kw_check.cpp
std::span<const KeywordDef> check_script_keywords();  // kw_check_script.cpp
std::span<const KeywordDef> stats_keywords();         // kw_stats.cpp
std::span<const KeywordDef> log_keywords();           // kw_log.cpp
std::span<const KeywordDef> error_keywords();         // kw_errors.cpp
std::span<const KeywordDef> rule_keywords();          // kw_rules.cpp
std::span<const KeywordDef> legacy_rule_keywords();   // kw_rules_legacy.cpp
std::span<const KeywordDef> stick_keywords();         // kw_stick.cpp
std::span<const KeywordDef> stick_table_keywords();   // kw_stick_table.cpp
std::span<const KeywordDef> planned_proxy_keywords(); // kw_proxy_planned.cpp

std::span<const OptionDef> bind_options();       // kw_bind_options.cpp
std::span<const OptionDef> bind_tls_options();   // kw_bind_tls.cpp
std::span<const OptionDef> server_options();     // kw_server_options.cpp
std::span<const OptionDef> server_check_options(); // kw_server_check.cpp
std::span<const OptionDef> server_tls_options(); // kw_server_tls.cpp

/// What is left of the line, words joined by single blanks.
std::string rest_of_line(Words &words);

/// A delay whose default unit is the second; alert and nothing on anything else.
std::optional<Millis> need_delay_seconds(Words &words);

/// `ADDR[:PORT[-PORT]] [usesrc …] [interface NAME]` of `source` lines and server options.
/// Stops at the first word that is not its own.
bool parse_source(Words &words, SourceSettings &out);

/// Rows of an option table by name; built once.
class OptionIndex {
 public:
  explicit OptionIndex(std::span<const OptionRows> tables);
  const OptionDef *find(string_view name) const;
  std::span<const OptionDef *const> all() const { return sorted_; }

 private:
  std::vector<const OptionDef *> sorted_;
};
/// Reads the options of a `bind` or `server` line up to its end, each by its row's function with
/// `target`. Unknown ones get an alert with the nearest names; returns false if anything was wrong.
bool parse_line_options(LineContext &ctx, const OptionIndex &index, void *target);
const OptionIndex &bind_option_index();
const OptionIndex &server_option_index();

} // namespace penstock
