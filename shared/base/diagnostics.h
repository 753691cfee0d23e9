// SPDX-License-Identifier: BSD-2-Clause
// What is said about a configuration: every message has a severity, a place and, where it helps, a
// cure. Parsers report and go on, so that one run shows all mistakes.
#pragma once

#include <string>
#include <vector>

#include "shared/base/basic.h"

namespace penstock {

/// Where a word of the configuration stands. `file` points into the reader's list of names, which
/// lives as long as the configuration. Lines and columns count from 1; 0 means "not known".
struct Place {
  const char *file = nullptr;
  u32 line = 0;
  u16 column = 0;
};

enum class Severity : u8 { Diag, Notice, Warning, Alert };

struct Diagnostic {
  Severity severity;
  Place place;
  std::string text; // one sentence, no final newline
  std::string hint; // "did you mean 'balance'?" or empty
};

class Diagnostics {
 public:
  void alert(Place at, std::string text, std::string hint = {});
  void warning(Place at, std::string text, std::string hint = {});
  void notice(Place at, std::string text);
  void diag(Place at, std::string text); // told only under -dD

  bool failed() const { return alerts_ > 0; }
  unsigned alerts() const { return alerts_; }
  unsigned warnings() const { return warnings_; }
  const std::vector<Diagnostic> &all() const { return all_; }

 private:
  void add(Severity s, Place at, std::string text, std::string hint);
  std::vector<Diagnostic> all_;
  unsigned alerts_ = 0, warnings_ = 0;
};

/// "site.cfg:41:9: 'timeout client' expects …" without severity prefix.
std::string to_text(const Diagnostic &d);

} // namespace penstock
