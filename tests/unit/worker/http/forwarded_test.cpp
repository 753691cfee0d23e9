// SPDX-License-Identifier: BSD-2-Clause
#include <doctest/doctest.h>

#include "worker/http/forwarded.h"

using namespace penstock;

namespace {
std::string node(ForwardedNode n, string_view port = {}, bool with_port = false) {
  std::string s;
  append_forwarded_node(s, "for", n, port, with_port);
  return s;
}
} // namespace

TEST_CASE("nodes of the Forwarded field") {
  CHECK(node({*parse_ip("127.0.0.1"), ""}) == "for=127.0.0.1");
  CHECK(node({*parse_ip("127.0.0.1"), ""}, "10", true) == "for=\"127.0.0.1:10\"");
  CHECK(node({*parse_ip("::1"), ""}) == "for=\"[::1]\"");
  CHECK(node({*parse_ip("::1"), ""}, "10", true) == "for=\"[::1]:10\"");
  CHECK(node({{}, "0000ABC"}) == "for=_0000ABC");
  CHECK(node({{}, "_x"}) == "for=_x");
  CHECK(node({{}, "a\"b"}) == "for=unknown");
  CHECK(node({{}, ""}, "", true) == "for=\"unknown\"");
  CHECK(node({{}, "x"}, "77777", true) == "for=\"_x:_77777\"");
  CHECK(node({{}, "x"}, "abc", true) == "for=\"_x:_abc\"");
}

TEST_CASE("parameters follow each other") {
  std::string s = "proto=http";
  append_forwarded_host(s, "a:80");
  append_forwarded_node(s, "for", {*parse_ip("10.0.0.1"), ""}, {}, false);
  CHECK(s == "proto=http;host=\"a:80\";for=10.0.0.1");
  std::string t;
  append_forwarded_host(t, "a\"b");
  CHECK(t == "host=\"\"");
}
