// SPDX-License-Identifier: BSD-2-Clause
// Expectations are what the reference (haproxy 2.6.12) was observed to do with the same messages.
#include "farm_fixture.h"

#include "worker/lb/persist.h"

using namespace penstock;
using namespace penstock::test;

namespace {

constexpr i64 now = 1'796'086'249;

struct CookieFixture : FarmFixture {
  CookiePersistence settings;
  explicit CookieFixture(void (*set)(CookiePersistence &)) : FarmFixture({1, 1}) {
    settings.name = "SRV";
    set(settings);
    for (auto &s : backend->servers) s->cookie = s->name == "s1" ? "S1" : "S2";
  }
  /// "letters server | Cookie fields that go to the server | Set-Cookie and Cache-Control that the client gets".
  /// Without a valid cookie s1 serves.
  std::string run(std::vector<string_view> cookies, std::vector<string_view> set_cookies = {}, string_view cache_control = {}, Method method = Method::Get) {
    if (!backend->cookie) {
      backend->cookie = std::make_shared<CookiePersistence>(settings);
      assign();
    }
    Persistence p(*service, *backend);
    Arena arena;
    HttpMessage request, response;
    request.make_request(method_name(method), "/");
    for (string_view c : cookies) request.add("cookie", c);
    PersistState state = p.read_request(request, now, force);
    if (overrule) state.overruled();
    const Server &chosen = state.server ? *state.server : server(0);
    response.make_response(200, "OK");
    for (string_view c : set_cookies) response.add("set-cookie", c);
    if (!cache_control.empty()) response.add("cache-control", cache_control);
    p.change_response(response, method, chosen, state, now, arena);
    std::string out = {state.client, state.server_letter};
    out += " " + chosen.name + " |";
    for (size_t i = 0; i < request.size(); i++) out += " " + std::string(request.value(i));
    out += " |";
    for (size_t i = 0; i < response.size(); i++) out += " " + std::string(response.value(i));
    return out;
  }
  bool force = false, overrule = false;
};

std::string dated(i64 last, i64 first = 0) {
  char d[5];
  write_cookie_date(now + last, d);
  std::string out = "SRV=S2|" + std::string(d, 5);
  if (!first) return out;
  write_cookie_date(now + (first == 1 ? 0 : first), d);
  return out + "|" + std::string(d, 5);
}

} // namespace

TEST_CASE("cookie insert") {
  CookieFixture f([](CookiePersistence &c) { c.insert = true; });
  CHECK(f.run({}) == "NI s1 | | SRV=S1; path=/");
  CHECK(f.run({"SRV=S2"}) == "VN s2 | SRV=S2 |");
  CHECK(f.run({"SRV=BAD"}) == "II s1 | SRV=BAD | SRV=S1; path=/");
  CHECK(f.run({"a=1; SRV=S2; b=2"}) == "VN s2 | a=1; SRV=S2; b=2 |");
  CHECK(f.run({}, {"SRV=xx; path=/foo"}) == "NI s1 | | SRV=S1; path=/");
  CHECK(f.run({"SRV=S2"}, {"SRV=xx; path=/foo"}) == "VD s2 | SRV=S2 |");
  CHECK(f.run({"a=1", "SRV=S2"}) == "VN s2 | a=1 SRV=S2 |");
  CHECK(f.run({"SRV=S1; SRV=S2"}) == "VN s1 | SRV=S1; SRV=S2 |");
  CHECK(f.run({"SRV=\"S2\""}) == "II s1 | SRV=\"S2\" | SRV=S1; path=/");
  CHECK(f.run({"SRV=S2;a=b"}) == "VN s2 | SRV=S2;a=b |");
  CHECK(f.run({"SRV="}) == "II s1 | SRV= | SRV=S1; path=/");
  CHECK(f.run({dated(0)}) == "VN s2 | " + dated(0) + " |");
}

TEST_CASE("cookie insert indirect nocache") {
  CookieFixture f([](CookiePersistence &c) { c.insert = c.indirect = c.nocache = true; });
  CHECK(f.run({"SRV=S2"}) == "VN s2 | |");
  CHECK(f.run({"SRV=BAD"}) == "II s1 | | SRV=S1; path=/");
  CHECK(f.run({"a=1; SRV=S2; b=2"}) == "VN s2 | a=1; b=2 |");
  CHECK(f.run({"SRV=S1; SRV=S2"}) == "VN s1 | |");
  CHECK(f.run({}, {}, "max-age=10") == "NI s1 | | max-age=10 SRV=S1; path=/ private");
  CHECK(f.run({}, {}, "s-maxage=9") == "NI s1 | | s-maxage=9 SRV=S1; path=/ private");
  CHECK(f.run({}, {}, "public") == "NI s1 | | public SRV=S1; path=/");
  CHECK(f.run({}, {}, "max-age=0") == "NI s1 | | max-age=0 SRV=S1; path=/");
  CHECK(f.run({}, {}, "private") == "NI s1 | | private SRV=S1; path=/");
  CHECK(f.run({}, {}, "max-age=10", Method::Post) == "NI s1 | | max-age=10 SRV=S1; path=/");
}

TEST_CASE("cookie insert with preserve, postonly and attributes") {
  CookieFixture preserve([](CookiePersistence &c) { c.insert = c.indirect = c.preserve = true; });
  CHECK(preserve.run({}, {"SRV=xx; path=/foo"}) == "NP s1 | | SRV=xx; path=/foo");
  CHECK(preserve.run({"SRV=S2"}, {"SRV=xx; path=/foo"}) == "VP s2 | | SRV=xx; path=/foo");
  CookieFixture postonly([](CookiePersistence &c) { c.insert = c.postonly = true; });
  CHECK(postonly.run({}) == "NN s1 | |");
  CHECK(postonly.run({}, {}, {}, Method::Post) == "NI s1 | | SRV=S1; path=/");
  CHECK(postonly.run({"SRV=S9"}) == "IN s1 | SRV=S9 |");
  CHECK(postonly.run({}, {"SRV=x"}) == "ND s1 | |");
  CookieFixture attributes([](CookiePersistence &c) {
    c.insert = c.httponly = c.secure = true;
    c.domains = {".x.org", "y.org"}, c.attrs = {"SameSite=Lax", "Foo"};
  });
  CHECK(attributes.run({}) == "NI s1 | | SRV=S1; path=/; domain=.x.org; domain=y.org; HttpOnly; Secure; SameSite=Lax; Foo");
}

TEST_CASE("cookie rewrite and prefix") {
  CookieFixture rewrite([](CookiePersistence &c) { c.rewrite = true; });
  CHECK(rewrite.run({}) == "NN s1 | |");
  CHECK(rewrite.run({"SRV=S2"}, {"SRV=xx; path=/foo"}) == "VR s2 | SRV=S2 | SRV=S2; path=/foo");
  CHECK(rewrite.run({}, {"SRV=; path=/"}) == "NR s1 | | SRV=S1; path=/");
  CHECK(rewrite.run({}, {"other=1", "SRV=\"a b\"; x"}) == "NR s1 | | other=1 SRV=S1; x");
  CHECK(rewrite.run({}, {"a=1; SRV=2"}) == "NN s1 | | a=1; SRV=2");
  CookieFixture prefix([](CookiePersistence &c) { c.prefix = true; });
  CHECK(prefix.run({"SRV=S2~orig; a=1"}) == "VN s2 | SRV=orig; a=1 |");
  CHECK(prefix.run({"SRV=BAD~orig"}) == "IN s1 | SRV=orig |");
  CHECK(prefix.run({"SRV=S2~"}) == "VN s2 | SRV= |");
  CHECK(prefix.run({"a=1; SRV=S2~or~ig"}) == "VN s2 | a=1; SRV=or~ig |");
  CHECK(prefix.run({}, {"SRV=xx; path=/foo"}) == "NR s1 | | SRV=S1~xx; path=/foo");
  CookieFixture indirect([](CookiePersistence &c) { c.prefix = c.indirect = true; });
  CHECK(indirect.run({"SRV=S2~orig"}, {"SRV=xx"}) == "VD s2 | SRV=orig |");
  CookieFixture alone([](CookiePersistence &c) { c.indirect = true; });
  CHECK(alone.run({"SRV=S2"}, {"SRV=xx"}) == "VD s2 | SRV=S2 |");
  CHECK(alone.run({}, {"SRV=xx"}) == "NP s1 | | SRV=xx");
  CookieFixture bare([](CookiePersistence &) {});
  CHECK(bare.run({"SRV=S2"}, {"SRV=xx"}) == "-- s2 | SRV=S2 | SRV=xx");
}

TEST_CASE("cookies with dates") {
  char today[5];
  write_cookie_date(now, today);
  std::string date(today, 5);
  CHECK(date == "aw4Z7");
  CHECK(read_cookie_date("aw4Z7") / 4 == (now + 3) / 4);
  CHECK(read_cookie_date("junk!") == 0);
  CookieFixture idle([](CookiePersistence &c) { c.insert = c.indirect = true, c.maxidle_s = 1800; });
  CHECK(idle.run({}) == "NI s1 | | SRV=S1|" + date + "; path=/");
  CHECK(idle.run({"SRV=S2"}) == "VU s2 | | SRV=S2|" + date + "; path=/");
  CHECK(idle.run({"SRV=S2|junk!"}) == "VU s2 | | SRV=S2|" + date + "; path=/");
  CHECK(idle.run({dated(0)}) == "VN s2 | |");
  CHECK(idle.run({dated(-8)}) == "VU s2 | | SRV=S2|" + date + "; path=/");
  CHECK(idle.run({dated(-1900)}) == "EI s1 | | SRV=S1|" + date + "; path=/");
  CHECK(idle.run({dated(3600)}) == "VN s2 | |");
  CHECK(idle.run({dated(86600)}) == "EI s1 | | SRV=S1|" + date + "; path=/");
  CookieFixture life([](CookiePersistence &c) { c.insert = c.indirect = true, c.maxlife_s = 1800; });
  CHECK(life.run({}) == "NI s1 | | SRV=S1|" + date + "|" + date + "; path=/");
  CHECK(life.run({dated(0, -8)}) == "VN s2 | |");
  CHECK(life.run({dated(0, -1900)}) == "OI s1 | | SRV=S1|" + date + "|" + date + "; path=/");
  CHECK(life.run({dated(-1900, 1)}) == "VU s2 | | SRV=S2|" + date + "|" + date + "; path=/");
  CHECK(life.run({dated(0, 86600)}) == "OI s1 | | SRV=S1|" + date + "|" + date + "; path=/");
  CookieFixture both([](CookiePersistence &c) { c.insert = c.indirect = true, c.maxidle_s = 1800, c.maxlife_s = 28800; });
  CHECK(both.run({dated(-100, -200)}) == "VU s2 | | SRV=S2|" + date + "|" + dated(-200).substr(7) + "; path=/");
  CHECK(both.run({dated(-1900, -1900)}) == "EI s1 | | SRV=S1|" + date + "|" + date + "; path=/");
  CHECK(both.run({dated(-1900, -30000)}) == "OI s1 | | SRV=S1|" + date + "|" + date + "; path=/");
}

TEST_CASE("a cookie whose server is down, drained or overruled") {
  CookieFixture f([](CookiePersistence &c) { c.insert = true; });
  f.run({});
  ServerStates states(*f.service, f.config);
  states.maintain(f.server(1), 1);
  CHECK(f.run({"SRV=S2"}) == "DI s1 | SRV=S2 | SRV=S1; path=/");
  f.force = true;
  CHECK(f.run({"SRV=S2"}) == "DN s2 | SRV=S2 |");
  f.force = false;
  states.make_ready(f.server(1), 1);
  states.drain(f.server(1), 1);
  CHECK(f.run({"SRV=S2"}) == "VN s2 | SRV=S2 |");
  f.overrule = true;
  CHECK(f.run({"SRV=S2"}) == "UN s1 | SRV=S2 |");
}

TEST_CASE("dynamic cookies are the reference's") {
  CHECK(dynamic_cookie("secret", Address::from_ip(*parse_ip("127.0.0.1"), 43721)) == "87a55247b85135b8");
  CHECK(dynamic_cookie("other-key-123", Address::from_ip(*parse_ip("127.0.0.1"), 43721)) == "3922cb2d890b8687");
  CookieFixture f([](CookiePersistence &c) { c.insert = c.dynamic = true; });
  f.backend->dynamic_cookie_key = "secret";
  f.backend->servers[0]->cookie.clear();
  f.backend->servers[0]->address = Address::from_ip(*parse_ip("127.0.0.1"), 43721);
  CHECK(f.run({}) == "NI s1 | | SRV=87a55247b85135b8; path=/");
  CHECK(f.run({"SRV=87a55247b85135b8"}) == "VN s1 | SRV=87a55247b85135b8 |");
}
