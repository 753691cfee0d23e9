// SPDX-License-Identifier: BSD-2-Clause
#include "master/version.h"

#include <link.h>
#include <sys/utsname.h>


#include "shared/base/build_info.h"
#include "shared/base/switches.h"
#include "shared/model/config.h"

namespace penstock {
namespace {

constexpr string_view compiler = "g++ " __VERSION__;

int add_library(dl_phdr_info *info, size_t, void *data) {
  if (info->dlpi_name && *info->dlpi_name) *static_cast<std::string *>(data) += std::string(info->dlpi_name) + "\n";
  return 0;
}

std::string feature_list() {
  std::string out = "Feature list :";
  for (const Feature &f : features()) out += std::string(f.built_in ? " +" : " -") + std::string(f.name);
  return out + "\n";
}

/// The libraries that are loaded, by the names of their files: the truth of this run.
std::string library_lines() {
  std::string out;
  std::string all = libraries_text();
  for (size_t at = 0; at < all.size();) {
    size_t end = all.find('\n', at);
    std::string path = all.substr(at, end - at);
    out += "  " + path.substr(path.rfind('/') + 1) + "\n";
    at = end + 1;
  }
  return out;
}

} // namespace

std::string version_text() {
  utsname un{};
  uname(&un);
  return std::string(product_name) + " version " + std::string(product_version) + " " + std::string(product_date) +
         "\nConfiguration language: HAProxy " + std::string(language_branch) + "\nRunning on: " + un.sysname + " " + un.release + " " + un.version +
         " " + un.machine + "\n";
}

std::string build_text() {
  Tune tune;
  std::string out = version_text();
  out += "Build options :\n  TARGET  = linux-glibc\n  CXX     = " + std::string(compiler) + "\n\n" + feature_list();
  out += "\nDefault settings :\n  bufsize = " + std::to_string(tune.bufsize) + ", maxrewrite = " + std::to_string(tune.maxrewrite) +
         ", maxpollevents = " + std::to_string(tune.maxpollevents) + "\n";
  out += "\nLibraries loaded :\n" + library_lines();
  out += "\nAvailable polling systems :\n      epoll : pref=300,  test result OK\nTotal: 1 (1 usable), will use epoll.\n";
  out += "\nAvailable multiplexer protocols :\n(protocols marked as <default> cannot be specified using 'proto' keyword)\n"
         "  <default> : mode=HTTP  side=FE|BE  mux=H1\n         h1 : mode=HTTP  side=FE|BE  mux=H1\n"
         "  <default> : mode=TCP   side=FE|BE  mux=PASS\n       none : mode=TCP   side=FE|BE  mux=PASS\n";
  out += "\nAvailable services : none\n\nAvailable filters : none\n\n";
  return out;
}

std::string pools_text() {
  return "-dM is accepted with an optional byte and a list of words; memory is debugged with `make asan` instead,\n"
         "so that neither changes anything here.\n";
}

std::string traces_text() { return "-dt is accepted; no source of traces is built in.\n"; }

std::string libraries_text() {
  std::string out;
  dl_iterate_phdr(add_library, &out);
  return out;
}

} // namespace penstock
