// SPDX-License-Identifier: BSD-2-Clause
#include "master/config/working_directory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace penstock {

WorkingDirectory::WorkingDirectory() : start_(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

WorkingDirectory::~WorkingDirectory() {
  if (start_ >= 0) close(start_);
}

void WorkingDirectory::restore() {
  if (moved_ && start_ >= 0 && fchdir(start_) == 0) moved_ = false;
}

void WorkingDirectory::apply(const std::string &rule, const std::string &file, Place place, Diagnostics &diags) {
  restore();
  if (rule == "current") return;
  size_t slash = file.rfind('/');
  std::string target = slash == std::string::npos ? "." : file.substr(0, slash + 1);
  if (rule == "parent") target += "/..";
  if (rule.starts_with("origin ")) target = rule.substr(7);
  moved_ = true;
  if (chdir(target.c_str()) != 0) diags.alert(place, "'default-path': cannot go to the directory " + target + ": " + std::strerror(errno));
}

} // namespace penstock
