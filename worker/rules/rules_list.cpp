// SPDX-License-Identifier: BSD-2-Clause
// All rows of rules, by kind: the explicit lists that make a file's rows part of the language.
#include "worker/rules/rows.h"

namespace penstock {

std::span<const FetchDef> fetch_constants();

std::span<const FetchRows> fetch_tables() {
  static constexpr FetchRows tables[] = {fetch_constants};
  return tables;
}
std::span<const ConverterRows> converter_tables() { return {}; }
std::span<const ActionRows> action_tables() { return {}; }
std::span<const LogTagRows> log_tag_tables() { return {}; }
std::span<const AclAliasRows> acl_alias_tables() { return {}; }

} // namespace penstock
