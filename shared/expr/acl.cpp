// SPDX-License-Identifier: BSD-2-Clause
// ACLs and conditions: `acl NAME …`, `{ … }`, and what follows if / unless (manual, sections 7.1, 7.2, 7.4).
#include "shared/base/text.h"
#include "shared/expr/compile.h"
#include "shared/expr/expr_parser.h"
#include "shared/expr/needs.h"
#include "shared/expr/pattern.h"
#include "shared/expr/predefined_acls.h"
#include "shared/model/config.h"
#include "shared/table/registry.h"

namespace penstock {

static std::string quoted(string_view s) { return "'" + std::string(s) + "'"; }

/// The flags of an ACL line, which stand between the expression and the patterns.
struct AclFlags {
  bool ignore_case = false, as_map = false, ended = false; // ended: by "--"
  std::optional<MatchMethod> method;
  std::optional<u32> id;
  struct File {
    std::string name;
    bool ignore_case; // -i holds for what follows it
  };
  std::vector<File> files;
};

static bool read_method(Words &words, AclFlags &flags) {
  auto word = words.need("a match method");
  if (!word) return false;
  if (!flags.files.empty()) {
    words.alert_last("-m must stand before -f: it says how the patterns of the file are read");
    return false;
  }
  flags.method = match_method_of(*word);
  if (flags.method) return true;
  NearMiss near(*word);
  for (string_view m : {"found", "bool", "int", "ip", "bin", "len", "str", "beg", "sub", "dir", "dom", "end", "reg"}) near.consider(m);
  words.alert_last("unknown match method " + quoted(*word) + "; there are found, bool, int, ip, bin, len, str, beg, sub, dir, dom, end and reg", near.hint());
  return false;
}

static bool read_flags(Words &words, AclFlags &flags) {
  for (;;) {
    if (words.take("-i")) flags.ignore_case = true;
    else if (words.take("-n")) continue; // names are never resolved here
    else if (words.take("-M")) flags.as_map = true;
    else if (words.take("-u")) {
      auto id = words.need_int("an identifier", 0, INT32_MAX);
      if (!id) return false;
      flags.id = static_cast<u32>(*id);
    } else if (words.take("-f")) {
      auto file = words.need("a file of patterns");
      if (!file) return false;
      flags.files.push_back({std::string(*file), flags.ignore_case});
    } else if (words.take("-m")) {
      if (!read_method(words, flags)) return false;
    } else {
      flags.ended = words.take("--");
      return true;
    }
  }
}

/// Without -m: that of the derivative (path_beg), of the fetch, or of the type that comes out.
static std::optional<MatchMethod> implied_method(string_view name, const Expr &e) {
  if (e.converters.empty()) {
    if (const AclAliasDef *alias = find_acl_alias(name)) return match_method_of(alias->match);
    if (!e.fetch->acl_match.empty()) return match_method_of(e.fetch->acl_match);
  }
  return default_match(e.out);
}

static bool is_operator(string_view w) { return w == "eq" || w == "ge" || w == "gt" || w == "le" || w == "lt"; }

/// Fetches whose numbers are versions, "3.1".
static bool is_dotted(string_view fetch) { return fetch == "req.ssl_ver" || fetch == "req_ssl_ver"; }

bool Compiler::acl_test(Acl &into, bool until_brace) {
  Place at = words_.place();
  auto word = words_.need("a sample expression");
  if (!word) return false;
  string_view name = leading_name(*word);
  AclTest test;
  ExprParser parser(*this, *word, at);
  if (!parser.parse(test.expr)) return false;

  AclFlags flags;
  if (!read_flags(words_, flags)) return false;
  auto method = flags.method ? flags.method : implied_method(name, test.expr);
  if (!method) {
    diags().alert(at, quoted(*word) + " gives type " + std::string(type_name(test.expr.out)) + ", for which the match method must be named (-m str, -m bin, …)");
    return false;
  }
  test.match = *method;
  if (!castable(test.expr.out, match_input(test.match))) {
    diags().alert(at, quoted(*word) + " gives type " + std::string(type_name(test.expr.out)) + ", which cannot be compared with -m " + std::string(match_method_name(test.match)));
    return false;
  }

  bool takes_patterns = test.match != MatchMethod::Found && test.match != MatchMethod::Bool;
  if (takes_patterns ? !acl_patterns(test, flags, name, at, until_brace) : !skip_patterns(until_brace)) return false;
  into.needs |= test.expr.needs;
  into.tests.push_back(std::move(test));
  return true;
}

/// found and bool compare nothing.
bool Compiler::skip_patterns(bool until_brace) {
  while (!words_.at_end() && !(until_brace && words_.peek() == "}")) words_.next();
  return true;
}

/// A set for every file, and one for the words of the line: also without any, as some can be added at run time.
bool Compiler::acl_patterns(AclTest &test, const AclFlags &flags, string_view criterion, Place at, bool until_brace) {
  if (!config_.pattern_files) config_.pattern_files = std::make_shared<PatternFiles>();
  PatternFiles &lists = *config_.pattern_files;
  const bool dotted = is_dotted(test.expr.fetch->name);
  std::string error;
  auto fail = [&] {
    diags().alert(at, error);
    return false;
  };
  for (const AclFlags::File &file : flags.files) {
    const PatternSet *set = lists.of_file(file.name, {.kind = flags.as_map ? PatternFiles::Map : PatternFiles::Patterns, .method = test.match, .ignore_case = file.ignore_case, .dotted = dotted, .acl = true, .place = at}, error);
    if (!set) return fail();
    test.patterns.push_back(set);
  }
  PatternSet *own = lists.of_words(criterion, test.match, flags.ignore_case, dotted, flags.id, at, error);
  if (!own) return fail();
  const bool numbers = test.match == MatchMethod::Int || test.match == MatchMethod::Len;
  string_view op = "eq";
  bool any = false;
  while (!words_.at_end() && !(until_brace && words_.peek() == "}")) {
    std::string pattern(words_.next());
    if (numbers && is_operator(pattern)) {
      op = pattern == "eq" ? "eq" : pattern == "ge" ? "ge" : pattern == "gt" ? "gt" : pattern == "le" ? "le" : "lt";
      continue;
    }
    std::string text;
    if (numbers ? range_of_operator(op, pattern, dotted, text, error) && lists.add_word(*own, text, error) : lists.add_word(*own, pattern, error)) {
      any = true;
      continue;
    }
    words_.alert_last(error);
    return false;
  }
  own->copy_few();
  if (!any && flags.files.empty() && !flags.ended && !flags.id)
    diags().warning(at, "the ACL has no pattern and never matches; write '--' if that is meant, or -m found or -m bool to test presence or truth");
  test.patterns.insert(any ? test.patterns.begin() : test.patterns.end(), own);
  return true;
}

// ----------------------------------------------------------------------------------------- conditions

const Acl *Compiler::find_acl(string_view name) const {
  const auto *acls = acls_ ? acls_ : proxy_ ? &proxy_->acls : nullptr;
  if (!acls) return nullptr;
  for (const auto &acl : *acls)
    if (acl->name == name) return acl.get();
  return nullptr;
}

/// An ACL of the language's own, made when it is first used in a condition.
std::shared_ptr<const Acl> predefined_acl(Compiler &compiler, string_view name, Place at) {
  for (const PredefinedAcl &p : predefined_acls()) {
    if (p.name != name) continue;
    std::vector<Word> parts;
    for (string_view w : split(p.text, ' ')) parts.push_back({std::string(w), 0});
    Words words(std::move(parts), at, compiler.diags());
    Compiler inner(words, compiler.config(), compiler.proxy(), compiler.available(), compiler.rule_set());
    auto acl = std::make_shared<Acl>();
    acl->name = name;
    acl->place = at;
    return inner.acl_line(*acl) ? acl : nullptr;
  }
  return nullptr;
}

static std::string acl_hint(const std::vector<std::unique_ptr<Acl>> *acls, string_view name) {
  NearMiss near(name);
  if (acls)
    for (const auto &a : *acls) near.consider(a->name);
  for (const PredefinedAcl &p : predefined_acls()) near.consider(p.name);
  return near.hint();
}

std::optional<ConditionTerm> Compiler::condition_term() {
  ConditionTerm term;
  Place at = words_.place();
  std::string word(words_.next());
  size_t marks = 0;
  while (marks < word.size() && word[marks] == '!') term.negated = !term.negated, marks++;
  word.erase(0, marks);
  while (word.empty() && !words_.at_end()) { // "! name"
    at = words_.place();
    word = words_.next();
    if (word == "!") term.negated = !term.negated, word.clear();
  }
  if (word.empty()) {
    diags().alert(at, "an ACL is missing after '!'");
    return std::nullopt;
  }
  if (word == "{") {
    auto acl = std::make_shared<Acl>();
    acl->place = at;
    if (!acl_test(*acl, true)) return std::nullopt;
    if (!words_.take("}")) {
      diags().alert(at, "the condition opened by '{' is not closed: '}' must stand as a word of its own");
      return std::nullopt;
    }
    term.owned = acl;
  } else if (const Acl *named = find_acl(word)) {
    term.acl = named;
  } else {
    term.owned = predefined_acl(*this, word, at);
    if (!term.owned) {
      diags().alert(at, "there is no ACL " + quoted(word) + (acls_ || proxy_ ? " above this line in this section" : ""), acl_hint(acls_ ? acls_ : proxy_ ? &proxy_->acls : nullptr, word));
      return std::nullopt;
    }
  }
  if (term.owned) term.acl = term.owned.get();
  if (u32 missing = missing_needs(term.acl->needs, available_)) {
    std::string what = term.acl->name.empty() ? "this condition" : "ACL " + quoted(term.acl->name);
    diags().warning(at, what + " never matches here (" + std::string(where()) + "): it needs " + describe_needs(missing));
  }
  return term;
}

std::optional<Condition> Compiler::condition() {
  Condition c;
  if (words_.at_end()) return c;
  if (words_.take("unless")) c.unless = true;
  else if (!words_.take("if")) {
    words_.alert("expected 'if' or 'unless' and a condition, found " + quoted(words_.peek()));
    return std::nullopt;
  }
  c.present = true;
  if (words_.at_end()) diags().warning(words_.place(), "nothing follows the word that opens the condition, so that it is never true");
  c.any_of.emplace_back();
  while (!words_.at_end()) {
    if (words_.take("or") || words_.take("||")) {
      c.any_of.emplace_back();
      continue;
    }
    auto term = condition_term();
    if (!term) return std::nullopt;
    c.needs |= term->acl->needs;
    c.any_of.back().push_back(std::move(*term));
  }
  std::erase_if(c.any_of, [](const auto &all_of) { return all_of.empty(); });
  return c;
}

} // namespace penstock
