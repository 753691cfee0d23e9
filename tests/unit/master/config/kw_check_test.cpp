// SPDX-License-Identifier: BSD-2-Clause
// `option httpchk` in its forms, check scripts, and what they come to.
#include <doctest/doctest.h>

#include "tests/unit/master/config/config_text.h"

using namespace penstock;

namespace {
ConfigText backend(const std::string &lines) { return ConfigText(with_http + "backend b\n" + lines + " server s 127.0.0.1:1 check\n"); }
} // namespace

TEST_CASE("option httpchk with method, uri and version") {
  ConfigText t = backend(" option httpchk HEAD /alive HTTP/1.1\n http-check send hdr Host www\n");
  CHECK(t.said() == "");
  REQUIRE(t.proxy(0).check);
  const auto &steps = t.proxy(0).check->steps;
  REQUIRE(steps.size() == 1);
  CHECK(steps[0]->method == "HEAD");
  CHECK(steps[0]->uri == "/alive");
  CHECK(steps[0]->version == "HTTP/1.1");
  CHECK(steps[0]->headers.size() == 1);
  CHECK(backend(" option httpchk /x\n").proxy(0).check->steps.at(0)->uri == "/x");
}

TEST_CASE("headers behind the version are taken out, with one warning") {
  for (const char *version : {"HTTP/1.1\\r\\nHost:\\ localhost", "HTTP/1.1\\r\\nHost:localhost", "\"HTTP/1.1\\r\\nHost: localhost\"", "'HTTP/1.1\\r\\nHost: localhost'"}) {
    CAPTURE(version);
    ConfigText t = backend(std::string(" option httpchk HEAD / ") + version + "\n");
    CHECK(t.diags.alerts() == 0);
    CHECK(t.diags.warnings() == 1);
    CHECK(t.mentions("write 'http-check send hdr Host localhost'"));
    const auto &send = *t.proxy(0).check->steps.at(0);
    CHECK(send.version == "HTTP/1.1");
    REQUIRE(send.headers.size() == 1);
    CHECK(send.headers[0].first == "Host");
    CHECK(send.headers[0].second.constant() == "localhost");
  }
}

TEST_CASE("a backend completes the request that its defaults section begins") {
  ConfigText t(with_http + " option httpchk\n http-check send hdr Host www\nbackend a\n option httpchk GET /a\n server s 127.0.0.1:1 check\nbackend b\n option httpchk GET /b\n server s 127.0.0.1:1 check\n");
  CHECK(t.said() == "");
  CHECK(t.proxy(0).check->steps.at(0)->uri == "/a");
  CHECK(t.proxy(1).check->steps.at(0)->uri == "/b");
  CHECK(t.proxy(1).check->steps.at(0)->headers.size() == 1);
}

TEST_CASE("scripts") {
  ConfigText t = backend(" option tcp-check\n tcp-check connect port 81\n tcp-check send PING\\r\\n\n tcp-check expect ! rstring ^ERR\n tcp-check send-binary 0a0B\n tcp-check set-var(check.x) int(1)\n");
  CHECK(t.said() == "");
  const auto &steps = t.proxy(0).check->steps;
  REQUIRE(steps.size() == 5);
  CHECK(steps[0]->port == 81);
  CHECK(steps[1]->data == "PING\r\n");
  CHECK(steps[2]->negate);
  CHECK(steps[4]->kind == CheckStep::SetVar);
}

TEST_CASE("mistakes in scripts") {
  ConfigText t = backend(" option httpchk\n http-check expect statu 200\n http-check expect status 2x0\n http-check exprect x\n tcp-check send-binary 001\n http-check expect rstring foo(\n http-check send foo\n");
  CHECK(t.mentions("8:20 "));
  CHECK(t.mentions("(did you mean 'status'"));
  CHECK(t.mentions("'status' expects codes and ranges such as 200,301-304, got '2x0'"));
  CHECK(t.mentions("(did you mean 'expect'"));
  CHECK(t.mentions("an even number of hexadecimal digits, got '001'"));
  CHECK(t.mentions("the regular expression 'foo(' is malformed"));
}

TEST_CASE("named protocols") {
  CHECK(backend(" option mysql-check user u pre-41\n").proxy(0).check->user == "u");
  CHECK_FALSE(backend(" option mysql-check user u pre-41\n").proxy(0).check->mysql_post41);
  CHECK(backend(" option smtpchk EHLO x.org\n").proxy(0).check->smtp_domain == "x.org");
  CHECK(backend(" option pgsql-check\n").mentions("'option pgsql-check' expects 'user NAME'"));
  CHECK(backend(" option redis-check\n").proxy(0).check->kind == CheckKind::Redis);
}
