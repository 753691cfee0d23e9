// SPDX-License-Identifier: BSD-2-Clause
#include <doctest/doctest.h>

#include "worker/check/plan.h"

using namespace penstock;

/// The expectation number `n` (from 0) of a named protocol.
static Probe probe(CheckSettings s, size_t n) {
  std::vector<PlanStep> steps;
  add_named_protocol(s, steps);
  for (const PlanStep &step : steps)
    if (step.kind == CheckStep::Expect && n-- == 0) return step.probe;
  return nullptr;
}

static CheckSettings kind(CheckKind k) {
  CheckSettings s;
  s.kind = k;
  s.user = "checker";
  return s;
}

static Expectation ask(Probe p, string_view in, bool closed = false) {
  size_t taken = 0;
  return p(in, closed, taken);
}

TEST_CASE("smtp: a reply may have several lines and must be 2xx") {
  Probe p = probe(kind(CheckKind::Smtp), 0);
  CHECK(ask(p, "220 mail").what == Expectation::NeedMore);
  CHECK(ask(p, "220-mail\r\n220 ready\r\n").what == Expectation::Match);
  Expectation e = ask(p, "554 go away\r\n");
  CHECK(e.what == Expectation::Fail);
  CHECK(e.status == CheckStatus::L7Status);
  CHECK(e.code == 554);
  CHECK(ask(p, "garbage\r\n").status == CheckStatus::L7Response);
  CHECK(ask(p, "22", true).what == Expectation::Fail);
}

TEST_CASE("mysql: the greeting's version is shown, an error packet fails with its code") {
  Probe p = probe(kind(CheckKind::Mysql), 0);
  std::string greeting("\x0b\x00\x00\x00\x0a" "8.0.30\x00rest", 15);
  Expectation e = ask(p, greeting);
  CHECK(e.what == Expectation::Match);
  CHECK(e.info == "8.0.30");
  CHECK(ask(p, greeting.substr(0, 9)).what == Expectation::NeedMore);
  e = ask(p, std::string("\x0d\x00\x00\x00\xff\x15\x04#28000Bad", 17));
  CHECK(e.what == Expectation::Fail);
  CHECK(e.code == 1045);
}

TEST_CASE("pgsql: an authentication request is health, an error is not") {
  Probe p = probe(kind(CheckKind::Pgsql), 0);
  CHECK(ask(p, std::string("R\x00\x00\x00\x08\x00\x00\x00\x05", 9)).what == Expectation::Match);
  CHECK(ask(p, std::string("E\x00\x00\x00\x10SFATAL\x00", 12)).status == CheckStatus::L7Status);
  CHECK(ask(p, "HTTP/1.1 400").status == CheckStatus::L7Response);
}

TEST_CASE("redis: only +PONG will do") {
  Probe p = probe(kind(CheckKind::Redis), 0);
  CHECK(ask(p, "+PO").what == Expectation::NeedMore);
  CHECK(ask(p, "+PONG\r\n").what == Expectation::Match);
  CHECK(ask(p, "-NOAUTH x\r\n").status == CheckStatus::L7Status);
}

TEST_CASE("ldap: a bind response with result 0") {
  Probe p = probe(kind(CheckKind::Ldap), 0);
  CHECK(ask(p, std::string("\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x00\x04\x00\x04\x00", 14)).what == Expectation::Match);
  CHECK(ask(p, std::string("\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x31\x04\x00\x04\x00", 14)).code == 0x31);
  CHECK(ask(p, "SSH-2.0-OpenSSH\r\n").status == CheckStatus::L7Response);
  CHECK(ask(p, std::string("\x30\x84\x00\x00", 4), true).what == Expectation::Fail);
}

TEST_CASE("ssl-hello: any TLS record is an answer") {
  Probe p = probe(kind(CheckKind::SslHello), 0);
  CHECK(ask(p, std::string("\x16\x03\x03\x00\x02", 5)).status == CheckStatus::L6Ok);
  CHECK(ask(p, "HTTP/1.1 400 Bad").status == CheckStatus::L6Response);
}
