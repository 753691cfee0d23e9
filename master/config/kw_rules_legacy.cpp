// SPDX-License-Identifier: BSD-2-Clause
// `reqadd`, `reqrep`, `rspdel` and their kin: removed from the language long ago, still found in files.
// Each line becomes the modern rule that does the same, told in one warning; where there is none, the
// line is refused with the reason.
#include "master/config/kw_proxy.h"
#include "master/config/legacy_line.h"
#include "master/config/sections.h"

namespace penstock {

namespace {

struct Legacy {
  string_view name;
  LegacyVerb verb;
  bool response, ignore_case;
};
constexpr Legacy names[] = {
    {"reqadd", LegacyVerb::Add, false, false},       {"reqallow", LegacyVerb::Allow, false, false},
    {"reqdel", LegacyVerb::Delete, false, false},    {"reqdeny", LegacyVerb::Deny, false, false},
    {"reqiallow", LegacyVerb::Allow, false, true},   {"reqidel", LegacyVerb::Delete, false, true},
    {"reqideny", LegacyVerb::Deny, false, true},     {"reqipass", LegacyVerb::Allow, false, true},
    {"reqirep", LegacyVerb::Replace, false, true},   {"reqitarpit", LegacyVerb::Tarpit, false, true},
    {"reqpass", LegacyVerb::Allow, false, false},    {"reqrep", LegacyVerb::Replace, false, false},
    {"reqtarpit", LegacyVerb::Tarpit, false, false}, {"rspadd", LegacyVerb::Add, true, false},
    {"rspdel", LegacyVerb::Delete, true, false},     {"rspdeny", LegacyVerb::Deny, true, false},
    {"rspidel", LegacyVerb::Delete, true, true},     {"rspideny", LegacyVerb::Deny, true, true},
    {"rspirep", LegacyVerb::Replace, true, true},    {"rsprep", LegacyVerb::Replace, true, false},
};

const Legacy *find(string_view name) {
  for (const Legacy &l : names)
    if (l.name == name) return &l;
  return nullptr;
}

std::optional<LegacyLine> read(Words &words, const Legacy &legacy) {
  LegacyLine line;
  line.verb = legacy.verb, line.response = legacy.response, line.ignore_case = legacy.ignore_case;
  auto search = words.need(legacy.verb == LegacyVerb::Add ? "a header" : "a regular expression");
  if (!search) return std::nullopt;
  line.search = *search;
  if (legacy.verb == LegacyVerb::Replace) {
    auto replacement = words.need("the replacement");
    if (!replacement) return std::nullopt;
    line.replacement = *replacement;
  }
  if (!words.at_end() && words.peek() != "if" && words.peek() != "unless") {
    words.alert("'" + std::string(words.subject()) + "' expects 'if', 'unless' or nothing here, got '" + std::string(words.peek()) + "'");
    return std::nullopt;
  }
  while (!words.at_end()) line.condition.emplace_back(words.next());
  return line;
}

void legacy_rule(LineContext &ctx) {
  const Legacy *legacy = find(ctx.def->name);
  auto line = read(ctx.words, *legacy);
  if (!line) return;
  std::string why;
  auto modern = translate_legacy(*line, why);
  std::string name = "'" + std::string(legacy->name) + "'";
  if (!modern) {
    ctx.diags().alert(ctx.words.line_place(), name + " is an old form that cannot be translated: " + why,
                      legacy->response ? "see the http-response rules" : "see 'http-request replace-path', 'replace-header', 'deny'");
    return;
  }
  ctx.diags().warning(ctx.words.line_place(), name + " is an old form", "write '" + written_line(*modern) + "'");
  std::vector<Word> words;
  for (std::string &w : *modern) words.push_back({std::move(w), ctx.words.place_of(0).column});
  Words translated(std::move(words), ctx.words.line_place(), ctx.diags());
  LineContext rule{.words = translated, .config = ctx.config, .section = ctx.section};
  rule.settings = ctx.settings, rule.proxy = ctx.proxy;
  parse_line_in_section(rule);
}

constexpr KeywordDef row(string_view name, string_view modern) {
  return {.name = name, .sections = in_frontend | in_backend | in_listen, .doc = {modern, "", ""}, .parse = legacy_rule, .standing = Standing::Legacy};
}

constexpr KeywordDef rows[] = {
    row("reqadd", "The old form of 'http-request add-header'."),
    row("reqallow", "The old form of 'http-request allow'."),
    row("reqdel", "The old form of 'http-request del-header'."),
    row("reqdeny", "The old form of 'http-request deny'."),
    row("reqiallow", "The old form of 'http-request allow', without regard to case."),
    row("reqidel", "The old form of 'http-request del-header', without regard to case."),
    row("reqideny", "The old form of 'http-request deny', without regard to case."),
    row("reqipass", "The old form of 'http-request allow', without regard to case."),
    row("reqirep", "The old form of 'http-request replace-uri' and 'replace-header', without regard to case."),
    row("reqitarpit", "The old form of 'http-request tarpit', without regard to case."),
    row("reqpass", "The old form of 'http-request allow'."),
    row("reqrep", "The old form of 'http-request replace-uri' and 'replace-header'."),
    row("reqtarpit", "The old form of 'http-request tarpit'."),
    row("rspadd", "The old form of 'http-response add-header'."),
    row("rspdel", "The old form of 'http-response del-header'."),
    row("rspdeny", "The old form of 'http-response deny'."),
    row("rspidel", "The old form of 'http-response del-header', without regard to case."),
    row("rspideny", "The old form of 'http-response deny', without regard to case."),
    row("rspirep", "The old form of 'http-response replace-header', without regard to case."),
    row("rsprep", "The old form of 'http-response replace-header'."),
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> legacy_rule_keywords() { return rows; }

} // namespace penstock
