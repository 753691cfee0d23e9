// SPDX-License-Identifier: BSD-2-Clause
#include "master/config/keyword_list.h"

#include <algorithm>
#include <set>

#include "master/config/sections.h"
#include "shared/base/text.h"
#include "shared/table/registry.h"

namespace penstock {

namespace {

std::string arguments(const ArgSpecs &specs) {
  std::string out;
  bool optional = false;
  for (const ArgSpec &spec : specs) {
    if (spec.type == ArgType::None) break;
    if (spec.optional && !optional) out += "[", optional = true;
    if (out.size() > (optional ? 1u : 0u)) out += ",";
    out += spec.name;
  }
  if (out.empty()) return out;
  return "(" + out + (optional ? "])" : ")");
}

/// Lines sorted and unique, each indented as told.
void print(std::string &out, const std::set<std::string> &lines, string_view indent) {
  for (const std::string &line : lines) out += std::string(indent) + line + "\n";
}

void options_of(std::set<std::string> &lines, string_view line_start, std::span<const OptionRows> tables) {
  for (OptionRows rows : tables)
    for (const OptionDef &row : rows())
      if (row.standing != Standing::Planned) lines.insert(std::string(line_start) + std::string(row.name) + (row.value.empty() ? "" : " " + std::string(row.value)));
}

struct ActionFamily {
  string_view keyword;
  u32 set, sections;
};
constexpr ActionFamily action_families[] = {
    {"http-after-response ", at_http_after, in_proxies},      {"http-request ", at_http_request, in_proxies},
    {"http-response ", at_http_response, in_proxies},         {"tcp-request connection ", at_tcp_connection, in_front},
    {"tcp-request content ", at_tcp_request, in_proxies},     {"tcp-request session ", at_tcp_session, in_front},
    {"tcp-response content ", at_tcp_response, in_back},
};

void actions_of(std::set<std::string> &lines, u32 section) {
  for (const ActionFamily &family : action_families) {
    if (!(family.sections & section)) continue;
    for (ActionRows rows : action_tables())
      for (const ActionDef &row : rows()) {
        if (!(row.sets & family.set) || row.standing == Standing::Planned) continue;
        std::string name(row.name);
        if (name.ends_with('(') || name.ends_with('#')) name.back() = '*';
        lines.insert(std::string(family.keyword) + name);
      }
  }
}

void list_configuration(std::string &out) {
  out += "# Configuration keywords by section:\n";
  for (const SectionDef &section : section_rows()) {
    if (section.standing == Standing::Planned) continue;
    out += std::string(section.name) + "\n";
    std::set<std::string> lines;
    for (KeywordRows rows : keyword_tables())
      for (const KeywordDef &row : rows())
        if ((row.sections & section.bit) && row.standing != Standing::Planned) lines.insert(std::string(row.name));
    if (section.bit & (in_frontend | in_listen)) options_of(lines, "bind <addr> ", bind_option_tables());
    if (section.bit & (in_backend | in_listen)) options_of(lines, "server <name> <addr> ", server_option_tables());
    if (section.bit & in_proxies) actions_of(lines, section.bit);
    print(out, lines, "\t");
  }
}

void list_acls(std::string &out) {
  out += "# ACL derivatives:\n";
  std::set<std::string> lines;
  for (AclAliasRows rows : acl_alias_tables())
    for (const AclAliasDef &row : rows()) lines.insert(std::string(row.name) + " = " + std::string(row.fetch) + " -m " + std::string(row.match));
  print(out, lines, "");
}

void list_converters(std::string &out) {
  out += "# Converters:\n";
  std::set<std::string> lines;
  for (ConverterRows rows : converter_tables())
    for (const ConverterDef &row : rows())
      lines.insert(std::string(row.name) + arguments(row.args) + ": " + std::string(type_name(row.in)) + " => " + std::string(type_name(row.out)));
  print(out, lines, "");
}

void list_fetches(std::string &out) {
  out += "# Sample fetches:\n";
  std::set<std::string> lines;
  for (FetchRows rows : fetch_tables())
    for (const FetchDef &row : rows()) lines.insert(std::string(row.name) + arguments(row.args) + ": " + std::string(type_name(row.out)));
  print(out, lines, "");
}

struct ListClass {
  string_view name, about;
  void (*list)(std::string &out);
};
constexpr ListClass list_classes[] = {
    {"acl", "ACL derivatives", list_acls},
    {"cfg", "configuration keywords", list_configuration},
    {"cnv", "converters", list_converters},
    {"flt", "filters", [](std::string &out) { out += "# Filters:\n"; }},
    {"smp", "sample fetches", list_fetches},
    {"svc", "services", [](std::string &out) { out += "# Services:\n"; }},
};

} // namespace

std::string list_keywords(string_view classes) {
  std::string out;
  if (classes.empty() || classes == "help") {
    out += "# Classes of keywords:\nall: all of them\n";
    for (const ListClass &c : list_classes) out += std::string(c.name) + ": " + std::string(c.about) + "\n";
    return out;
  }
  for (string_view wanted : split(classes, ',')) {
    bool known = wanted == "all";
    for (const ListClass &c : list_classes)
      if (wanted == "all" || c.name == wanted) c.list(out), known = true;
    if (!known) out += "# There is no class '" + std::string(wanted) + "' of keywords.\n";
  }
  return out;
}

} // namespace penstock
