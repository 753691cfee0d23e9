// SPDX-License-Identifier: BSD-2-Clause
// Compiles log-format strings (manual, section 8.2.6): literals, %tag, %{flags}tag, %(name:type)tag, %[expression].
#include "shared/base/text.h"
#include "shared/expr/compile.h"
#include "shared/expr/expr_parser.h"
#include "shared/expr/needs.h"
#include "shared/table/registry.h"

namespace penstock {

namespace {

std::string quoted(string_view s) { return "'" + std::string(s) + "'"; }

class FormatParser {
 public:
  FormatParser(Compiler &compiler, string_view text, Place at, u8 flags) : compiler_(compiler), text_(text), place_(at), flags_(flags) {
    out_.text = text;
  }
  std::optional<LogFormat> parse();

 private:
  bool directive();
  bool item_name(LogNode &node);
  bool flag_words(u8 &flags);
  bool tag(LogNode node);
  bool expression(LogNode node);
  bool fail(std::string text, std::string hint = {}) {
    Place at = place_;
    if (at.column) at.column = static_cast<u16>(at.column + at_);
    compiler_.diags().alert(at, std::move(text), std::move(hint));
    return false;
  }
  void literal(char c) {
    bool merges = c == ' ' && flags_ & log_mandatory_dash; // a log line holds no two blanks in a row
    if (out_.nodes.empty() || out_.nodes.back().kind != LogNode::Literal) {
      out_.nodes.emplace_back();
      out_.nodes.back().flags = flags_;
    } else if (merges && out_.nodes.back().text.ends_with(' ')) {
      return;
    }
    out_.nodes.back().text += c;
  }

  Compiler &compiler_;
  string_view text_;
  Place place_;
  u8 flags_;
  size_t at_ = 0;
  LogFormat out_;
};

std::optional<LogFormat> FormatParser::parse() {
  bool good = true;
  while (at_ < text_.size()) {
    if (text_[at_] != '%') {
      literal(text_[at_++]);
      continue;
    }
    size_t before = at_;
    if (directive()) continue;
    good = false;
    if (at_ == before) at_++; // report the others too
    break;
  }
  if (!good) return std::nullopt;
  out_.flags = flags_;
  for (const LogNode &n : out_.nodes)
    if (n.expr) out_.needs |= n.expr->needs;
  return std::move(out_);
}

/// At a percent sign.
bool FormatParser::directive() {
  LogNode node;
  node.flags = flags_;
  at_++;
  if (at_ < text_.size() && text_[at_] == '(' && !item_name(node)) return false;
  if (at_ < text_.size() && text_[at_] == '{' && !flag_words(node.flags)) return false;
  if (at_ >= text_.size()) return fail("the format ends in the middle of a '%' item; write '%%' for a percent sign");
  char c = text_[at_];
  if (c == '%' || c == '"') {
    at_++;
    literal(c);
    return true;
  }
  if (c == '[') return expression(std::move(node));
  return tag(std::move(node));
}

/// "(name)" or "(name:type)".
bool FormatParser::item_name(LogNode &node) {
  size_t close = text_.find(')', at_);
  if (close == string_view::npos) return fail("')' is missing after an item's name");
  string_view inside = text_.substr(at_ + 1, close - at_ - 1);
  size_t colon = inside.find(':');
  string_view name = inside.substr(0, colon), type = colon == string_view::npos ? string_view() : inside.substr(colon + 1);
  for (char c : name)
    if (!is_alpha(c) && !is_digit(c) && c != '_' && c != '-') return fail("an item's name holds letters, digits, '_' and '-', not " + quoted(string_view(&c, 1)));
  if (type == "sint") node.cast = Type::Int;
  else if (type == "bool") node.cast = Type::Bool;
  else if (type == "str") node.cast = Type::Str;
  else if (!type.empty()) return fail("an item's type is str, sint or bool, not " + quoted(type));
  node.item_name = name;
  at_ = close + 1;
  return true;
}

/// "{+Q,-X}".
bool FormatParser::flag_words(u8 &flags) {
  size_t close = text_.find('}', at_);
  if (close == string_view::npos) return fail("'}' is missing after flags");
  for (string_view word : split(text_.substr(at_ + 1, close - at_ - 1), ',')) {
    word = trim(word);
    bool on = !word.starts_with('-');
    if (word.starts_with('+') || word.starts_with('-')) word.remove_prefix(1);
    u8 bit = word == "Q" ? log_quoted : word == "X" ? log_hex : word == "E" ? log_escape_sd : word == "M" ? log_mandatory_dash
           : word == "json" ? log_json : word == "cbor" ? log_cbor : word == "bin" ? log_bin : 0;
    if (!bit) compiler_.diags().warning(place_, "unknown flag " + quoted(word) + " in a log format is ignored; there are Q, X, E, json, cbor and bin");
    flags = static_cast<u8>(on ? flags | bit : flags & ~bit);
  }
  at_ = close + 1;
  return true;
}

bool FormatParser::tag(LogNode node) {
  size_t start = at_;
  while (at_ < text_.size() && is_alpha(text_[at_])) at_++; // "%cp_%fi" is a name, then text
  string_view name = text_.substr(start, at_ - start);
  if (name == "o") { // changes the flags of all that follows
    flags_ = node.flags;
    return true;
  }
  node.tag = find_log_tag(name);
  if (!node.tag) {
    at_ = start;
    NearMiss near(name);
    for (LogTagRows rows : log_tag_tables())
      for (const LogTagDef &t : rows()) near.consider(t.name);
    return fail("the log format has no variable '%" + std::string(name) + "' (write '%%' for a percent sign)", near.hint());
  }
  node.kind = LogNode::Tag;
  out_.nodes.push_back(std::move(node));
  return true;
}

bool FormatParser::expression(LogNode node) {
  at_++;
  Place at = place_;
  if (at.column) at.column = static_cast<u16>(at.column + at_);
  auto expr = std::make_unique<Expr>();
  ExprParser parser(compiler_, text_.substr(at_), at, true);
  if (!parser.parse(*expr)) return false;
  at_ += parser.position();
  if (at_ >= text_.size() || text_[at_] != ']') return fail("']' is missing after " + quoted(expr->text));
  at_++;
  if (u32 missing = missing_needs(expr->needs, compiler_.available())) {
    compiler_.diags().alert(at, quoted(expr->fetch->name) + " cannot be used here (" + std::string(compiler_.where()) + "): it needs " + describe_needs(missing));
    return false;
  }
  node.kind = LogNode::Expression;
  node.expr = std::move(expr);
  out_.nodes.push_back(std::move(node));
  return true;
}

} // namespace

std::optional<LogFormat> Compiler::log_format(string_view text, Place at, u8 default_flags) {
  return FormatParser(*this, text, at, default_flags).parse();
}

std::optional<LogFormat> Compiler::log_format_word(string_view what) {
  Place at = words_.place();
  auto word = words_.need(what);
  if (!word) return std::nullopt;
  return log_format(*word, at);
}

std::optional<string_view> LogFormat::constant() const {
  if (nodes.empty()) return text.empty() ? std::nullopt : std::optional<string_view>("");
  if (nodes.size() == 1 && nodes[0].kind == LogNode::Literal && !(flags & (log_json | log_cbor))) return nodes[0].text;
  return std::nullopt;
}

} // namespace penstock
