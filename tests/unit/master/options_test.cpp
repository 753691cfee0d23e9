// SPDX-License-Identifier: BSD-2-Clause
#include "master/options.h"

#include <doctest/doctest.h>

#include "shared/base/switches.h"

using namespace penstock;

namespace {
struct Parsed {
  Options options;
  std::string error;
};
Parsed parse(std::vector<std::string> words) {
  switches = {};
  words.insert(words.begin(), "penstock");
  std::vector<char *> argv;
  for (auto &w : words) argv.push_back(w.data());
  Parsed p;
  p.options = parse_options(static_cast<int>(argv.size()), argv.data(), p.error);
  return p;
}
} // namespace

TEST_CASE("files, directories and what follows --") {
  auto p = parse({"-f", "a", "-f", "d", "--", "b", "-c"});
  CHECK(p.options.files == std::vector<std::string>{"a", "d", "b", "-c"});
  CHECK_FALSE(p.options.check);
}

TEST_CASE("pid lists end at the next option and may be empty") {
  auto p = parse({"-sf", "12", "13", "-st", "-f", "x"});
  CHECK(p.error.empty());
  CHECK(p.options.finish == std::vector<pid_t>{12, 13});
  CHECK(p.options.terminate.empty());
  CHECK(p.options.files.size() == 1);
}

TEST_CASE("modes") {
  auto p = parse({"-Ws", "-S", "/run/x,level,user", "-p", "/run/p", "-dW", "-dr", "-dS", "-f", "x"});
  CHECK(p.options.master_worker);
  CHECK(p.options.notify);
  CHECK(p.options.master_socket == "/run/x,level,user");
  CHECK(switches.zero_warning);
  CHECK_FALSE(switches.need_server_addresses);
  CHECK_FALSE(switches.splice);
  switches = {};
}

TEST_CASE("glued values") {
  CHECK(parse({"-dKcfg,acl", "-f", "x"}).options.keyword_classes == "cfg,acl");
  CHECK(parse({"-dM0x55,no-merge", "-f", "x"}).error.empty());
  CHECK(parse({"-dMhelp"}).options.listing == Listing::Pools);
  CHECK(parse({"-dCkey", "-f", "x"}).options.dump_config_key == "key");
}

TEST_CASE("what is not understood shows the usage") {
  CHECK(parse({"-zz"}).options.listing == Listing::Usage);
  CHECK(parse({"-f"}).options.listing == Listing::Usage);
  CHECK(parse({}).options.listing == Listing::Usage);
  CHECK_FALSE(parse({"-n", "abc", "-f", "x"}).error.empty());
  CHECK(usage().find("-sf") != std::string::npos);
}

TEST_CASE("the next image's command line") {
  std::vector<std::string> given = {"p", "-q", "-D", "-x", "/run/s", "-sf", "1", "2", "-f", "-q", "-dMx", "--", "-sf", "3"};
  CHECK(reload_arguments(given, false) == std::vector<std::string>{"p", "-q", "-D", "-f", "-q", "-dMx", "--", "-sf", "3"});
  CHECK(reload_arguments(given, true) == std::vector<std::string>{"p", "-c", "-D", "-f", "-q", "-dMx", "--", "-sf", "3"});
}
