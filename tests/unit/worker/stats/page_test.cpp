// SPDX-License-Identifier: BSD-2-Clause
#include <doctest/doctest.h>

#include "worker/stats/html_page.h"
#include "worker/stats/page_query.h"

using namespace penstock;

TEST_CASE("options after the page's URI") {
  CHECK(is_page_target("/haproxy?stats;csv", "/haproxy?stats"));
  CHECK_FALSE(is_page_target("/other", "/haproxy?stats"));
  CHECK(parse_page_query("/haproxy?stats;csv", "/haproxy?stats").form == PageQuery::Csv);
  CHECK(parse_page_query("/;json;up", "/").form == PageQuery::Json);
  PageQuery q = parse_page_query("/s;up;no-maint;norefresh;scope=app;st=DONE", "/s");
  CHECK(q.up_only);
  CHECK(q.no_maint);
  CHECK(q.no_refresh);
  CHECK(q.scope == "app");
  CHECK(q.outcome == PageOutcome::Done);
  CHECK(page_options(q) == ";up;no-maint;norefresh;scope=app");
  CHECK(parse_page_query("/s;up?scope=we%62", "/s").scope == "web");
  CHECK(parse_page_query("/s;scope=%22%3E%3Cscript", "/s").scope == "script");
  CHECK(parse_page_query("/", "/").form == PageQuery::Html);
}

TEST_CASE("orders of the form") {
  PageOrder o;
  CHECK(parse_page_order("s=s1&s=s%32&action=drain&b=%233", o));
  CHECK(o.backend == "#3");
  CHECK(o.action == "drain");
  CHECK(o.servers == std::vector<std::string>{"s1", "s2"});
  PageOrder none;
  CHECK_FALSE(parse_page_order("s=s1", none));
}

TEST_CASE("basic authentication") {
  std::vector<std::string> users{"joe:secret", "admin:admin"};
  CHECK(basic_auth_matches("Basic YWRtaW46YWRtaW4=", users));
  CHECK(basic_auth_matches("basic am9lOnNlY3JldA==", users));
  CHECK_FALSE(basic_auth_matches("Basic am9lOndyb25n", users));
  CHECK_FALSE(basic_auth_matches("Bearer YWRtaW46YWRtaW4=", users));
  CHECK_FALSE(basic_auth_matches("", users));
  CHECK_FALSE(basic_auth_matches("Basic !!!", users));
}

TEST_CASE("markup in names stays text") {
  std::string out;
  add_html(out, "<b>\"&\"</b>");
  CHECK(out == "&lt;b&gt;&quot;&amp;&quot;&lt;/b&gt;");
}

TEST_CASE("the whole page") {
  std::string error;
  auto service = Service::create(error);
  Config config;
  auto p = std::make_unique<Proxy>();
  p->name = "app<1>";
  p->id = 2;
  p->is_frontend = p->is_backend = true;
  p->mode = Mode::Http;
  auto stats = std::make_shared<StatsSettings>();
  stats->uri = "/s";
  stats->refresh_s = 2;
  p->stats = stats;
  auto s = std::make_unique<Server>();
  s->name = "s1";
  s->proxy = p.get();
  s->id = 1;
  s->options = std::make_shared<ServerOptions>();
  p->servers.push_back(std::move(s));
  config.proxies.push_back(std::move(p));
  REQUIRE(service->assign_rows(config, error));
  auto page = [&](bool admin, string_view target) {
    HtmlPage html(PageSubject{config, *service, *config.proxies[0], parse_page_query(target, "/s"), admin, 1000, 1000});
    std::string out;
    while (html.next(out)) {
    }
    return out;
  };
  std::string plain = page(false, "/s"), admin = page(true, "/s;norefresh");
  CHECK(plain.starts_with("<!DOCTYPE html>"));
  CHECK(plain.ends_with("</html>\n"));
  CHECK(plain.find("app&lt;1&gt;") != std::string::npos);
  CHECK(plain.find("app<1>") == std::string::npos);
  CHECK(plain.find("http-equiv=\"refresh\" content=\"2\"") != std::string::npos);
  CHECK(plain.find("method=\"post\"") == std::string::npos);
  CHECK(admin.find("http-equiv") == std::string::npos);
  CHECK(admin.find("method=\"post\"") != std::string::npos);
  CHECK(admin.find("name=\"s\" value=\"s1\"") != std::string::npos);
}
