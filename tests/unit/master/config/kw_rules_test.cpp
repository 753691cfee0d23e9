// SPDX-License-Identifier: BSD-2-Clause
// Rule lines find their lists; those of named defaults sections come first; old ones are translated.
#include <doctest/doctest.h>

#include "tests/unit/master/config/config_text.h"

using namespace penstock;

TEST_CASE("block runs before the http-request rules, redirect has a list of its own") {
  ConfigText t(with_http + "listen a\n bind 127.0.0.1:1\n redirect location /x if { path /y }\n http-request set-header A b\n block if { path /z }\n server s 127.0.0.1:1\n");
  CHECK(t.diags.alerts() == 0);
  const RuleList &rules = t.proxy(0).http_request;
  REQUIRE(rules.size() == 2);
  CHECK(rules[0]->action->name == "deny");
  CHECK(rules[1]->action->name == "set-header");
  REQUIRE(t.proxy(0).redirects.size() == 1);
  CHECK(t.proxy(0).redirects[0]->action->name == "redirect");
}

TEST_CASE("rules of a named defaults section") {
  ConfigText t("defaults d\n mode http\n timeout client 1s\n timeout server 1s\n timeout connect 1s\n http-request set-header A b\nlisten a from d\n bind 127.0.0.1:1\n http-request set-header C d\n server s 127.0.0.1:1\n");
  CHECK(t.said() == "");
  CHECK(t.proxy(0).http_request.size() == 2);
}

TEST_CASE("old rules are translated, one warning each that shows the modern line") {
  ConfigText t(with_http + "listen a\n bind 127.0.0.1:1\n reqadd X-A:\\ b\n rspidel ^Server\n reqrep ^([^\\ :]*)\\ /s/(.*) \\1\\ /\\2\n reqidel ^X-F:.* if { path /x }\n server s 127.0.0.1:1\n");
  CHECK(t.diags.alerts() == 0);
  CHECK(t.diags.warnings() == 4);
  CHECK(t.mentions("8:0 'reqadd' is an old form (write 'http-request add-header X-A b')"));
  CHECK(t.mentions("write 'http-request replace-uri ^/s/(.*) /\\\\1'"));
  CHECK(t.proxy(0).http_request.size() == 3);
  CHECK(t.proxy(0).http_response.size() == 1);
  ConfigText bad(with_http + "listen a\n bind 127.0.0.1:1\n reqrep foo bar\n server s 127.0.0.1:1\n");
  CHECK(bad.mentions("'reqrep' is an old form that cannot be translated"));
}

TEST_CASE("several acl lines of a name add up") {
  ConfigText t(with_http + "listen a\n bind 127.0.0.1:1\n acl x path /a\n acl x path /b\n http-request deny if x\n server s 127.0.0.1:1\n");
  CHECK(t.said() == "");
  REQUIRE(t.proxy(0).acls.size() == 1);
  CHECK(t.proxy(0).acls[0]->tests.size() == 2);
}
