// SPDX-License-Identifier: BSD-2-Clause
// Regular expressions: the one wrapper around PCRE2. Compiled with JIT where the machine has it; run
// with a match limit, so that a bad pattern costs bounded time. Matching allocates nothing: one block
// of match data per process is enough, because nothing here runs twice at once.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "shared/base/basic.h"

namespace penstock {

class Arena;

class Regex : Pinned {
 public:
  /// Null on a malformed expression; `error` then says what and where.
  static std::shared_ptr<const Regex> compile(string_view pattern, bool ignore_case, std::string &error);
  ~Regex();
  /// Whether it could be compiled; without making code for it.
  static bool check(string_view pattern, bool ignore_case, std::string &error);

  bool matches(string_view subject) const;

  /// Where the whole match and the groups lie in the subject; -1 for groups that took no part.
  struct Captures {
    static constexpr size_t max = 10;
    size_t count = 0;
    i64 begin[max], end[max];
    string_view group(string_view subject, size_t i) const {
      return i < count && begin[i] >= 0 ? subject.substr(static_cast<size_t>(begin[i]), static_cast<size_t>(end[i] - begin[i])) : string_view();
    }
  };
  bool search(string_view subject, Captures &out, size_t from = 0) const;

  const std::string &pattern() const { return pattern_; }

 private:
  Regex() = default;
  struct Code;
  Code *code_ = nullptr;
  std::string pattern_;
};

/// Puts the groups of a match in place of \0 … \9 (and \xNN, \n, \r, \t …) in `replacement`.
string_view expand_groups(string_view replacement, string_view subject, const Regex::Captures &groups, Arena &arena);
/// sed's s///: replaces the first match, or all.
string_view substitute(const Regex &re, string_view subject, string_view replacement, bool all, Arena &arena);

} // namespace penstock
