// SPDX-License-Identifier: BSD-2-Clause
#include "shared/base/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <vector>

#include "shared/base/arena.h"
#include "shared/base/text.h"

namespace penstock {

struct Regex::Code {
  pcre2_code *compiled = nullptr;
  bool jit = false;
};

namespace {

constexpr u32 match_limit = 1'000'000; // backtracking steps of one match
constexpr u32 jit_stack_bytes = 512 * 1024;

/// What every match of the process uses; made at the first one.
struct MatchTools {
  pcre2_match_context *context = pcre2_match_context_create(nullptr);
  pcre2_match_data *data = pcre2_match_data_create(Regex::Captures::max, nullptr);
  pcre2_jit_stack *stack = pcre2_jit_stack_create(32 * 1024, jit_stack_bytes, nullptr);
  MatchTools() {
    pcre2_set_match_limit(context, match_limit);
    pcre2_set_depth_limit(context, 10'000);
    if (stack) pcre2_jit_stack_assign(context, nullptr, stack);
  }
};
MatchTools &tools() {
  static MatchTools t;
  return t;
}

PCRE2_SPTR bytes(string_view s) { return reinterpret_cast<PCRE2_SPTR>(s.data() ? s.data() : ""); }

} // namespace

static pcre2_code *compile_plainly(string_view pattern, bool ignore_case, std::string &error) {
  int code = 0;
  PCRE2_SIZE at = 0;
  pcre2_code *compiled = pcre2_compile(bytes(pattern), pattern.size(), ignore_case ? PCRE2_CASELESS : 0, &code, &at, nullptr);
  if (compiled) return compiled;
  char message[160];
  pcre2_get_error_message(code, reinterpret_cast<PCRE2_UCHAR *>(message), sizeof message);
  error = "the regular expression '" + std::string(pattern) + "' is malformed at character " + std::to_string(at + 1) + ": " + message;
  return nullptr;
}

bool Regex::check(string_view pattern, bool ignore_case, std::string &error) {
  pcre2_code *compiled = compile_plainly(pattern, ignore_case, error);
  pcre2_code_free(compiled);
  return compiled != nullptr;
}

std::shared_ptr<const Regex> Regex::compile(string_view pattern, bool ignore_case, std::string &error) {
  pcre2_code *compiled = compile_plainly(pattern, ignore_case, error);
  if (!compiled) return nullptr;
  std::shared_ptr<Regex> re(new Regex);
  re->pattern_ = pattern;
  re->code_ = new Code{compiled, pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE) == 0};
  return re;
}

Regex::~Regex() {
  if (code_) pcre2_code_free(code_->compiled);
  delete code_;
}

static int run(const pcre2_code *code, bool jit, string_view subject, size_t from) {
  MatchTools &t = tools();
  if (jit) return pcre2_jit_match(code, bytes(subject), subject.size(), from, 0, t.data, t.context);
  return pcre2_match(code, bytes(subject), subject.size(), from, 0, t.data, t.context);
}

bool Regex::matches(string_view subject) const { return run(code_->compiled, code_->jit, subject, 0) >= 0; }

bool Regex::search(string_view subject, Captures &out, size_t from) const {
  int n = run(code_->compiled, code_->jit, subject, from);
  if (n < 0) return false;
  out.count = n == 0 ? Captures::max : static_cast<size_t>(n); // 0: more groups than we keep
  const PCRE2_SIZE *v = pcre2_get_ovector_pointer(tools().data);
  for (size_t i = 0; i < out.count; i++) {
    out.begin[i] = v[2 * i] == PCRE2_UNSET ? -1 : static_cast<i64>(v[2 * i]);
    out.end[i] = v[2 * i + 1] == PCRE2_UNSET ? -1 : static_cast<i64>(v[2 * i + 1]);
    if (out.end[i] < out.begin[i]) out.begin[i] = out.end[i]; // \K in a look-ahead can turn them round
  }
  return true;
}

namespace {

/// Walks the replacement; `emit` gets the pieces in order.
template <class Emit> void expand(string_view replacement, string_view subject, const Regex::Captures &groups, Emit emit) {
  for (size_t i = 0; i < replacement.size(); i++) {
    if (replacement[i] != '\\' || i + 1 == replacement.size()) {
      size_t end = replacement.find('\\', i + 1);
      if (end == string_view::npos) end = replacement.size();
      emit(replacement.substr(i, end - i));
      i = end - 1;
      continue;
    }
    char c = replacement[++i];
    if (is_digit(c)) emit(groups.group(subject, static_cast<size_t>(c - '0')));
    else if (c == 'x' && i + 2 < replacement.size() && hex_digit(replacement[i + 1]) >= 0 && hex_digit(replacement[i + 2]) >= 0) {
      char byte = static_cast<char>(hex_digit(replacement[i + 1]) * 16 + hex_digit(replacement[i + 2]));
      emit(string_view(&byte, 1));
      i += 2;
    } else emit(replacement.substr(i, 1));
  }
}

} // namespace

string_view expand_groups(string_view replacement, string_view subject, const Regex::Captures &groups, Arena &arena) {
  size_t need = 0;
  expand(replacement, subject, groups, [&](string_view s) { need += s.size(); });
  char *out = arena.chars(need + 1), *at = out;
  expand(replacement, subject, groups, [&](string_view s) {
    if (!s.empty()) std::memcpy(at, s.data(), s.size());
    at += s.size();
  });
  return {out, need};
}

string_view substitute(const Regex &re, string_view subject, string_view replacement, bool all, Arena &arena) {
  // Pieces: what stays, then what replaces, and so on. Bounded, so that a one-byte match cannot explode.
  constexpr size_t max_pieces = 1024;
  string_view pieces[max_pieces];
  size_t count = 0, copied = 0, from = 0;
  Regex::Captures groups;
  while (count + 3 < max_pieces && from <= subject.size() && re.search(subject, groups, from)) {
    auto begin = static_cast<size_t>(groups.begin[0]), end = static_cast<size_t>(groups.end[0]);
    if (begin < copied) break;
    pieces[count++] = subject.substr(copied, begin - copied);
    pieces[count++] = expand_groups(replacement, subject, groups, arena);
    copied = end;
    from = end > begin ? end : end + 1; // an empty match must not stand still
    if (!all) break;
  }
  if (count == 0) return subject;
  pieces[count++] = subject.substr(copied);
  size_t need = 0;
  for (size_t i = 0; i < count; i++) need += pieces[i].size();
  char *out = arena.chars(need + 1), *at = out;
  for (size_t i = 0; i < count; i++) {
    if (!pieces[i].empty()) std::memcpy(at, pieces[i].data(), pieces[i].size());
    at += pieces[i].size();
  }
  return {out, need};
}

} // namespace penstock
