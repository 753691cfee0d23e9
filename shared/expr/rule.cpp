// SPDX-License-Identifier: BSD-2-Clause
// A rule line: the action's name and arguments, then the condition.
#include "shared/base/text.h"
#include "shared/expr/compile.h"
#include "shared/table/known_names.h"
#include "shared/table/registry.h"

namespace penstock {

static void report_unknown_action(Compiler &compiler, string_view word) {
  string_view name = word.substr(0, word.find('('));
  string_view without_number = name.substr(0, name.find_last_not_of("0123456789") + 1); // track-sc1
  bool in_other_rules = false;
  for (ActionRows rows : action_tables())
    for (const ActionDef &a : rows()) in_other_rules |= a.name.substr(0, a.name.find('(')) == name;
  if (!in_other_rules && (language_has_action(name) || language_has_action(without_number))) {
    compiler.words().alert_last("the action '" + std::string(name) + "' is known but not supported yet");
    return;
  }
  NearMiss near(name);
  for (ActionRows rows : action_tables())
    for (const ActionDef &a : rows())
      if (a.sets & compiler.rule_set()) near.consider(a.name.ends_with('(') ? a.name.substr(0, a.name.size() - 1) : a.name);
  compiler.words().alert_last("'" + std::string(compiler.where()) + "' knows no action '" + std::string(word) + "'", near.hint());
}

std::unique_ptr<Rule> compile_rule(Compiler &compiler) {
  Words &words = compiler.words();
  auto rule = std::make_unique<Rule>();
  rule->place = words.place();
  auto word = words.need("an action");
  if (!word) return nullptr;
  rule->action = find_action(*word, compiler.rule_set());
  if (!rule->action) {
    report_unknown_action(compiler, *word);
    return nullptr;
  }
  if (rule->action->standing == Standing::Planned) {
    words.alert_last("action '" + std::string(*word) + "' is known but not implemented yet");
    return nullptr;
  }
  string_view argument;
  if (rule->action->name.ends_with('#')) argument = word->substr(rule->action->name.size() - 1);
  if (rule->action->name.ends_with('(')) {
    size_t open = word->find('(');
    if (!word->ends_with(')')) {
      words.alert_last("')' is missing at the end of '" + std::string(*word) + "'");
      return nullptr;
    }
    argument = word->substr(open + 1, word->size() - open - 2);
  }
  compiler.set_action_argument(argument);
  if (rule->action->parse && !rule->action->parse(compiler, rule->data)) return nullptr;
  auto condition = compiler.condition();
  if (!condition || !words.end()) return nullptr;
  rule->condition = std::move(*condition);
  return rule;
}

} // namespace penstock
