// SPDX-License-Identifier: BSD-2-Clause
#include <doctest/doctest.h>

#include <string>

#include "shared/http/cookie.h"

using namespace penstock;

namespace {

HttpMessage with(string_view a, string_view b = {}) {
  HttpMessage m;
  m.make_request("GET", "/");
  m.add(Header::Cookie, a);
  if (!b.empty()) m.add(Header::Cookie, b);
  return m;
}

std::string removed(string_view text, string_view name) {
  HttpMessage m = with(text);
  CookiePlace at;
  REQUIRE(find_cookie(m, name, at));
  remove_cookie(m, at);
  return m.size() == 0 ? "-" : std::string(m.value(0));
}

} // namespace

TEST_CASE("cookies of a request") {
  HttpMessage m = with("a=1; SRV=s1;b = \"x;y\" ;c", "SRV=s2; d=");
  string_view v;
  CHECK(cookie_value(m, "a", v));
  CHECK(v == "1");
  CHECK(cookie_value(m, "b", v));
  CHECK(v == "\"x;y\"");
  CHECK(cookie_value(m, "c", v));
  CHECK(v == "");
  CHECK(cookie_value(m, "d", v));
  CHECK_FALSE(cookie_value(m, "srv", v));
  CookiePlace at;
  REQUIRE(find_cookie(m, "SRV", at));
  CHECK(at.span.value(m.value(at.field)) == "s1");
  set_cookie_value(m, at, "longer");
  CHECK(m.value(0) == "a=1; SRV=longer;b = \"x;y\" ;c");
  REQUIRE(find_cookie(m, "SRV", at));
  CHECK(at.field == 1);
  set_cookie_value(m, at, "s3");
  CHECK(m.value(1) == "SRV=s3; d=");
  CHECK_FALSE(find_cookie(m, "SRV", at));
}

TEST_CASE("one cookie is taken out") {
  CHECK(removed("a=1; b=2; c=3", "a") == "b=2; c=3");
  CHECK(removed("a=1; b=2; c=3", "b") == "a=1; c=3");
  CHECK(removed("a=1; b=2; c=3", "c") == "a=1; b=2");
  CHECK(removed("a=1", "a") == "-");
  CHECK(removed("a=1;", "a") == "-");
}

TEST_CASE("cookies of a response") {
  HttpMessage m;
  m.make_response(200, "OK");
  m.add("Set-Cookie", "other=1; path=/");
  m.add("Set-Cookie", "SRV=x; path=/; SRV=no");
  CookiePlace at;
  REQUIRE(find_cookie(m, "SRV", at));
  CHECK(at.field == 1);
  set_cookie_value(m, at, "s1~x");
  CHECK(m.value(1) == "SRV=s1~x; path=/; SRV=no");
  at = {};
  REQUIRE(find_cookie(m, "other", at));
  remove_cookie(m, at);
  CHECK(m.size() == 1);
}
