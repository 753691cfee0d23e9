// SPDX-License-Identifier: BSD-2-Clause
// `server`, `default-server`, `server-template` and their options, `bind` and its options.
#include <doctest/doctest.h>

#include "tests/unit/master/config/config_text.h"

using namespace penstock;

TEST_CASE("servers take their options from default-server and their own words") {
  ConfigText t(with_timeouts + "backend b\n default-server inter 5s maxconn 10 weight 3\n server a 127.0.0.1:1 weight 7\n server c 127.0.0.1:2\n"
               " default-server maxconn 20\n server d 127.0.0.1:3 check rise 4\n");
  CHECK(t.said() == "");
  const auto &s = t.proxy(0).servers;
  REQUIRE(s.size() == 3);
  CHECK(s[0]->options->weight == 7);
  CHECK(s[0]->options->inter == 5000);
  CHECK(s[1]->options->weight == 3);
  CHECK(s[1]->options->maxconn == 10);
  CHECK(s[2]->options->maxconn == 20);
  CHECK(s[2]->options->check);
  CHECK(s[2]->options->rise == 4);
}

TEST_CASE("lines that read the same share their options") {
  ConfigText t(with_timeouts + "backend b\n server a 127.0.0.1:1 check inter 1s\n server c 127.0.0.1:2 check inter 1s\n server d 127.0.0.1:3\n server e 127.0.0.1:4\n");
  const auto &s = t.proxy(0).servers;
  REQUIRE(s.size() == 4);
  CHECK(s[0]->options == s[1]->options);
  CHECK(s[2]->options == s[3]->options);
  CHECK(s[0]->options != s[2]->options);
}

TEST_CASE("a server without a port takes the client's") {
  ConfigText t(with_timeouts + "backend b\n server a 127.0.0.1\n server c 127.0.0.1:+1000\n server d 127.0.0.1:80\n server e /tmp/x.sock\n");
  const auto &s = t.proxy(0).servers;
  REQUIRE(s.size() == 4);
  CHECK(s[0]->port_from_client);
  CHECK(s[1]->port_from_client);
  CHECK(s[1]->port_offset == 1000);
  CHECK_FALSE(s[2]->port_from_client);
  CHECK(s[2]->port == 80);
  CHECK_FALSE(s[3]->port_from_client);
}

TEST_CASE("server-template makes several") {
  ConfigText t(with_timeouts + "backend b\n server-template web 2-4 127.0.0.1:80 id 10\n");
  CHECK(t.said() == "");
  const auto &s = t.proxy(0).servers;
  REQUIRE(s.size() == 3);
  CHECK(s[0]->name == "web2");
  CHECK(s[2]->name == "web4");
  CHECK(s[2]->id == 12);
}

TEST_CASE("minconn without a higher maxconn is the limit") {
  ConfigText t(with_timeouts + "backend b\n server a 127.0.0.1:1 minconn 5\n server c 127.0.0.1:2 minconn 5 maxconn 9\n");
  CHECK(t.proxy(0).servers[0]->options->maxconn == 5);
  CHECK(t.proxy(0).servers[0]->options->minconn == 0);
  CHECK(t.proxy(0).servers[1]->options->minconn == 5);
}

TEST_CASE("mistakes on server lines stand at their words") {
  ConfigText t(with_timeouts + "backend b\n server a 127.0.0.1:1 chek\n server c 127.0.0.1:2 weight 300\n server d 127.0.0.1:3 ssl verify none check\n"
               " server e\n server f 127.0.0.1:4 inter 0\n server g 127.0.0.1:5-6\n");
  CHECK(t.mentions("6:23 unknown option 'chek' on a 'server' line (did you mean 'check'"));
  CHECK(t.mentions("7:30 "));
  CHECK(t.mentions("8:23 the option 'ssl' is known but not implemented yet"));
  CHECK(t.mentions("8:27 the option 'verify' is known but not implemented yet"));
  CHECK_FALSE(t.mentions("'none'"));
  CHECK(t.mentions("10:29 'inter' expects a delay above 0"));
  CHECK(t.mentions("11:11 'server': a range of ports ('5-6') is not possible here"));
}

TEST_CASE("bind lines: lists, ranges, options") {
  ConfigText t(with_timeouts + "listen f\n bind 127.0.0.1:8000-8002,127.0.0.2:9000 name web backlog 10 accept-proxy\n bind /tmp/penstock-unit.sock mode 660\n server s 127.0.0.1:1\n");
  CHECK(t.said() == "");
  const auto &b = t.proxy(0).binds;
  REQUIRE(b.size() == 5);
  CHECK(b[2]->address.text() == "127.0.0.1:8002");
  CHECK(b[3]->address.text() == "127.0.0.2:9000");
  CHECK(b[3]->accept_proxy);
  CHECK(b[3]->name == "web");
  CHECK(b[4]->mode == 0660);
}

TEST_CASE("mistakes on bind lines") {
  ConfigText t(with_timeouts + "listen f\n bind 127.0.0.1\n bind :8080 ssl crt /x\n bind :8081 mod 660\n bind :8082 mode 999\n server s 127.0.0.1:1\n");
  CHECK(t.mentions("6:7 'bind': the port is missing in '127.0.0.1'"));
  CHECK(t.mentions("7:13 the option 'ssl' is known but not implemented yet"));
  CHECK(t.mentions("8:13 unknown option 'mod' on a 'bind' line (did you mean 'mode'"));
  CHECK(t.mentions("9:18 'mode' expects an octal mode such as 660, got '999'"));
}
