// SPDX-License-Identifier: BSD-2-Clause
// All rows of rules, by kind: the explicit lists that make a file's rows part of the language.
#include "worker/rules/rows.h"

namespace penstock {

std::span<const FetchDef> fetch_constants();
std::span<const FetchDef> fetch_content();
std::span<const FetchDef> fetch_state();
std::span<const FetchDef> fetch_fields();
std::span<const FetchDef> fetch_hello();
std::span<const FetchDef> fetch_auth();
std::span<const FetchDef> fetch_connection();
std::span<const FetchDef> fetch_request();
std::span<const FetchDef> fetch_stream();
std::span<const FetchDef> fetch_table();
std::span<const FetchDef> fetch_table_sc();
std::span<const FetchDef> fetch_table_sc0();
std::span<const FetchDef> fetch_table_sc1();
std::span<const FetchDef> fetch_table_sc2();
std::span<const FetchDef> fetch_table_src();
std::span<const ConverterDef> conv_encode();
std::span<const ConverterDef> conv_hash();
std::span<const ConverterDef> conv_fix();
std::span<const ConverterDef> conv_json();
std::span<const ConverterDef> conv_mqtt();
std::span<const ConverterDef> conv_protobuf();
std::span<const ConverterDef> conv_token();
std::span<const ConverterDef> conv_when();
std::span<const ConverterDef> conv_lookup();
std::span<const ConverterDef> conv_maxmind();
std::span<const ConverterDef> conv_number();
std::span<const ConverterDef> conv_state();
std::span<const ConverterDef> conv_table();
std::span<const ConverterDef> conv_table_values();
std::span<const ConverterDef> conv_text();
std::span<const ConverterDef> conv_time_address();
std::span<const ActionDef> act_fields();
std::span<const ActionDef> act_patterns();
std::span<const ActionDef> act_normalize();
std::span<const ActionDef> act_redirect();
std::span<const ActionDef> act_reply();
std::span<const ActionDef> act_service();
std::span<const ActionDef> act_stream();
std::span<const ActionDef> act_track();
std::span<const ActionDef> act_uri();
std::span<const ActionDef> act_vars();
std::span<const ActionDef> act_verdict();
std::span<const LogTagDef> log_tags();
std::span<const AclAliasDef> acl_aliases();

std::span<const FetchRows> fetch_tables() {
  static constexpr FetchRows tables[] = {fetch_auth, fetch_connection, fetch_constants, fetch_content, fetch_state, fetch_fields, fetch_hello, fetch_request, fetch_stream,
                                         fetch_table, fetch_table_sc, fetch_table_sc0, fetch_table_sc1, fetch_table_sc2, fetch_table_src};
  return tables;
}
std::span<const ConverterRows> converter_tables() {
  static constexpr ConverterRows tables[] = {conv_encode, conv_fix, conv_hash, conv_json, conv_lookup, conv_maxmind, conv_mqtt, conv_number, conv_protobuf, conv_state,
                                             conv_table, conv_table_values, conv_text, conv_time_address, conv_token, conv_when};
  return tables;
}
std::span<const ActionRows> action_tables() {
  static constexpr ActionRows tables[] = {act_fields, act_normalize, act_patterns, act_redirect, act_reply, act_service, act_stream, act_track, act_uri, act_vars, act_verdict};
  return tables;
}
std::span<const LogTagRows> log_tag_tables() {
  static constexpr LogTagRows tables[] = {log_tags};
  return tables;
}
std::span<const AclAliasRows> acl_alias_tables() {
  static constexpr AclAliasRows tables[] = {acl_aliases};
  return tables;
}

} // namespace penstock
