// SPDX-License-Identifier: BSD-2-Clause
// A configuration from memory, for the tests of keywords: the model and what was said about it.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "master/config/parser.h"
#include "shared/base/diagnostics.h"

namespace penstock {

struct ConfigText {
  Config config;
  Diagnostics diags;

  explicit ConfigText(std::string_view text) {
    char path[] = "/tmp/penstock-keywords-XXXXXX";
    int fd = mkstemp(path);
    if (write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size())) read_configuration({path}, config, diags);
    close(fd);
    unlink(path);
  }
  /// "LINE:COLUMN text (hint)" of each message.
  std::string said() const {
    std::string out;
    for (const Diagnostic &d : diags.all()) {
      Diagnostic bare = d;
      bare.place.file = nullptr;
      out += std::to_string(d.place.line) + ":" + std::to_string(d.place.column) + " " + to_text(bare) + "\n";
    }
    return out;
  }
  bool mentions(std::string_view text) const { return said().find(text) != std::string::npos; }
  const Proxy &proxy(size_t i) const { return *config.proxies.at(i); }
};

/// Timeouts that spare the tests a warning each.
inline const std::string with_timeouts = "defaults\n timeout client 1s\n timeout server 1s\n timeout connect 1s\n";
inline const std::string with_http = with_timeouts + " mode http\n";

} // namespace penstock
