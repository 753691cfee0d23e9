// SPDX-License-Identifier: BSD-2-Clause
#include "shared/base/diagnostics.h"

#include <utility>

namespace penstock {

void Diagnostics::add(Severity s, Place at, std::string text, std::string hint) {
  all_.push_back({s, at, std::move(text), std::move(hint)});
}
void Diagnostics::alert(Place at, std::string text, std::string hint) {
  alerts_++;
  add(Severity::Alert, at, std::move(text), std::move(hint));
}
void Diagnostics::warning(Place at, std::string text, std::string hint) {
  warnings_++;
  add(Severity::Warning, at, std::move(text), std::move(hint));
}
void Diagnostics::notice(Place at, std::string text) { add(Severity::Notice, at, std::move(text), {}); }
void Diagnostics::diag(Place at, std::string text) { add(Severity::Diag, at, std::move(text), {}); }

std::string to_text(const Diagnostic &d) {
  std::string out;
  if (d.place.file) {
    out += d.place.file;
    if (d.place.line) out += ":" + std::to_string(d.place.line);
    if (d.place.line && d.place.column) out += ":" + std::to_string(d.place.column);
    out += ": ";
  }
  out += d.text;
  if (!d.hint.empty()) out += " (" + d.hint + ")";
  return out;
}

} // namespace penstock
