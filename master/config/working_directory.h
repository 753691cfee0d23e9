// SPDX-License-Identifier: BSD-2-Clause
// `default-path` (manual 3.1): where relative names in the configuration start from while it is read.
#pragma once

#include <string>

#include "shared/base/diagnostics.h"

namespace penstock {

class WorkingDirectory {
 public:
  WorkingDirectory();
  ~WorkingDirectory();
  WorkingDirectory(const WorkingDirectory &) = delete;
  WorkingDirectory &operator=(const WorkingDirectory &) = delete;

  /// `rule` is the keyword's value ("config", "origin /etc/site"), `file` the file that is being read.
  void apply(const std::string &rule, const std::string &file, Place place, Diagnostics &diags);
  /// Back to where the program was started.
  void restore();

 private:
  int start_;
  bool moved_ = false;
};

} // namespace penstock
