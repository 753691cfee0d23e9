// SPDX-License-Identifier: BSD-2-Clause
// Fuzzes the configuration reader: any bytes must end in a model or in diagnostics. With -DSTANDALONE
// it reads the files that are named on its command line and prints what is said about each.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "master/config/parser.h"
#include "shared/base/switches.h"

using namespace penstock;

namespace {

/// Bytes as a file that has a name, without touching a disk.
std::string as_file(int fd, const std::uint8_t *data, std::size_t size) {
  if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != static_cast<ssize_t>(size)) return "/dev/null";
  return "/proc/self/fd/" + std::to_string(fd);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  static int fd = memfd_create("config", 0);
  switches.need_server_addresses = false; // no questions to name servers
  Config config;
  Diagnostics diags;
  read_configuration({as_file(fd, data, size)}, config, diags);
  for (const Diagnostic &d : diags.all()) {
    std::string text = to_text(d);
    if (text.empty()) __builtin_trap();
  }
  return 0;
}

#ifdef STANDALONE
int main(int argc, char **argv) {
  int failed = 0;
  for (int i = 1; i < argc; i++) {
    Config config;
    Diagnostics diags;
    read_configuration({argv[i]}, config, diags);
    static constexpr const char *names[] = {"DIAG", "NOTICE", "WARNING", "ALERT"};
    for (const Diagnostic &d : diags.all()) std::printf("[%s] %s\n", names[static_cast<int>(d.severity)], to_text(d).c_str());
    failed |= diags.failed();
  }
  return failed;
}
#endif
