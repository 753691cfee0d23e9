// SPDX-License-Identifier: BSD-2-Clause
// Global keywords that change the environment (manual 3.1): seen by later "$VARIABLES", by external
// checks and by `show env`.
#include <algorithm>
#include <cstdlib>

#include "master/config/parser.h"
#include "shared/table/registry.h"

extern char **environ;

namespace penstock {

namespace {

void set_variable(LineContext &ctx, bool overwrite) {
  auto name = ctx.words.need("the name of a variable and its value");
  if (!name) return;
  if (name->find('=') != string_view::npos) return ctx.words.alert_last("the name of a variable cannot contain '='");
  auto value = ctx.words.need("a value for '" + std::string(*name) + "'");
  if (!value) return;
  std::string n(*name), v(*value);
  if (!overwrite && getenv(n.c_str())) return;
  setenv(n.c_str(), v.c_str(), 1);
  ctx.config.global.environment.emplace_back(std::move(n), std::move(v));
}

void unset_variables(LineContext &ctx) {
  if (ctx.words.at_end()) return ctx.words.alert("'unsetenv' expects names of variables");
  while (!ctx.words.at_end()) unsetenv(std::string(ctx.words.next()).c_str());
}

/// Keeps only the variables that are named (and those that the program itself defines).
void reset_variables(LineContext &ctx) {
  std::vector<std::string> keep;
  while (!ctx.words.at_end()) keep.emplace_back(ctx.words.next());
  std::vector<std::string> drop;
  for (char **entry = environ; entry && *entry; entry++) {
    string_view e = *entry;
    std::string name(e.substr(0, e.find('=')));
    if (name.starts_with("HAPROXY_") || std::find(keep.begin(), keep.end(), name) != keep.end()) continue;
    drop.push_back(std::move(name));
  }
  for (const std::string &name : drop) unsetenv(name.c_str());
}

constexpr KeywordDef rows[] = {
    {.name = "presetenv", .sections = in_global,
     .doc = {.summary = "Sets a variable of the environment unless it is set already.", .text = "", .example = "global\n    presetenv SITE lab"},
     .parse = [](LineContext &ctx) { set_variable(ctx, false); }},
    {.name = "resetenv", .sections = in_global,
     .doc = {.summary = "Empties the environment, all but the variables that are named.", .text = "", .example = "global\n    resetenv PATH HOME"},
     .parse = reset_variables},
    {.name = "setenv", .sections = in_global,
     .doc = {.summary = "Sets a variable of the environment.", .text = "Later lines see it inside double quotes: \"${SITE}\".", .example = "global\n    setenv SITE lab"},
     .parse = [](LineContext &ctx) { set_variable(ctx, true); }},
    {.name = "unsetenv", .sections = in_global,
     .doc = {.summary = "Removes variables from the environment.", .text = "", .example = "global\n    unsetenv http_proxy https_proxy"},
     .parse = unset_variables},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> kw_global_env_rows() { return rows; }

} // namespace penstock
