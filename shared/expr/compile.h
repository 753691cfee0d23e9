// SPDX-License-Identifier: BSD-2-Clause
// From words to something that runs: expressions, conditions, log formats, rules. Everything is
// checked here, once; running them (run.h) neither allocates from the heap nor fails but by "no match".
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shared/expr/match.h"
#include "shared/expr/sample.h"
#include "shared/table/defs.h"
#include "shared/table/words.h"

namespace penstock {

struct Config;
struct Proxy;
struct NameRef;
class PatternSet; // shared/expr/pattern.h
struct AclFlags;

struct ConverterStep {
  const ConverterDef *def = nullptr;
  Args args;
};

/// fetch(args),converter(args),… with its casts checked.
struct Expr {
  const FetchDef *fetch = nullptr;
  Args args;
  std::vector<ConverterStep> converters;
  Type out = Type::Any;
  u32 needs = 0;
  std::string text; // as written
};

/// One `acl` line, or one anonymous ACL { … }.
struct AclTest {
  Expr expr;
  MatchMethod match = MatchMethod::Found;
  std::vector<const PatternSet *> patterns; // the line's own, and one per file; Config::pattern_files has them
};

/// A named ACL: any of its lines matches.
struct Acl {
  std::string name;
  std::vector<AclTest> tests;
  u32 needs = 0;
  Place place;
};

struct ConditionTerm {
  const Acl *acl = nullptr;
  bool negated = false;
  std::shared_ptr<const Acl> owned; // anonymous and predefined ones
};

/// if/unless: a disjunction of conjunctions. Absent: `always()`.
struct Condition {
  std::vector<std::vector<ConditionTerm>> any_of;
  bool unless = false;
  bool present = false;
  u32 needs = 0;
};

/// Bits of LogNode::flags and LogFormat::flags. What is logged also puts '-' for what is missing and
/// merges blanks (log_mandatory_dash); elsewhere (headers, bodies) text stays as it is written.
enum LogFlags : u8 { log_quoted = 1, log_mandatory_dash = 2, log_escape_sd = 4, log_hex = 8, log_json = 16, log_cbor = 32, log_bin = 64 };

/// A log-format string (manual 8.2.6): literals, %tags, %[expressions].
struct LogNode {
  enum Kind : u8 { Literal, Tag, Expression } kind = Literal;
  u8 flags = 0;   // LogFlags
  Type cast = Type::Any; // of %(name:type): in encoded output
  std::string text;      // Literal
  std::string item_name; // of %(name): the key in encoded output
  const LogTagDef *tag = nullptr;
  std::shared_ptr<const Expr> expr; // shared: formats can be copied
};

struct LogFormat {
  std::vector<LogNode> nodes;
  u8 flags = 0;   // of the whole line
  u32 needs = 0;
  std::string text; // as written; empty: not set
  bool empty() const { return nodes.empty(); }
  /// The literal when it is nothing else, so that a constant costs nothing to "evaluate".
  std::optional<string_view> constant() const;
};

/// One rule of a rule set.
struct Rule {
  const ActionDef *action = nullptr;
  std::unique_ptr<ActionData> data;
  Condition condition;
  Place place;
};
using RuleList = std::vector<std::unique_ptr<Rule>>;

/// The compiler's view of a line: its words and what names may refer to. Action parsers use it.
class Compiler {
 public:
  Compiler(Words &words, Config &config, Proxy *proxy, u32 available, u32 rule_set = 0)
      : words_(words), config_(config), proxy_(proxy), available_(available), rule_set_(rule_set) {}

  Words &words() { return words_; }
  Config &config() { return config_; }
  Proxy *proxy() { return proxy_; }         // null in global or checks
  u32 available() const { return available_; } // Needs that hold where this runs
  u32 rule_set() const { return rule_set_; }

  /// Parses the expression at the cursor (one or more words, as the manual's sample syntax allows).
  std::optional<Expr> expression();
  /// Parses an expression out of a text of its own, such as the inside of %[…].
  std::optional<Expr> expression_in(string_view text, Place at);
  /// Compiles a log-format string.
  std::optional<LogFormat> log_format(string_view text, Place at, u8 default_flags = 0);
  /// The same of the word at the cursor, which moves on.
  std::optional<LogFormat> log_format_word(string_view what);
  /// `if …` / `unless …` at the cursor up to the line's end; a Condition that is not present if neither is there.
  std::optional<Condition> condition();
  /// `table NAME` at the cursor, or the proxy's own table: known when all is read. Null after an alert.
  std::shared_ptr<NameRef> table_option(const Expr &key, string_view what);
  /// The text in parentheses of an action's name, "txn.x" of "set-var(txn.x)"; the number of "track-sc0".
  string_view action_argument() const { return action_argument_; }
  void set_action_argument(string_view s) { action_argument_ = s; }
  /// What follows `acl NAME`: an expression, flags and patterns, to the end of the line. Several lines of a name add up.
  bool acl_line(Acl &into) { return acl_test(into, false); }
  /// Where named ACLs are looked up; the proxy's own unless set.
  void set_acl_scope(const std::vector<std::unique_ptr<Acl>> *acls) { acls_ = acls; }
  Diagnostics &diags() { return words_.diags(); }
  /// What runs here, for messages: "http-request rules".
  string_view where() const;

 private:
  friend class ExprParser;
  bool acl_test(Acl &into, bool until_brace);
  const Acl *find_acl(string_view name) const;
  bool acl_patterns(AclTest &test, const AclFlags &flags, string_view criterion, Place at, bool until_brace);
  bool skip_patterns(bool until_brace);
  std::optional<ConditionTerm> condition_term();

  Words &words_;
  Config &config_;
  Proxy *proxy_;
  u32 available_;
  u32 rule_set_;
  string_view action_argument_;
  const std::vector<std::unique_ptr<Acl>> *acls_ = nullptr;
};

/// Looks up the proxies, servers and userlists that expressions name; alerts about those that do not exist.
/// To be called once after all sections are read.
void resolve_names(Config &config, Diagnostics &diags);
/// What is available (Needs) in a rule set, by RuleSets bit.
u32 available_in(u32 rule_set);
/// What logs may use, and what is available when a backend is chosen or a server is used.
inline constexpr u32 available_for_routing = needs_client | needs_session | needs_req_bytes | needs_req_head | needs_req_body | needs_stream;

/// Parses a whole rule line whose cursor stands on the action's name, condition included.
std::unique_ptr<Rule> compile_rule(Compiler &compiler);

} // namespace penstock
