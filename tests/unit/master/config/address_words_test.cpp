// SPDX-License-Identifier: BSD-2-Clause
#include <doctest/doctest.h>

#include <cstdlib>

#include "master/config/parser.h"

using namespace penstock;

namespace {

struct Read {
  AddressWord word;
  std::string error;
  bool ok = false;
};
Read read(string_view text, const AddressRules &rules) {
  Read r;
  r.ok = parse_address_text(text, rules, r.word, r.error);
  return r;
}
constexpr AddressRules bind_rules = {.port_required = true, .port_range = true, .fd = true};
constexpr AddressRules server_rules = {.relative_port = true, .resolve = false};

} // namespace

TEST_CASE("addresses of bind lines") {
  CHECK(read(":80", bind_rules).word.address.text() == "0.0.0.0:80");
  CHECK(read("*:80", bind_rules).word.address.text() == "0.0.0.0:80");
  CHECK(read("[::]:80", bind_rules).word.address.text() == "[::]:80");
  CHECK(read(":::80", bind_rules).word.address.text() == "[::]:80");
  CHECK(read("ipv6@:80", bind_rules).word.address.text() == "[::]:80");
  CHECK(read("[::1]:443", bind_rules).word.address.text() == "[::1]:443");
  CHECK(read("2001:db8::1:80", bind_rules).word.address.text() == "[2001:db8::1]:80");
  CHECK(read("/run/x.sock", bind_rules).word.address.text() == "unix@/run/x.sock");
  CHECK(read("unix@x.sock", bind_rules).word.address.path == "x.sock");
  Read abstract = read("abns@name", bind_rules);
  CHECK(abstract.word.address.path == std::string("\0name", 5));
  CHECK(abstract.word.address.abns_full);
  CHECK_FALSE(read("abnsz@name", bind_rules).word.address.abns_full);
  Read range = read("127.0.0.1:8000-8002", bind_rules);
  CHECK(range.word.port_low == 8000);
  CHECK(range.word.port_high == 8002);
  CHECK(read("fd@7", bind_rules).word.fd == 7);
  CHECK(read("stream+fd@7", bind_rules).word.socket_given);
  CHECK(read("sockpair@9", bind_rules).word.sockpair);
}

TEST_CASE("what a bind line refuses") {
  CHECK(read("1.2.3.4", bind_rules).error == "the port is missing in '1.2.3.4' (write 1.2.3.4:PORT)");
  CHECK(read("udp@1.2.3.4:80", bind_rules).error == "a datagram socket is not possible here");
  CHECK(read(":99999", bind_rules).error == "'99999' is not a port between 0 and 65535");
  CHECK(read(":90-80", bind_rules).error == "the range '90-80' ends before it begins");
  CHECK(read("ipv4@[::1]:80", bind_rules).error == "'::1' is not an IPv4 address as its prefix says");
  CHECK_FALSE(read("fd@", bind_rules).ok);
  CHECK_FALSE(read("fd@x", bind_rules).ok);
  CHECK_FALSE(read("quic4@:443", bind_rules).ok);
}

TEST_CASE("addresses of server lines") {
  Read plain = read("1.2.3.4", server_rules);
  CHECK(plain.ok);
  CHECK_FALSE(plain.word.has_port);
  Read moved = read("1.2.3.4:+10", server_rules);
  CHECK(moved.word.relative_port);
  CHECK(moved.word.port_offset == 10);
  CHECK(read("1.2.3.4:-10", server_rules).word.port_offset == -10);
  CHECK(read("::1", server_rules).word.address.ip.text() == "::1");
  CHECK_FALSE(read("::1", server_rules).word.has_port);
  Read named = read("www.example.com:80", server_rules);
  CHECK(named.word.host == "www.example.com");
  CHECK(named.word.port_low == 80);
  CHECK_FALSE(static_cast<bool>(named.word.address));
  CHECK_FALSE(read("1.2.3.4:80-90", server_rules).ok);
  CHECK_FALSE(read("fd@3", server_rules).ok);
}

TEST_CASE("environment variables in addresses need no quotes") {
  setenv("PENSTOCK_TEST_FD", "12", 1);
  CHECK(read("fd@${PENSTOCK_TEST_FD}", bind_rules).word.fd == 12);
  CHECK(read("fd@$PENSTOCK_TEST_FD", bind_rules).word.fd == 12);
  unsetenv("PENSTOCK_TEST_FD");
  CHECK_FALSE(read("fd@${PENSTOCK_TEST_FD}", bind_rules).ok);
}
