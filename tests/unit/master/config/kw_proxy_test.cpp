// SPDX-License-Identifier: BSD-2-Clause
// Settings of proxy sections: one case per family of keywords.
#include <doctest/doctest.h>

#include "tests/unit/master/config/config_text.h"

using namespace penstock;

namespace {
const std::string a_server = " server s 127.0.0.1:1\n";
}

TEST_CASE("timeouts, old spellings included") {
  ConfigText t("defaults\n contimeout 5\n clitimeout 10s\n srvtimeout 1m\n timeout queue 0\nbackend b\n" + a_server);
  const Timeouts &o = t.proxy(0).timeout;
  CHECK(o.connect == 5);
  CHECK(o.client == 10000);
  CHECK(o.server == 60000);
  CHECK(o.queue == eternity);
  CHECK(t.diags.warnings() == 3);
  CHECK(t.mentions("2:2 'contimeout' is an old form (write 'timeout connect')"));
}

TEST_CASE("options are switched on, off, and inherited") {
  ConfigText t(with_http + " option dontlognull\n option redispatch\n option httpclose\n"
               "listen a\n bind 127.0.0.1:1\n no option dontlognull\n no option httpclose\n" + a_server +
               "listen b\n bind 127.0.0.1:2\n option redispatch 2\n option http-server-close\n" + a_server);
  CHECK(t.said() == "");
  CHECK_FALSE(t.proxy(0).has(Opt::Dontlognull));
  CHECK(t.proxy(0).conn_mode == HttpConnMode::KeepAlive);
  CHECK(t.proxy(0).redispatch_interval == -1);
  CHECK(t.proxy(1).has(Opt::Dontlognull));
  CHECK(t.proxy(1).conn_mode == HttpConnMode::ServerClose);
  CHECK(t.proxy(1).redispatch_interval == 2);
}

TEST_CASE("forwardfor") {
  ConfigText t(with_http + "listen a\n bind 127.0.0.1:1\n option forwardfor except 127.0.0.0/8 except 10.0.0.1 header X-Client if-none\n" + a_server);
  REQUIRE(t.proxy(0).forwardfor);
  CHECK(t.proxy(0).forwardfor->except.size() == 2);
  CHECK(t.proxy(0).forwardfor->header == "X-Client");
  CHECK(t.proxy(0).forwardfor->if_none);
  ConfigText bad(with_http + "listen a\n bind 127.0.0.1:1\n option forwardfor exept 1.2.3.4\n" + a_server);
  CHECK(bad.mentions("8:20 'option forwardfor' expects 'except', 'header' or 'if-none', got 'exept' (did you mean 'except'"));
}

TEST_CASE("balance") {
  auto balance_of = [](std::string line) { return ConfigText(with_http + "backend b\n " + line + "\n" + a_server); };
  CHECK(balance_of("balance leastconn").proxy(0).balance.algorithm == BalanceAlgorithm::LeastConn);
  ConfigText uri = balance_of("balance uri len 10 depth 2 whole");
  CHECK(uri.proxy(0).balance.len == 10);
  CHECK(uri.proxy(0).balance.depth == 2);
  CHECK(uri.proxy(0).balance.whole);
  CHECK(balance_of("balance hdr(Host) use_domain_only").proxy(0).balance.name == "Host");
  CHECK(balance_of("balance random(3)").proxy(0).balance.draws == 3);
  CHECK(balance_of("balance hash str(x)").proxy(0).balance.expr);
  CHECK(balance_of("balance rdp-cookie").proxy(0).balance.name == "msts");
  ConfigText type = balance_of("hash-type consistent djb2 avalanche");
  CHECK(type.proxy(0).balance.hash == HashKind::Consistent);
  CHECK(type.proxy(0).balance.function == HashFunction::Djb2);
  CHECK(type.proxy(0).balance.avalanche);
  CHECK(balance_of("balance roundrobbin").mentions("(did you mean 'roundrobin'"));
  CHECK(balance_of("balance hdr()").mentions("'hdr' expects the name of a header in parentheses"));
  CHECK(balance_of("balance sticky").mentions("known but not implemented yet"));
  CHECK(balance_of("hash-balance-factor 50").diags.failed());
}

TEST_CASE("cookies") {
  ConfigText t(with_http + "backend b\n cookie SRV insert indirect nocache postonly preserve httponly secure domain .a.org maxidle 3h maxlife 4h attr SameSite=None dynamic\n dynamic-cookie-key k\n" + a_server);
  REQUIRE(t.proxy(0).cookie);
  const CookiePersistence &c = *t.proxy(0).cookie;
  CHECK((c.insert && c.indirect && c.nocache && c.postonly && c.preserve && c.httponly && c.secure && c.dynamic));
  CHECK(c.maxidle_s == 3 * 3600);
  CHECK(c.domains.size() == 1);
  ConfigText bad(with_http + "backend b\n cookie A insert prefix\n cookie B inser\n" + a_server);
  CHECK(bad.mentions("'rewrite', 'insert' and 'prefix' exclude each other"));
  CHECK(bad.mentions("(did you mean 'insert'"));
}

TEST_CASE("logs") {
  ConfigText t(with_http + "listen a\n bind 127.0.0.1:1\n log 127.0.0.1 len 200 format rfc5424 sample 1-2,4:5 local3 notice err\n log stdout format raw daemon\n log /dev/log user\n log-format a\n" + a_server);
  CHECK(t.said() == "");
  const auto &logs = t.proxy(0).logs;
  REQUIRE(logs.size() == 3);
  CHECK(logs[0].address.text() == "127.0.0.1:514");
  CHECK(logs[0].max_len == 200);
  CHECK(logs[0].facility == 19);
  CHECK(logs[0].max_level == 5);
  CHECK(logs[0].min_level == 3);
  CHECK(logs[0].sample_ranges.size() == 2);
  CHECK(logs[1].fd == 1);
  CHECK(logs[2].address.family == AF_UNIX);
  CHECK(t.proxy(0).log_format_text == "a");
  ConfigText bad(with_http + "listen a\n bind 127.0.0.1:1\n log 127.0.0.1 locl0\n log 127.0.0.1 sample 7:5 local0\n log\n log-format a b\n" + a_server);
  CHECK(bad.mentions("8:16 'log' expects a facility"));
  CHECK(bad.mentions("(did you mean 'local0'"));
  CHECK(bad.mentions("9:23 'sample' expects"));
  CHECK(bad.mentions("put the format into quotes, or escape its blanks"));
}

TEST_CASE("error pages") {
  ConfigText t(with_http + "http-errors site\n errorfile 404 /dev/null\nlisten a\n bind 127.0.0.1:1\n errorloc303 503 http://x/\n errorfiles site\n"
               " http-error status 403 content-type text/plain string no hdr X y\n" + a_server);
  CHECK(t.said() == "");
  const auto &r = t.proxy(0).error_replies;
  REQUIRE(r.size() == 3);
  CHECK(r.at(404)->kind == HttpReply::Raw);
  CHECK(r.at(503)->redirect_to == "http://x/");
  CHECK(r.at(403)->text == "no");
  ConfigText bad(with_http + "listen a\n bind 127.0.0.1:1\n errorfiles sit\n errorfile 999 /dev/null\n errorfile 404 /nonexistent\n http-error status 403 string x\n" + a_server);
  CHECK(bad.mentions("8:13 there is no http-errors section 'sit'"));
  CHECK(bad.mentions("'errorfile' expects a status out of"));
  CHECK(bad.mentions("a payload needs a 'content-type'"));
}

TEST_CASE("the statistics page") {
  ConfigText t(with_http + "listen stats\n bind 127.0.0.1:1\n stats enable\n stats uri /\n stats auth admin:admin\n stats refresh 2s\n stats admin if TRUE\n");
  CHECK(t.said() == "");
  REQUIRE(t.proxy(0).stats);
  CHECK(t.proxy(0).stats->uri == "/");
  CHECK(t.proxy(0).stats->refresh_s == 2);
  CHECK(t.proxy(0).stats->users.at(0) == "admin:admin");
  CHECK(t.proxy(0).stats->admin);
}

TEST_CASE("keywords that are only known are refused by name") {
  ConfigText t(with_http + "listen a\n bind 127.0.0.1:1\n filter trace\n compression algo gzip\n" + a_server);
  CHECK(t.mentions("8:2 'filter' is known but not supported yet"));
  CHECK(t.mentions("9:2 'compression' is known but not supported yet"));
}
