// SPDX-License-Identifier: BSD-2-Clause
// Old `req…` and `rsp…` lines into the rules that stand for them today. Pure text work: words in,
// words out; kw_rules_legacy.cpp gives the result back to the parser.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shared/base/basic.h"

namespace penstock {

enum class LegacyVerb : u8 { Add, Delete, Replace, Allow, Deny, Tarpit };

struct LegacyLine {
  LegacyVerb verb = LegacyVerb::Add;
  bool response = false;    // rsp…
  bool ignore_case = false; // …irep, …idel, …
  std::string search;       // the expression; of Add: the header line
  std::string replacement;  // of Replace
  std::vector<std::string> condition; // "if" …, "unless" …, or nothing
};

/// The words of the modern line, such as {"http-request", "del-header", "Server"}; nothing and `why`
/// when no rule does the same.
std::optional<std::vector<std::string>> translate_legacy(const LegacyLine &line, std::string &why);

/// A line of words as one would write it: blanks, quotes and backslashes escaped.
std::string written_line(const std::vector<std::string> &words);

} // namespace penstock
