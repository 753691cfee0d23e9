// SPDX-License-Identifier: BSD-2-Clause
// `stats …` of proxy sections: the statistics page (manual, section 4.2). Any of them turns it on.
#include "master/config/choice.h"
#include "master/config/kw_proxy.h"
#include "shared/base/text.h"

namespace penstock {

namespace {

constexpr u32 seen_by_request_rules = needs_client | needs_session | needs_req_bytes | needs_req_head | needs_req_body | needs_stream;

/// Settings may be shared with a defaults section: a changed copy takes their place.
template <class Change> void change(LineContext &ctx, Change &&make_change) {
  auto made = ctx.settings->stats ? std::make_shared<StatsSettings>(*ctx.settings->stats) : std::make_shared<StatsSettings>();
  made->enabled = true;
  make_change(*made);
  ctx.settings->stats = std::move(made);
}

template <auto Field> void flag(LineContext &ctx) {
  if (ctx.words.end()) change(ctx, [](StatsSettings &s) { s.*Field = true; });
}

void uri(LineContext &ctx) {
  auto v = ctx.words.need("a URI");
  if (v && ctx.words.end()) change(ctx, [&](StatsSettings &s) { s.uri = *v; });
}

void realm(LineContext &ctx) {
  auto v = ctx.words.need("a name");
  if (v && ctx.words.end()) change(ctx, [&](StatsSettings &s) { s.realm = *v; });
}

void auth(LineContext &ctx) {
  auto v = ctx.words.need("USER:PASSWORD");
  if (!v) return;
  if (v->find(':') == string_view::npos || v->starts_with(':')) return ctx.words.alert_last("'stats auth' expects USER:PASSWORD, got '" + std::string(*v) + "'");
  if (ctx.words.end()) change(ctx, [&](StatsSettings &s) { s.users.emplace_back(*v); });
}

void refresh(LineContext &ctx) {
  auto v = need_delay_seconds(ctx.words);
  if (v && ctx.words.end()) change(ctx, [&](StatsSettings &s) { s.refresh_s = static_cast<u32>((*v + 999) / 1000); });
}

void scope(LineContext &ctx) {
  auto v = ctx.words.need("the name of a proxy, or '.'");
  if (v && ctx.words.end()) change(ctx, [&](StatsSettings &s) { s.scopes.emplace_back(*v); });
}

void show_desc(LineContext &ctx) {
  std::string text = rest_of_line(ctx.words);
  change(ctx, [&](StatsSettings &s) { s.show_desc = true, s.description = text; });
}

void show_node(LineContext &ctx) {
  std::string name(ctx.words.next());
  for (char c : name)
    if (!is_alpha(c) && !is_digit(c) && c != '-' && c != '_' && c != '.')
      return ctx.words.alert_last("'" + name + "' is not a name of a node (letters, digits, '-', '_' and '.')");
  if (ctx.words.end()) change(ctx, [&](StatsSettings &s) { s.show_node = true, s.node = name; });
}

void admin(LineContext &ctx) {
  if (ctx.words.peek() != "if" && ctx.words.peek() != "unless") return alert_expected(ctx.words, "'if' or 'unless' and a condition");
  Compiler compiler(ctx.words, ctx.config, ctx.proxy, seen_by_request_rules);
  auto condition = compiler.condition();
  if (!condition) return;
  ctx.proxy->needs |= condition->needs;
  change(ctx, [&](StatsSettings &s) { s.admin = std::make_shared<Condition>(std::move(*condition)); });
}

void http_request(LineContext &ctx) {
  Compiler compiler(ctx.words, ctx.config, ctx.proxy, seen_by_request_rules, at_http_request);
  auto rule = compile_rule(compiler);
  if (!rule) return;
  ctx.proxy->needs |= rule->condition.needs;
  change(ctx, [&](StatsSettings &s) {
    if (!s.rules) s.rules = std::make_shared<RuleList>();
    s.rules->push_back(std::move(rule));
  });
}

constexpr u32 no_defaults = in_frontend | in_backend | in_listen;

constexpr KeywordDef rows[] = {
    {.name = "stats admin", .sections = no_defaults,
     .doc = {"Lets the page change servers' states, under a condition.", "", "listen stats\n    bind 127.0.0.1:8404\n    mode http\n    stats enable\n    stats admin if { src 127.0.0.1 }"}, .parse = admin},
    {.name = "stats auth", .sections = in_proxies,
     .doc = {"A user who may see the page; repeat it for more.", "", "listen stats\n    bind 127.0.0.1:8404\n    mode http\n    stats auth admin:secret"}, .parse = auth},
    {.name = "stats enable", .sections = in_proxies,
     .doc = {"Serves the statistics page.", "", "listen stats\n    bind 127.0.0.1:8404\n    mode http\n    stats enable"}, .parse = flag<&StatsSettings::enabled>},
    {.name = "stats hide-version", .sections = in_proxies,
     .doc = {"The page does not tell the version.", "", "listen stats\n    bind 127.0.0.1:8404\n    mode http\n    stats hide-version"}, .parse = flag<&StatsSettings::hide_version>},
    {.name = "stats http-request", .sections = no_defaults,
     .doc = {"Access rules of the page: allow, deny or auth.", "", "listen stats\n    bind 127.0.0.1:8404\n    mode http\n    stats enable\n    stats http-request deny unless { src 127.0.0.0/8 }"},
     .parse = http_request},
    {.name = "stats realm", .sections = in_proxies,
     .doc = {"The realm that the browser shows when it asks for a password.", "", "listen stats\n    bind 127.0.0.1:8404\n    mode http\n    stats realm Load\\ balancer\n    stats auth admin:secret"}, .parse = realm},
    {.name = "stats refresh", .sections = in_proxies,
     .doc = {"Interval at which the page reloads itself, in seconds without a unit.", "", "listen stats\n    bind 127.0.0.1:8404\n    mode http\n    stats refresh 5s"}, .parse = refresh},
    {.name = "stats scope", .sections = in_proxies,
     .doc = {"Shows this proxy only ('.' is the page's own); repeat it for more.", "", "listen stats\n    bind 127.0.0.1:8404\n    mode http\n    stats scope ."}, .parse = scope},
    {.name = "stats show-desc", .sections = in_proxies,
     .doc = {"Shows a description, by default the global one.", "", "listen stats\n    bind 127.0.0.1:8404\n    mode http\n    stats show-desc Shop, Frankfurt"}, .parse = show_desc},
    {.name = "stats show-legends", .sections = in_proxies,
     .doc = {"Shows more about servers and proxies in tool tips.", "", "listen stats\n    bind 127.0.0.1:8404\n    mode http\n    stats show-legends"}, .parse = flag<&StatsSettings::show_legends>},
    {.name = "stats show-modules", .sections = in_proxies,
     .doc = {"Shows counters of modules.", "Accepted; all figures of the page are always there.", "listen stats\n    bind 127.0.0.1:8404\n    mode http\n    stats show-modules"}, .parse = flag<&StatsSettings::show_modules>},
    {.name = "stats show-node", .sections = in_proxies,
     .doc = {"Shows a node name, by default the host's.", "", "listen stats\n    bind 127.0.0.1:8404\n    mode http\n    stats show-node lb1"}, .parse = show_node},
    {.name = "stats uri", .sections = in_proxies,
     .doc = {"The page's URI.", "", "listen stats\n    bind 127.0.0.1:8404\n    mode http\n    stats uri /stats"}, .parse = uri},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> stats_keywords() { return rows; }

} // namespace penstock
