// SPDX-License-Identifier: BSD-2-Clause
#include "master/config/conditions.h"

#include <openssl/crypto.h>
#include <openssl/opensslv.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "master/config/reader.h"
#include "shared/base/build_info.h"
#include "shared/base/switches.h"
#include "shared/base/text.h"
#include "shared/table/words.h"

namespace penstock {

// -------------------------------------------------------------------------------------------- versions

namespace {

/// major.minor.patch[letter]; development versions sort before the release that they lead to.
struct Version {
  i64 major = 0, minor = 0, patch = 0, stage = 0; // stage: the release is higher than any -devN or -rcN
  auto operator<=>(const Version &) const = default;
};
constexpr i64 released = INT64_MAX;

i64 take_digits(string_view &s) {
  i64 n = 0;
  while (!s.empty() && is_digit(s.front())) {
    n = std::min<i64>(n * 10 + (s.front() - '0'), 1'000'000'000);
    s.remove_prefix(1);
  }
  return n;
}

std::optional<Version> parse_product_version(string_view s) {
  Version v;
  if (s.starts_with('v')) s.remove_prefix(1);
  if (s.empty() || !is_digit(s.front())) return std::nullopt;
  v.major = take_digits(s);
  if (s.starts_with('.')) s.remove_prefix(1), v.minor = take_digits(s);
  if (s.starts_with('.')) s.remove_prefix(1), v.patch = take_digits(s);
  v.stage = released;
  // Stages go dev < rc < release; what follows ("-1ubuntu2", "-abcdef") is the packager's business.
  bool dev = s.starts_with("-dev"), rc = s.starts_with("-rc");
  if (dev) s.remove_prefix(4), v.stage = take_digits(s);
  else if (rc) s.remove_prefix(3), v.stage = 1'000'000'000 + take_digits(s);
  if (!s.empty() && s.front() != '-' && s.front() != '.' && !is_space(s.front())) return std::nullopt;
  return v;
}

/// 1.0.2k, 3.0.15, 1.1.1-beta2: the letter counts as the stage.
std::optional<Version> parse_openssl_version(string_view s) {
  Version v;
  if (s.empty() || !is_digit(s.front())) return std::nullopt;
  v.major = take_digits(s);
  if (s.starts_with('.')) s.remove_prefix(1), v.minor = take_digits(s);
  if (s.starts_with('.')) s.remove_prefix(1), v.patch = take_digits(s);
  while (!s.empty() && is_alpha(s.front())) v.stage = v.stage * 27 + (ascii_lower(s.front()) - 'a' + 1), s.remove_prefix(1);
  if (s.starts_with("-beta") || s.starts_with("-alpha")) v.stage = -1;
  else if (!s.empty() && s.front() != '-' && s.front() != ' ') return std::nullopt;
  return v;
}

Version our_version() { return *parse_product_version(language_version); }

Version openssl_now() {
  string_view text = OpenSSL_version(OPENSSL_VERSION); // "OpenSSL 3.0.17 1 Jul 2025"
  size_t digit = text.find_first_of("0123456789");
  if (digit == string_view::npos) return {};
  return parse_openssl_version(text.substr(digit, text.find(' ', digit) - digit)).value_or(Version{});
}

// ------------------------------------------------------------------------------------------ predicates

struct Arguments {
  std::vector<std::string> list;
  const std::string &operator[](size_t i) const { return list[i]; }
};
enum class Answer : u8 { No, Yes, Bad };
Answer answer(bool b) { return b ? Answer::Yes : Answer::No; }

template <class Compare> Answer compare_version(const std::optional<Version> &wanted, const Version &ours, Compare holds) {
  return wanted ? answer(holds(ours, *wanted)) : Answer::Bad;
}
bool not_before(const Version &ours, const Version &wanted) { return ours >= wanted; }
bool before(const Version &ours, const Version &wanted) { return ours < wanted; }

struct EnabledRow {
  string_view name;
  bool Switches::*flag;
  bool when = true;
};
constexpr EnabledRow enabled_rows[] = {
    {"EPOLL", &Switches::epoll},
    {"FAST-FORWARD", &Switches::fast_forward},
    {"GETADDRINFO", &Switches::getaddrinfo},
    {"POLL", &Switches::poll},
    {"REUSEPORT", &Switches::reuseport},
    {"SERVER-SSL-VERIFY-NONE", &Switches::server_verify, false},
    {"SPLICE", &Switches::splice},
};

Answer is_enabled(const Arguments &a) {
  for (const EnabledRow &row : enabled_rows)
    if (row.name == a[0]) return answer(switches.*row.flag == row.when);
  return Answer::No;
}
Answer feature_works(const Arguments &a) { return answer(has_feature(a[0])); }

struct Predicate {
  string_view name;
  size_t arguments;
  Answer (*eval)(const Arguments &);
};
constexpr Predicate predicates[] = {
    {"awslc_api_atleast", 1, [](const Arguments &) { return Answer::Bad; }},
    {"awslc_api_before", 1, [](const Arguments &) { return Answer::Bad; }},
    {"defined", 1, [](const Arguments &a) { return answer(getenv(a[0].c_str()) != nullptr); }},
    {"enabled", 1, is_enabled},
    {"feature", 1, feature_works},
    {"openssl_version_atleast", 1, [](const Arguments &a) { return compare_version(parse_openssl_version(a[0]), openssl_now(), not_before); }},
    {"openssl_version_before", 1, [](const Arguments &a) { return compare_version(parse_openssl_version(a[0]), openssl_now(), before); }},
    {"ssllib_name_startswith", 1, [](const Arguments &a) { return answer(string_view(OpenSSL_version(OPENSSL_VERSION)).starts_with(a[0])); }},
    {"streq", 2, [](const Arguments &a) { return answer(a[0] == a[1]); }},
    {"strneq", 2, [](const Arguments &a) { return answer(a[0] != a[1]); }},
    {"strstr", 2, [](const Arguments &a) { return answer(a[0].find(a[1]) != std::string::npos); }},
    {"version_atleast", 1, [](const Arguments &a) { return compare_version(parse_product_version(a[0]), our_version(), not_before); }},
    {"version_before", 1, [](const Arguments &a) { return compare_version(parse_product_version(a[0]), our_version(), before); }},
};

const Predicate *find_predicate(string_view name) {
  for (const Predicate &p : predicates)
    if (p.name == name) return &p;
  return nullptr;
}

// -------------------------------------------------------------------------------------------- grammar

/// or := and { "||" and };  and := term { "&&" term };  term := "!" term | "(" or ")" | integer | name "(" args ")"
class ConditionParser {
 public:
  explicit ConditionParser(string_view text) : text_(text) {}

  ConditionResult run() {
    skip_blanks();
    if (at_ >= text_.size()) return {};
    bool value = parse_or(0);
    skip_blanks();
    if (ok() && at_ < text_.size()) fail("unexpected '" + std::string(text_.substr(at_, 1)) + "' at the end of the condition");
    if (!ok()) return {ConditionResult::Malformed, std::move(error_), error_at_};
    return {value ? ConditionResult::True : ConditionResult::False, {}, 0};
  }

 private:
  static constexpr unsigned max_depth = 1024; // of parentheses and negations: the stack is finite

  bool ok() const { return error_.empty(); }
  bool fail(std::string text) {
    if (ok()) error_ = std::move(text), error_at_ = at_;
    return false;
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) at_++;
  }
  bool take(string_view token) {
    skip_blanks();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  bool parse_or(unsigned depth) {
    bool value = parse_and(depth);
    while (ok() && take("||")) {
      bool right = parse_and(depth);
      value = value || right;
    }
    return value;
  }
  bool parse_and(unsigned depth) {
    bool value = parse_term(depth);
    while (ok() && take("&&")) {
      bool right = parse_term(depth);
      value = value && right;
    }
    return value;
  }
  bool parse_term(unsigned depth) {
    if (depth > max_depth) return fail("the condition is nested too deeply");
    if (take("!")) return !parse_term(depth + 1);
    if (take("(")) {
      bool value = parse_or(depth + 1);
      if (ok() && !take(")")) return fail("a closing parenthesis is missing");
      return value;
    }
    skip_blanks();
    if (at_ >= text_.size()) return fail("the condition ends where a value is expected");
    if (is_digit(text_[at_]) || ((text_[at_] == '-' || text_[at_] == '+') && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) return parse_integer();
    return parse_predicate();
  }
  bool parse_integer() {
    if (!is_digit(text_[at_])) at_++;
    bool non_zero = false;
    if (text_.substr(at_, 2) == "0x" && at_ + 2 < text_.size() && hex_digit(text_[at_ + 2]) >= 0) {
      for (at_ += 2; at_ < text_.size() && hex_digit(text_[at_]) >= 0; at_++) non_zero |= text_[at_] != '0';
      return non_zero;
    }
    while (at_ < text_.size() && is_digit(text_[at_])) non_zero |= text_[at_++] != '0';
    return non_zero;
  }
  bool parse_predicate() {
    size_t start = at_;
    while (at_ < text_.size() && (is_alpha(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '_')) at_++;
    string_view name = text_.substr(start, at_ - start);
    const Predicate *predicate = find_predicate(name);
    if (!predicate || at_ >= text_.size() || text_[at_] != '(') {
      at_ = start;
      NearMiss near(name);
      for (const Predicate &p : predicates) near.consider(p.name);
      std::string hint = predicate ? std::string() : near.hint();
      if (predicate) return fail("'" + std::string(name) + "' must be followed by its arguments in parentheses");
      size_t stop = std::max(text_.find_first_of(" ()&|", at_), at_ + 1);
      return fail("unknown predicate '" + std::string(text_.substr(start, stop - start)) + "'" + (hint.empty() ? "" : ", " + hint));
    }
    at_++;
    Arguments arguments;
    if (!parse_arguments(arguments)) return false;
    if (arguments.list.size() != predicate->arguments) {
      at_ = start;
      return fail("'" + std::string(name) + "' takes " + std::to_string(predicate->arguments) + " argument(s), not " + std::to_string(arguments.list.size()));
    }
    Answer a = predicate->eval(arguments);
    if (a != Answer::Bad) return a == Answer::Yes;
    at_ = start;
    if (name.starts_with("awslc")) return fail("'" + std::string(name) + "' cannot be answered: the TLS library is not AWS-LC");
    return fail("'" + arguments[0] + "' is not a version");
  }
  /// Up to and with the closing parenthesis; the second level of quoting (manual 2.2).
  bool parse_arguments(Arguments &out) {
    std::string current;
    size_t open = at_ - 1;
    char quote = 0;
    for (; at_ < text_.size(); at_++) {
      char c = text_[at_];
      if (quote) {
        if (c == quote) quote = 0;
        else if (c == '\\' && quote == '"') current += unescape();
        else current += c;
      } else if (c == '"' || c == '\'') quote = c;
      else if (c == '\\') current += unescape();
      else if (c == ',') out.list.push_back(std::move(current)), current.clear();
      else if (c == ')') {
        at_++;
        out.list.push_back(std::move(current));
        return true;
      } else current += c;
    }
    at_ = open;
    return fail(quote ? "a quote is never closed" : "a closing parenthesis is missing");
  }
  /// What the backslash at the cursor and what follows stand for; the cursor is left on the last of it.
  char unescape() {
    static constexpr string_view escaped = "nrt \\'\"", meant = "\n\r\t \\'\"";
    size_t which = at_ + 1 < text_.size() ? escaped.find(text_[at_ + 1]) : string_view::npos;
    if (which == string_view::npos) return '\\'; // not special: a delimiter after it stays one
    at_++;
    return meant[which];
  }

  string_view text_;
  size_t at_ = 0;
  std::string error_;
  size_t error_at_ = 0;
};

std::string join(const std::vector<Word> &words, size_t from) {
  std::string out;
  for (size_t i = from; i < words.size(); i++) {
    if (i > from) out += ' ';
    out += words[i].text;
  }
  return out;
}

} // namespace

ConditionResult evaluate_condition(string_view expression) { return ConditionParser(expression).run(); }

int check_condition_for_command_line(string_view expression, std::string &error) {
  Tokenizer tokenizer;
  tokenizer.comments = false;
  std::vector<Word> words;
  if (!tokenizer.run(expression, {}, words)) {
    error = tokenizer.error.text;
    return 2;
  }
  ConditionResult r = evaluate_condition(join(words, 0));
  error = r.error;
  return r.value == ConditionResult::True ? 0 : r.value == ConditionResult::False ? 1 : 2;
}

// ------------------------------------------------------------------------------------------- directives

bool ConditionalBlocks::directive(Words &words) {
  using Handler = void (*)(ConditionalBlocks &, Words &, string_view);
  struct Row {
    string_view name;
    Handler handle;
  };
  static constexpr Row rows[] = {
      {".alert", [](ConditionalBlocks &b, Words &w, string_view n) { b.message(w, n); }},
      {".diag", [](ConditionalBlocks &b, Words &w, string_view n) { b.message(w, n); }},
      {".elif", [](ConditionalBlocks &b, Words &w, string_view n) { b.next_branch(w, n); }},
      {".else", [](ConditionalBlocks &b, Words &w, string_view n) { b.next_branch(w, n); }},
      {".endif", [](ConditionalBlocks &b, Words &w, string_view) { b.close_if(w); }},
      {".if", [](ConditionalBlocks &b, Words &w, string_view) { b.open_if(w); }},
      {".notice", [](ConditionalBlocks &b, Words &w, string_view n) { b.message(w, n); }},
      {".warning", [](ConditionalBlocks &b, Words &w, string_view n) { b.message(w, n); }},
  };
  string_view word = words.peek();
  if (!word.starts_with('.')) return false;
  for (const Row &row : rows) {
    if (row.name != word) continue;
    words.next();
    words.set_subject(row.name);
    row.handle(*this, words, row.name);
    return true;
  }
  if (!active()) return true;
  NearMiss near(word);
  for (const Row &row : rows) near.consider(row.name);
  words.alert("unknown directive '" + std::string(word) + "'", near.hint());
  return true;
}

bool ConditionalBlocks::holds(Words &words) {
  ConditionResult r = evaluate_condition(join(words.all(), words.position()));
  if (r.value == ConditionResult::Malformed) words.alert(std::string(words.subject()) + ": " + r.error);
  return r.value == ConditionResult::True;
}

void ConditionalBlocks::open_if(Words &words) {
  Block block{State::Dead, false, words.line_place()};
  if (active()) block.state = holds(words) ? State::Taking : State::Waiting;
  blocks_.push_back(block);
}

void ConditionalBlocks::next_branch(Words &words, string_view name) {
  bool is_else = name == ".else";
  if (blocks_.empty()) {
    words.alert_last("'" + std::string(name) + "' without an '.if' before it");
    return;
  }
  Block &block = blocks_.back();
  if (block.after_else) {
    words.alert_last("'" + std::string(name) + "' after '.else' is not allowed");
    return;
  }
  block.after_else = is_else;
  if (is_else) words.end();
  if (block.state == State::Taking) block.state = State::Done;
  else if (block.state == State::Waiting && (is_else || holds(words))) block.state = State::Taking;
}

void ConditionalBlocks::close_if(Words &words) {
  if (blocks_.empty()) {
    words.alert_last("'.endif' without an '.if' before it");
    return;
  }
  words.end();
  blocks_.pop_back();
}

void ConditionalBlocks::message(Words &words, string_view name) {
  if (!active()) return;
  if (words.left() > 1) {
    words.next();
    words.alert("unexpected word after the message of '" + std::string(name) + "'", "put the message in quotes");
    return;
  }
  std::string text(words.peek());
  Diagnostics &diags = words.diags();
  if (name == ".alert") diags.alert(words.line_place(), text);
  else if (name == ".warning") diags.warning(words.line_place(), text);
  else if (name == ".notice") diags.notice(words.line_place(), text);
  else diags.diag(words.line_place(), text);
}

void ConditionalBlocks::finish(Diagnostics &diags) {
  for (const Block &b : blocks_) diags.alert(b.place, "this '.if' has no '.endif'");
  blocks_.clear();
}

} // namespace penstock
