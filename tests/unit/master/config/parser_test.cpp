// SPDX-License-Identifier: BSD-2-Clause
// Whole configurations from memory to the model and its diagnostics.
#include "master/config/parser.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "shared/base/diagnostics.h"

using namespace penstock;

namespace {

struct Parsed {
  Config config;
  Diagnostics diags;
  explicit Parsed(string_view text) {
    char path[] = "/tmp/penstock-parser-XXXXXX";
    int fd = mkstemp(path);
    CHECK(write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    close(fd);
    read_configuration({path}, config, diags);
    unlink(path);
  }
  std::string said() const { // without the name of the file
    std::string out;
    for (const Diagnostic &d : diags.all()) {
      Diagnostic copy = d;
      copy.place.file = nullptr;
      out += std::to_string(d.place.line) + ":" + std::to_string(d.place.column) + " " + to_text(copy) + "\n";
    }
    return out;
  }
};

} // namespace

TEST_CASE("a small configuration needs no word of warning") {
  Parsed p("global\n maxconn 100\n stats timeout 30s\n"
           "defaults\n mode http\n timeout client 5s\n timeout connect 1s\n timeout server 5s\n"
           "frontend f\n bind 127.0.0.1:18080\n default_backend b\n"
           "backend b\n server s1 127.0.0.1:18081"); // no final newline
  CHECK(p.said() == "");
  CHECK(p.config.global.maxconn == 100);
  CHECK(p.config.proxies.size() == 2);
  CHECK(p.config.frontend("f")->mode == Mode::Http);
  CHECK(p.config.frontend("f")->timeout.client == 5000);
  CHECK(p.config.frontend("b") == nullptr);
}

TEST_CASE("all mistakes are told in one run, each with its place") {
  Parsed p("foo\nglobal\n maxcon 10\n maxconn many\n maxconn 10 20\nfrontend\nbackend b\n nbthread 3\n.if garbage\n.endif\n");
  CHECK(p.diags.alerts() == 7);
  std::string said = p.said();
  CHECK(said.find("1:1 ") != std::string::npos);
  CHECK(said.find("3:2 unknown keyword 'maxcon' in 'global' sections (did you mean 'maxconn'?)") != std::string::npos);
  CHECK(said.find("4:10 ") != std::string::npos);
  CHECK(said.find("5:13 unexpected word '20' after 'maxconn'") != std::string::npos);
  CHECK(said.find("6:9 'frontend' must be followed by a name") != std::string::npos);
  CHECK(said.find("8:2 the keyword 'nbthread' is not allowed in backend 'b' (it belongs to: global)") != std::string::npos);
}

TEST_CASE("what is planned is refused as exactly that") {
  Parsed p("global\n lua-load x.lua\npeers mine\n peer a 1.2.3.4:1024\n");
  CHECK(p.said() == "2:2 'lua-load' is known but not supported yet\n4:2 'peer' is known but not supported yet\n");
}

TEST_CASE("conditional blocks") {
  Parsed p(".if 0\n foo\n.elif 1\n.notice \"yes\"\n.else\n.alert no\n.endif\n.diag quiet\n");
  CHECK(p.said() == "4:0 yes\n8:0 quiet\n");
  CHECK(Parsed(".if 1\n").diags.alerts() == 1);
  CHECK(Parsed(".endif\n.else\n.elif 1\n").diags.alerts() == 3);
  CHECK(Parsed(".if 1\n.else\n.else\n.endif\n").diags.alerts() == 1);
  CHECK(Parsed(".if 0\n.if garbage(\n.endif\n.endif\n").diags.alerts() == 0);
  CHECK(Parsed(".if 1\n.elif garbage(\n.endif\n").diags.alerts() == 0);
}

TEST_CASE("defaults are inherited by copy, by name or from the nearest above") {
  Parsed p("defaults a\n mode http\n timeout client 1s\n timeout server 1s\n timeout connect 1s\ndefaults b from a\n timeout client 2s\n"
           "listen x\n bind 127.0.0.1:18080\nlisten y from a\n bind 127.0.0.1:18081\ndefaults\nlisten z from nowhere\n");
  CHECK(p.config.frontend("x")->timeout.client == 2000);
  CHECK(p.config.frontend("x")->timeout.server == 1000);
  CHECK(p.config.frontend("y")->timeout.client == 1000);
  CHECK(p.diags.alerts() == 1);
}

TEST_CASE("the environment can be changed and is seen at once") {
  Parsed p("global\n setenv PENSTOCK_T1 one\n presetenv PENSTOCK_T1 two\n presetenv PENSTOCK_T2 zwei\n description \"$PENSTOCK_T1 ${PENSTOCK_T2} ${.LINE}\"\n unsetenv PENSTOCK_T1 PENSTOCK_T2\n");
  CHECK(p.said() == "");
  CHECK(p.config.global.description == "one zwei 5");
  CHECK(getenv("PENSTOCK_T1") == nullptr);
  CHECK(getenv("HAPROXY_BRANCH") == std::string("3.5"));
}

TEST_CASE("cpu-map") {
  Parsed p("global\n nbthread 4\n cpu-map auto:1/1-4 3 2 1 0\n cpu-map 1/2 5-6\n cpu-map 2/1-2 0\n");
  CHECK(p.said() == "");
  const auto &map = p.config.global.cpu_map;
  CHECK(map[0] == std::vector<u32>{0});
  CHECK(map[1] == std::vector<u32>{5, 6});
  CHECK(map[3] == std::vector<u32>{3});
  CHECK(map[4].empty());
  CHECK(Parsed("global\n cpu-map auto:1/1-4 0\n").diags.failed());
  CHECK(Parsed("global\n cpu-map 1/x 0\n").diags.failed());
  CHECK(!Parsed("global\n cpu-map auto:1/all 0-1\n").diags.failed());
}

TEST_CASE("a NUL byte is refused with its place") {
  Parsed p(string_view("global\n maxconn 1\0\n", 19));
  CHECK(p.said() == "2:11 a NUL byte is not allowed here\n");
}

TEST_CASE("userlists") {
  Parsed p("userlist u\n group g users a,b\n user a insecure-password x\n user b password $5$saltsalt$x groups g\n user a insecure-password y\n user c password $9$nope$nope\n");
  CHECK(p.diags.alerts() == 2);
  CHECK(p.config.userlist("u")->users.size() == 2);
}
