// SPDX-License-Identifier: BSD-2-Clause
// Reads one expression, `fetch(args),converter(args),…`, from a text: a word of a rule or the inside of
// %[…]. Used by compile.cpp, acl.cpp and log_format.cpp only.
#pragma once

#include "shared/expr/compile.h"

namespace penstock {

class ExprParser {
 public:
  ExprParser(Compiler &compiler, string_view text, Place at, bool in_brackets = false)
      : compiler_(compiler), text_(text), place_(at), in_brackets_(in_brackets) {}

  /// The fetch and all converters that follow. Alerts and returns false on a mistake.
  bool parse(Expr &out);
  /// Converters only, from the start of the text: `text` continues an expression in its next word.
  bool converters(Expr &out);
  size_t position() const { return at_; } // where it stopped: at the end or at ']'
  bool trailing_comma() const { return trailing_comma_; }

 private:
  string_view name();
  bool arguments(std::vector<std::string> &out, bool &present);
  bool convert_args(string_view owner, const char *kind, const ArgSpecs &specs, const std::vector<std::string> &texts, Args &out);
  bool convert_arg(string_view owner, size_t index, const ArgSpec &spec, const std::string &text, ArgValue &out, std::string &error);
  bool named_acl(string_view name, ArgValue &out, std::string &error);
  bool one_converter(Expr &out);
  bool fail(std::string text, std::string hint = {});
  bool at_expression_end() const { return at_ >= text_.size() || (in_brackets_ && text_[at_] == ']'); }

  Compiler &compiler_;
  string_view text_;
  Place place_;
  bool in_brackets_;
  size_t at_ = 0;
  bool trailing_comma_ = false;
};

/// An ACL of the language's own; null when there is none of that name.
std::shared_ptr<const Acl> predefined_acl(Compiler &compiler, string_view name, Place at);

/// The first name in `text`: what the parser would look up.
string_view leading_name(string_view text);

} // namespace penstock
