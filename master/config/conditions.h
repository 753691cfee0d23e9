// SPDX-License-Identifier: BSD-2-Clause
// Conditions of .if/.elif and of the command line's -cc (manual 2.4; interface.md), and the nesting
// of the .if blocks themselves.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "shared/base/diagnostics.h"

namespace penstock {

class Words;

struct ConditionResult {
  enum Value : u8 { False, True, Malformed } value = False;
  std::string error; // of Malformed
  size_t at = 0;     // offset of the mistake in the expression
};

/// Evaluates `expression`; an empty one is false. The whole of it is parsed even where its value is known.
ConditionResult evaluate_condition(string_view expression);
/// The command line's `-cc`: tokenizes first, then evaluates. Exit status 0 true, 1 false, 2 malformed.
int check_condition_for_command_line(string_view expression, std::string &error);

/// The open .if blocks of one file.
class ConditionalBlocks {
 public:
  /// Handles the line if it is one of .if .elif .else .endif .diag .notice .warning .alert; false: it is not.
  bool directive(Words &words);
  /// Whether ordinary lines count here.
  bool active() const { return blocks_.empty() || blocks_.back().state == State::Taking; }
  /// Alerts about blocks still open at the end of a file, and forgets them.
  void finish(Diagnostics &diags);

 private:
  enum class State : u8 { Taking, Waiting /* for a true .elif or .else */, Done, Dead /* inside a block not taken */ };
  struct Block {
    State state;
    bool after_else = false;
    Place place;
  };
  void open_if(Words &words);
  void next_branch(Words &words, string_view name);
  void close_if(Words &words);
  void message(Words &words, string_view name);
  bool holds(Words &words);
  std::vector<Block> blocks_;
};

} // namespace penstock
