// SPDX-License-Identifier: BSD-2-Clause
#include <doctest/doctest.h>

#include "shared/http/uri.h"

using namespace penstock;

TEST_CASE("targets in their forms") {
  Uri u;
  REQUIRE(split_uri("http://user@a.b:80/p/q?x=1#f", u));
  CHECK(u.scheme == "http");
  CHECK(u.authority == "user@a.b:80");
  CHECK(u.path == "/p/q");
  CHECK(u.query == "x=1");
  CHECK(u.fragment == "f");
  REQUIRE(split_uri("/a?", u));
  CHECK(u.has_query);
  CHECK(split_uri("*", u));
  CHECK_FALSE(split_uri("a:443", u));
  CHECK_FALSE(split_uri("x", u));
  CHECK_FALSE(split_uri("", u));
  CHECK(path_of("/a/b?c/d") == "/a/b");
  CHECK(path_of("http://h/a?c") == "/a");
  CHECK(path_of("http://h?c/d") == "");
  CHECK(path_of("*") == "");
  CHECK(path_of("h:443") == "");
  CHECK(path_and_query_of("http://h/a?c#d") == "/a?c");
  CHECK(query_of("/a?b?c#d") == "b?c");
  CHECK(authority_of("http://h:1/") == "h:1");
  CHECK(authority_of("h:443") == "h:443");
  CHECK(authority_of("/x") == "");
}

TEST_CASE("authorities") {
  Authority a;
  REQUIRE(split_authority("u:p@[::1]:8080", a));
  CHECK(a.userinfo == "u:p");
  CHECK(a.host == "[::1]");
  CHECK(a.port == "8080");
  CHECK_FALSE(split_authority("a:65536", a));
  CHECK_FALSE(split_authority("a:b", a));
  CHECK_FALSE(split_authority("[::1", a));
  CHECK_FALSE(split_authority("[::1]x", a));
  CHECK_FALSE(split_authority(":80", a));
  CHECK(same_authority("A:80", "a", "80"));
  CHECK_FALSE(same_authority("a:81", "a", "80"));
  CHECK(valid_host("a.b_c-d:80"));
  CHECK_FALSE(valid_host("a, b"));
}

TEST_CASE("parameters and escapes") {
  string_view v;
  CHECK(find_url_param("a=1&bb=2&&c&a=3", "bb", v));
  CHECK(v == "2");
  CHECK(find_url_param("a=1&c", "c", v));
  CHECK(v == "");
  CHECK_FALSE(find_url_param("a=1", "A", v));
  CHECK(find_url_param("a=1", "A", v, '&', true));
  char out[32];
  CHECK(string_view(out, percent_decode("a%20b+c", out, true)) == "a b c");
  CHECK(string_view(out, percent_decode("a+c", out, false)) == "a+c");
  CHECK(percent_decode("a%2", out, false) == ~size_t{0});
  CHECK(percent_decode("a%zz", out, false) == ~size_t{0});
}
