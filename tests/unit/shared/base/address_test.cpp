// SPDX-License-Identifier: BSD-2-Clause
#include "shared/base/address.h"

#include <doctest/doctest.h>

using namespace penstock;

TEST_CASE("IP addresses as text") {
  CHECK(parse_ip("127.0.0.1")->text() == "127.0.0.1");
  CHECK(parse_ip("127.0.0.1")->v4_host_order() == 0x7f000001);
  CHECK(parse_ip("2001:DB8::1")->text() == "2001:db8::1");
  CHECK(parse_ip("::")->text() == "::");
  for (string_view bad : {"", "1.2.3", "1.2.3.4.5", "256.0.0.1", "1.2.3.4:80", "::1%lo", "fe80", " 1.2.3.4", "01.2.3.4"}) {
    CAPTURE(bad);
    CHECK(!parse_ip(bad));
  }
}

TEST_CASE("v4 inside v6") {
  CHECK(parse_ip("::ffff:1.2.3.4")->to_v4()->text() == "1.2.3.4");
  CHECK(parse_ip("2002:102:304::")->to_v4()->text() == "1.2.3.4");
  CHECK(!parse_ip("::1")->to_v4());
  CHECK(!parse_ip("2001:db8::1")->to_v4());
  CHECK(parse_ip("1.2.3.4")->to_v6().text() == "::ffff:1.2.3.4");
}

TEST_CASE("networks") {
  auto n = parse_network("10.1.0.0/255.255.0.0");
  CHECK(n->bits == 16);
  CHECK(n->contains(*parse_ip("10.1.200.3")));
  CHECK(!n->contains(*parse_ip("10.2.0.1")));
  CHECK(parse_network("10.0.0.0/9")->contains(*parse_ip("10.127.255.255")));
  CHECK(!parse_network("10.0.0.0/9")->contains(*parse_ip("10.128.0.0")));
  CHECK(parse_network("0.0.0.0/0")->contains(*parse_ip("9.9.9.9")));
  CHECK(!parse_network("0.0.0.0/0")->contains(*parse_ip("::1")));
  CHECK(parse_network("2001:db8::/33")->contains(*parse_ip("2001:db8:7fff::1")));
  CHECK(parse_network("1.2.3.4")->bits == 32);
  for (string_view bad : {"10.0.0.0/33", "10.0.0.0/", "::/129", "::/ffff::", "10.0.0.0/255.0.255.0", "x/8"}) {
    CAPTURE(bad);
    CHECK(!parse_network(bad));
  }
}

TEST_CASE("socket addresses there and back") {
  auto round = [](const Address &a) {
    sockaddr_storage ss;
    socklen_t len = a.to_sockaddr(ss);
    return Address::from_sockaddr(reinterpret_cast<sockaddr *>(&ss), len);
  };
  for (string_view ip : {"127.0.0.1", "::1"}) {
    Address a = Address::from_ip(*parse_ip(ip), 8080);
    CHECK(round(a) == a);
  }
  CHECK(Address::from_ip(*parse_ip("::1"), 80).text() == "[::1]:80");
  Address path;
  path.family = AF_UNIX;
  path.path = "/run/x.sock";
  CHECK(round(path) == path);
  CHECK(path.text() == "unix@/run/x.sock");
  Address abstract = path;
  abstract.path = std::string("\0name", 5);
  CHECK(round(abstract) == abstract);
  CHECK(abstract.text() == "abnsz@name");
  abstract.abns_full = true;
  CHECK(round(abstract) == abstract);
  CHECK(abstract.text() == "abns@name");
}
