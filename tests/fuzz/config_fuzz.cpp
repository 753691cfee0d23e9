// SPDX-License-Identifier: BSD-2-Clause
// Fuzzes the configuration reader: any bytes must end in a model or in diagnostics. With -DSTANDALONE
// it reads the files that are named on its command line and prints what is said about each.
#include <cstdlib>
#include <vector>

#include "master/config/parser.h"
#include "shared/base/switches.h"
#include "tests/fuzz/fuzz.h"

using namespace penstock;

namespace {

/// A configuration sets variables and switches; the next one is to find what the first one found.
class AsBefore : Pinned {
 public:
  AsBefore() {
    for (char **v = environ; *v != nullptr; v++) variables_.emplace_back(*v);
  }
  ~AsBefore() {
    switches = switches_;
    clearenv();
    for (const std::string &v : variables_) {
      size_t equal = v.find('=');
      setenv(v.substr(0, equal).c_str(), v.c_str() + equal + 1, 1);
    }
  }

 private:
  Switches switches_ = switches;
  std::vector<std::string> variables_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  static MemoryFile file;
  AsBefore restored;
  switches.need_server_addresses = false; // no questions to name servers
  Config config;
  Diagnostics diags;
  read_configuration({file.holding({reinterpret_cast<const char *>(data), size})}, config, diags);
  for (const Diagnostic &d : diags.all()) must(!to_text(d).empty(), "what is wrong is told");
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
