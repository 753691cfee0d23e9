// SPDX-License-Identifier: BSD-2-Clause
// All rows, by kind. Each source file of rows exposes one function that returns its span; the lists
// of those functions are in registry_*.cpp, so that nothing depends on static initialisation.
#pragma once

#include <span>

#include "shared/table/defs.h"

namespace penstock {

using KeywordRows = std::span<const KeywordDef> (*)();
using OptionRows = std::span<const OptionDef> (*)();
using FetchRows = std::span<const FetchDef> (*)();
using ConverterRows = std::span<const ConverterDef> (*)();
using ActionRows = std::span<const ActionDef> (*)();
using LogTagRows = std::span<const LogTagDef> (*)();
using AclAliasRows = std::span<const AclAliasDef> (*)();

/// The lists (master/config/keywords.cpp, worker/rules/rules_list.cpp).
std::span<const KeywordRows> keyword_tables();
std::span<const OptionRows> bind_option_tables();
std::span<const OptionRows> server_option_tables();
std::span<const FetchRows> fetch_tables();
std::span<const ConverterRows> converter_tables();
std::span<const ActionRows> action_tables();
std::span<const LogTagRows> log_tag_tables();
std::span<const AclAliasRows> acl_alias_tables();

/// Look-ups by exact name; null when there is none. Built once into sorted indexes at first use.
const FetchDef *find_fetch(string_view name);
const ConverterDef *find_converter(string_view name);
const LogTagDef *find_log_tag(string_view name);
const AclAliasDef *find_acl_alias(string_view name);
/// An action by name within one rule set; "set-var(txn.x)" finds "set-var(".
const ActionDef *find_action(string_view word, u32 set);

/// Rows of a table are sorted by name, unique, documented, and have a function. For static_assert.
template <class Def> constexpr bool sorted_and_documented(std::span<const Def> rows) {
  for (size_t i = 0; i < rows.size(); i++) {
    if (rows[i].name.empty() || rows[i].doc.summary.empty()) return false;
    if (i > 0 && !(rows[i - 1].name < rows[i].name)) return false;
  }
  return true;
}

} // namespace penstock
