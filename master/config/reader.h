// SPDX-License-Identifier: BSD-2-Clause
// From files to lines of words: quoting, escapes, comments and environment variables (manual 2.1 to
// 2.3). Which lines count (.if) is decided in conditions.h, what they mean in parser.cpp.
#pragma once

#include <string>
#include <vector>

#include "shared/table/words.h"

namespace penstock {

/// What the pseudo-variables .FILE, .LINE and .SECTION stand for on this line.
struct PseudoVariables {
  string_view file;
  u32 line = 0;
  string_view section;
};

struct TokenError {
  std::string text; // empty: no mistake
  size_t at = 0;    // offset in the line
};

/// Cuts one line into words; `out` is reused so that a large file does not allocate per line. An empty
/// word (`""`, an unset variable) ends the line, as the manual says; `empty_word` tells where when more follows.
class Tokenizer {
 public:
  /// False: `error` says why, and `out` holds the words before the mistake.
  bool run(string_view line, const PseudoVariables &pseudo, std::vector<Word> &out);
  TokenError error;
  bool comments = true; // whether a hash begins one
  size_t empty_word = no_empty_word;
  static constexpr size_t no_empty_word = ~size_t{0};

 private:
  enum class Quote : u8 { None, Weak, Strong };
  void begin_word(size_t at);
  void end_word();
  void put(char c) { (*out_)[count_ - 1].text += c; }
  bool escape(Quote quote);
  bool variable();
  bool substitute(const std::string &name, bool has_default, string_view default_value, bool as_list);
  bool lookup(const std::string &name, std::string &value) const;
  bool fail(size_t at, std::string text);

  string_view line_;
  const PseudoVariables *pseudo_ = nullptr;
  std::vector<Word> *out_ = nullptr;
  size_t count_ = 0;    // words begun
  bool in_word_ = false;
  bool vanished_ = false; // the word is an empty list so far: it is no word at all
  size_t at_ = 0;
  size_t word_at_ = 0;
};

/// The files that a list of -f arguments means: a directory stands for its *.cfg files in alphabetical
/// order, hidden ones apart. Alerts about what cannot be read.
std::vector<std::string> expand_file_list(const std::vector<std::string> &arguments, Diagnostics &diags);

/// The whole of a file. False and errno if it cannot be read.
bool read_file(const std::string &path, std::string &out);

} // namespace penstock
