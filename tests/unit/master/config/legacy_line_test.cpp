// SPDX-License-Identifier: BSD-2-Clause
#include "master/config/legacy_line.h"

#include <doctest/doctest.h>

using namespace penstock;

namespace {

std::string modern(LegacyLine line) {
  std::string why;
  auto words = translate_legacy(line, why);
  return words ? written_line(*words) : "! " + why;
}
LegacyLine line(LegacyVerb verb, std::string search, std::string replacement = {}) {
  LegacyLine l;
  l.verb = verb, l.search = std::move(search), l.replacement = std::move(replacement);
  return l;
}

} // namespace

TEST_CASE("reqadd and rspadd become add-header") {
  CHECK(modern(line(LegacyVerb::Add, "X-Proto: SSL")) == "http-request add-header X-Proto SSL");
  LegacyLine percent = line(LegacyVerb::Add, "X-Load: 5%");
  percent.response = true;
  percent.condition = {"if", "slow"};
  CHECK(modern(percent) == "http-response add-header X-Load 5%% if slow");
  CHECK(modern(line(LegacyVerb::Add, "nonsense")).starts_with("!"));
}

TEST_CASE("reqrep of the request line becomes replace-uri, groups counted anew") {
  CHECK(modern(line(LegacyVerb::Replace, "^([^ :]*) /static/(.*)", "\\1 /\\2")) == "http-request replace-uri ^/static/(.*) /\\\\1");
  CHECK(modern(line(LegacyVerb::Replace, "^([^\\ :]*)\\ /a/(.*)", "\\1 /b/\\2")) == "http-request replace-uri ^/a/(.*) /b/\\\\1");
  LegacyLine no_case = line(LegacyVerb::Replace, "^([^ ]*) /A(.*)", "\\1 /b\\2");
  no_case.ignore_case = true;
  CHECK(modern(no_case) == "http-request replace-uri (?i)^/A(.*) /b\\\\1");
  CHECK(modern(line(LegacyVerb::Replace, "^(GET) /a(.*)", "\\1 /b\\2")) == "http-request replace-uri ^/a(.*) /b\\\\1 if { method -m reg -- ^(GET)$ }");
  CHECK(modern(line(LegacyVerb::Replace, "^([^ ]*) /a(.*)", "POST /b\\2")).starts_with("!"));
}

TEST_CASE("reqrep of a header becomes replace-header") {
  CHECK(modern(line(LegacyVerb::Replace, "^Host: (.*)\\.old$", "Host: \\1.new")) == "http-request replace-header Host (.*)\\\\.old$ \\\\1.new");
  CHECK(modern(line(LegacyVerb::Replace, "^Host: x", "Via: y")) == "! its replacement has another header's name");
}

TEST_CASE("reqdel finds the header") {
  CHECK(modern(line(LegacyVerb::Delete, "^X-Forwarded-For:.*")) == "http-request del-header X-Forwarded-For");
  CHECK(modern(line(LegacyVerb::Delete, "^X-Forwarded-For:")) == "http-request del-header X-Forwarded-For");
  LegacyLine server = line(LegacyVerb::Delete, "^Server");
  server.response = true;
  CHECK(modern(server) == "http-response del-header Server -m beg");
  CHECK(modern(line(LegacyVerb::Delete, "anything")).starts_with("!"));
}

TEST_CASE("reqdeny becomes a condition") {
  CHECK(modern(line(LegacyVerb::Deny, "^[^ :]* .*\\.exe")) == "http-request deny if { url -m reg -- ^.*\\\\.exe }");
  LegacyLine no_case = line(LegacyVerb::Deny, "^Host: bad");
  no_case.ignore_case = true;
  no_case.condition = {"if", "outside"};
  CHECK(modern(no_case) == "http-request deny if { req.fhdr(Host) -m reg -i -- ^bad } outside");
  no_case.condition = {"unless", "inside"};
  CHECK(modern(no_case).starts_with("!"));
  CHECK(modern(line(LegacyVerb::Tarpit, "^Host: bad")) == "http-request tarpit if { req.fhdr(Host) -m reg -- ^bad }");
}
