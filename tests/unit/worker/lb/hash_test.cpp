// SPDX-License-Identifier: BSD-2-Clause
#include "farm_fixture.h"

#include "reference_choices.h"
#include "shared/base/hash.h"
#include "shared/base/text.h"
#include "worker/lb/hash_key.h"

using namespace penstock;
using namespace penstock::test;

namespace {

std::vector<std::string> paths() {
  std::vector<std::string> out = {"/", "/a", "/a/b", "/a/b/c.html?x=1", "/index.html", "/img/x.png?id=5", "/x?id=abc", "/?q=1&id=zzz",
                                  "/very/long/path/that/goes/on?yes=1&id=", "/" + std::string(50, 'z')};
  for (int i = 0; i < 40; i++) out.push_back("/p" + std::to_string(i) + "/q" + std::to_string(i % 3) + "?id=" + std::to_string(i * i));
  return out;
}
std::vector<std::string> hosts() {
  std::vector<std::string> out = {"example.com", "www.example.com", "a.b.c.org", "localhost", "haproxy.1wt.eu", "x:8080", "www.foo.net:81", "1.2.3.4", "a..b", ".x", "x."};
  for (int i = 0; i < 20; i++) out.push_back("h" + std::to_string(i) + ".d" + std::to_string(i) + ".tld" + std::to_string(i));
  return out;
}
std::vector<std::string> addresses() {
  std::vector<std::string> out;
  for (int i = 0; i < 60; i++) out.push_back("127." + std::to_string(i % 5) + "." + std::to_string(i * 37 % 256) + "." + std::to_string(i + 1));
  return out;
}

struct Setting {
  string_view word;
  void (*apply)(Balance &);
};
constexpr Setting settings[] = {
    {"source", [](Balance &b) { b.algorithm = BalanceAlgorithm::Source; }},
    {"uri", [](Balance &b) { b.algorithm = BalanceAlgorithm::Uri; }},
    {"url_param", [](Balance &b) { b.algorithm = BalanceAlgorithm::UrlParam, b.name = "id"; }},
    {"hdr", [](Balance &b) { b.algorithm = BalanceAlgorithm::Hdr, b.name = "host"; }},
    {"use_domain_only", [](Balance &b) { b.domain_only = true; }},
    {"consistent", [](Balance &b) { b.hash = HashKind::Consistent, b.avalanche = true; }}, // with sdbm, when no function is given
    {"sdbm", [](Balance &b) { b.function = HashFunction::Sdbm, b.avalanche = false; }},
    {"djb2", [](Balance &b) { b.function = HashFunction::Djb2, b.avalanche = false; }},
    {"crc32", [](Balance &b) { b.function = HashFunction::Crc32, b.avalanche = false; }},
    {"avalanche", [](Balance &b) { b.avalanche = true; }},
    {"len", [](Balance &b) { b.len = 4; }},
    {"depth", [](Balance &b) { b.depth = 1; if (b.len) b.len = 9, b.depth = 2; }},
    {"whole", [](Balance &b) { b.whole = true; }},
};

} // namespace

TEST_CASE("hashing chooses the server that the reference chooses") {
  for (const ReferenceChoices &want : reference_choices) {
    CAPTURE(want.settings);
    bool ids = string_view(want.servers) == "ids";
    FarmFixture f(ids ? std::vector<u32>{10, 10, 20} : std::vector<u32>{1, 2, 5});
    if (ids)
      for (u32 i = 0; i < 3; i++) f.backend->servers[i]->id = std::array<u32, 3>{7, 3, 900}[i];
    Balance &b = f.backend->balance;
    for (string_view word : split(want.settings, ' '))
      for (const Setting &s : settings)
        if (s.word == word) s.apply(b);
    f.assign();
    TestWorker w(f);
    bool by_source = b.algorithm == BalanceAlgorithm::Source, by_header = b.algorithm == BalanceAlgorithm::Hdr;
    auto inputs = by_source ? addresses() : by_header ? hosts() : paths();
    REQUIRE(inputs.size() == string_view(want.chosen).size());
    HttpMessage request;
    for (size_t i = 0; i < inputs.size(); i++) {
      request.make_request("GET", by_source || by_header ? "/" : string_view(inputs[i]));
      if (by_header) request.add("Host", inputs[i]);
      Address client = by_source ? Address::from_ip(*parse_ip(inputs[i]), 1000) : Address{};
      PickRequest pick{.request = &request, .client = &client};
      u32 hash;
      if (!hash_key(b, pick, hash)) continue; // no key: round robin
      CAPTURE(inputs[i]);
      CHECK(w.farm.pick(pick).server->name.back() == want.chosen[i]);
    }
  }
}

TEST_CASE("hash functions give the reference's values") {
  CHECK(sdbm("haproxy") == 248846773);
  CHECK(avalanche(sdbm("haproxy")) == 3200903771);
  CHECK(djb2("haproxy") == 869782672);
  CHECK(crc32("haproxy") == 1405960096);
  CHECK(crc32c("haproxy") == 511962083);
  CHECK(xxh32("haproxy", 0) == 155018634);
  CHECK(static_cast<i64>(xxh64("haproxy", 0)) == 4248057493638360945);
  CHECK(static_cast<i64>(xxh3("haproxy", 0)) == -5284988466841329126);
  CHECK(leading_number("123abc") == 123);
}

TEST_CASE("static-rr serves in the order of the map") {
  FarmFixture f({1, 2, 5});
  f.backend->balance.algorithm = BalanceAlgorithm::StaticRr;
  f.assign();
  TestWorker w(f);
  std::string order;
  for (int i = 0; i < 16; i++) order += w.farm.pick({}).server->name.back();
  CHECK(order == "1323323313233233");
}

TEST_CASE("losing a server moves only its own keys on the ring") {
  FarmFixture f({1, 1, 1, 1});
  f.backend->balance.algorithm = BalanceAlgorithm::Uri;
  f.backend->balance.hash = HashKind::Consistent;
  f.assign();
  ServerStates states(*f.service, f.config);
  TestWorker w(f);
  HttpMessage request;
  auto server_of = [&](const std::string &path) {
    request.make_request("GET", path);
    return w.farm.pick({.request = &request}).server;
  };
  std::vector<const Server *> before;
  for (const std::string &p : paths()) before.push_back(server_of(p));
  states.set_down(f.server(2), 1);
  for (size_t i = 0; i < before.size(); i++) {
    const Server *now = server_of(paths()[i]);
    CHECK(now != &f.server(2));
    if (before[i] != &f.server(2)) CHECK(now == before[i]);
  }
}

TEST_CASE("hash-balance-factor bounds what one server gets") {
  FarmFixture f({1, 1, 1, 1});
  f.backend->balance.algorithm = BalanceAlgorithm::Uri;
  f.backend->balance.hash = HashKind::Consistent;
  f.backend->balance.balance_factor = 150;
  f.assign();
  TestWorker w(f);
  HttpMessage request;
  request.make_request("GET", "/the/same/for/all");
  for (int i = 0; i < 100; i++) w.farm.pick({.request = &request});
  for (u32 i = 0; i < 4; i++) CHECK(f.row(i).served.count() <= 38);
}

TEST_CASE("random respects weights and prefers the less loaded") {
  FarmFixture f({10, 30});
  f.backend->balance.algorithm = BalanceAlgorithm::Random;
  f.assign();
  TestWorker w(f);
  u64 seed = 1;
  for (int i = 0; i < 400; i++) w.farm.pick({.random = seed = seed * 6364136223846793005 + 1});
  CHECK(f.row(0).served.count() > 80);
  CHECK(f.row(0).served.count() < 120);
}

TEST_CASE("keys of requests") {
  string_view v;
  CHECK(query_parameter("a=1&id=7&b", "id", '&', v));
  CHECK(v == "7");
  CHECK(!query_parameter("aid=1&xid=2", "id", '&', v));
  std::string rdp = std::string("\x03\x00\x00\x2f\x2a\xe0\x00\x00\x00\x00\x00", 11) + "Cookie: mstshash=alice\r\n";
  CHECK(rdp_cookie(rdp, "mstshash", v));
  CHECK(v == "alice");
  CHECK(!rdp_cookie(rdp, "msts", v));
  CHECK(!rdp_cookie(rdp.substr(0, 12), "mstshash", v));
  CHECK(!rdp_cookie("", "mstshash", v));
  Balance b;
  b.path_only = true;
  CHECK(uri_key("http://foo/bar/x?y=1", b) == "/bar/x");
  CHECK(uri_key("/bar", b) == "/bar");
  b = {}, b.whole = true, b.depth = 2;
  CHECK(uri_key("/a?/b/c", b) == "/a?/b");
}
