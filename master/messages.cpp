// SPDX-License-Identifier: BSD-2-Clause
#include "master/messages.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "shared/base/build_info.h"
#include "shared/base/switches.h"

namespace penstock {
namespace {

constexpr std::array<string_view, 4> tags = {"[DIAG]     (", "[NOTICE]   (", "[WARNING]  (", "[ALERT]    ("};

std::string &record() {
  static std::string lines;
  return lines;
}

/// The first line of trouble is preceded by who speaks.
void introduce() {
  static bool introduced = false;
  if (std::exchange(introduced, true)) return;
  say(Severity::Notice, std::string(product_name) + " version is " + std::string(product_version));
}

} // namespace

void say(Severity severity, string_view text) {
  if (severity == Severity::Alert) introduce();
  std::string line(tags[static_cast<size_t>(severity)]);
  line += std::to_string(getpid()) + ") : " + std::string(text) + "\n";
  record() += line;
  if (switches.quiet) return;
  if (ssize_t written = write(STDERR_FILENO, line.data(), line.size()); written < 0) return; // nowhere to complain
}

void say_all(const Diagnostics &diags) {
  for (const Diagnostic &d : diags.all())
    if (d.severity != Severity::Diag || switches.diagnose) say(d.severity, to_text(d));
}

const std::string &startup_log() { return record(); }
void clear_startup_log() { record().clear(); }
void restore_startup_log(std::string text) { record() = std::move(text); }

} // namespace penstock
