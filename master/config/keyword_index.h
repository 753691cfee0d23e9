// SPDX-License-Identifier: BSD-2-Clause
// Finds the row of a line: the longest name of one to four words that the line begins with. One hash
// index over all rows, built at first use.
#pragma once

#include <string>

#include "shared/table/registry.h"

namespace penstock {

class Words;

struct KeywordMatch {
  const KeywordDef *row = nullptr; // in this section; else null
  size_t words = 0;                // of the row's name
  const KeywordDef *elsewhere = nullptr; // a row for other sections only
  size_t elsewhere_words = 0;
};

/// Looks at the words from the cursor on.
KeywordMatch find_keyword(const Words &words, u32 section);
/// "did you mean …" for the words at the cursor, among the section's keywords.
std::string keyword_hint(const Words &words, u32 section);
/// Whether a row of the section begins with this word ("option", "timeout").
bool is_keyword_family(string_view first_word, u32 section);

} // namespace penstock
