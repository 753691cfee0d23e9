// SPDX-License-Identifier: BSD-2-Clause
// Rule lines: `acl`, `http-request` and its kin, `tcp-request` and `tcp-response`, `redirect` (manual,
// section 4.2). The lines are compiled by shared/expr; here they find their list. Those of a named
// defaults section are kept and read again by each proxy that inherits from it (KeywordDef::replayed).
#include "master/config/choice.h"
#include "master/config/kw_proxy.h"
#include "shared/base/text.h"

namespace penstock {

namespace {

/// The rule of this line, or nothing after an alert; the proxy remembers what it needs.
std::unique_ptr<Rule> read_rule(LineContext &ctx, u32 rule_set) {
  Compiler compiler(ctx.words, ctx.config, ctx.proxy, available_in(rule_set), rule_set);
  auto rule = compile_rule(compiler);
  if (rule) ctx.proxy->needs |= rule->condition.needs;
  return rule;
}

template <RuleList Proxy::*List, u32 RuleSet> void add_rule(LineContext &ctx) {
  if (auto rule = read_rule(ctx, RuleSet)) (ctx.proxy->*List).push_back(std::move(rule));
}

/// `redirect …` is an http-request rule that runs after all the others.
void redirect(LineContext &ctx) {
  ctx.words.rewind(ctx.words.position() - 1);
  if (auto rule = read_rule(ctx, at_http_request)) ctx.proxy->redirects.push_back(std::move(rule));
}

/// `block` is an http-request rule 'deny' that runs before all the others.
void block(LineContext &ctx) {
  if (ctx.words.peek() != "if" && ctx.words.peek() != "unless") return alert_expected(ctx.words, "'if' or 'unless' and a condition");
  std::vector<Word> line = {{"deny", ctx.words.place().column}};
  for (size_t i = ctx.words.position(); i < ctx.words.all().size(); i++) line.push_back(ctx.words.all()[i]);
  Words words(std::move(line), ctx.words.line_place(), ctx.diags());
  LineContext deny{.words = words, .config = ctx.config, .section = ctx.section};
  deny.proxy = ctx.proxy;
  if (auto rule = read_rule(deny, at_http_request)) ctx.proxy->blocks.push_back(std::move(rule));
  ctx.words.rewind(ctx.words.all().size());
}

template <Millis ProxySettings::*Field> void inspect_delay(LineContext &ctx) {
  auto v = ctx.words.need_delay("a delay");
  if (v && ctx.words.end()) ctx.settings->*Field = *v == 0 ? eternity : *v;
}

bool good_acl_name(string_view name) {
  for (char c : name)
    if (!is_alpha(c) && !is_digit(c) && c != '-' && c != '_' && c != '.' && c != ':') return false;
  return !name.empty() && name != "or" && name != "if" && name != "unless";
}

void acl(LineContext &ctx) {
  Place place = ctx.words.place();
  auto name = ctx.words.need("the ACL's name");
  if (!name) return;
  if (!good_acl_name(*name)) return ctx.words.alert_last("'" + std::string(*name) + "' cannot be the name of an ACL (letters, digits, '-', '_', '.' and ':')");
  auto &acls = ctx.proxy->acls;
  Acl *found = nullptr;
  for (auto &a : acls)
    if (a->name == *name) found = a.get();
  if (!found) {
    acls.push_back(std::make_unique<Acl>());
    found = acls.back().get();
    found->name = *name;
    found->place = place;
  }
  // Conditions judge by themselves what their place allows, so an ACL may use anything.
  Compiler compiler(ctx.words, ctx.config, ctx.proxy, ~0u);
  compiler.acl_line(*found);
}

constexpr u32 no_defaults = in_frontend | in_backend | in_listen;

constexpr KeywordDef rows[] = {
    {.name = "acl", .sections = in_proxies,
     .doc = {"Names a test that conditions may use.",
             "Several lines of the same name add up: any of them matches. Section 7 of the manual describes fetches, flags and patterns.",
             "frontend web\n    mode http\n    acl static path_beg /img/ /css/\n    http-request deny if static"},
     .parse = acl, .replayed = true},
    {.name = "block", .sections = no_defaults, .doc = {"The old spelling of 'http-request deny'.", "", ""}, .parse = block, .standing = Standing::Legacy, .modern = "http-request deny"},
    {.name = "http-after-response", .sections = in_proxies,
     .doc = {"Rules for all responses, those that the proxy makes itself included, just before they are sent.", "", "frontend web\n    mode http\n    http-after-response set-header X-Served-By lb1"},
     .parse = add_rule<&Proxy::http_after, at_http_after>, .replayed = true},
    {.name = "http-request", .sections = in_proxies,
     .doc = {"Rules for requests, in order: those of the frontend, then those of the backend.", "ACTION [arguments] [if|unless CONDITION]",
             "frontend web\n    mode http\n    http-request set-header X-Forwarded-Proto http\n    http-request deny if { path_beg /private/ }"},
     .parse = add_rule<&Proxy::http_request, at_http_request>, .replayed = true},
    {.name = "http-response", .sections = in_proxies,
     .doc = {"Rules for servers' responses, in order: those of the backend, then those of the frontend.", "", "backend app\n    mode http\n    http-response del-header Server\n    server a 127.0.0.1:8001"},
     .parse = add_rule<&Proxy::http_response, at_http_response>, .replayed = true},
    {.name = "redirect", .sections = no_defaults,
     .doc = {"Answers with a redirect, under a condition; runs after all http-request rules.", "redirect location URL | prefix URL | scheme NAME [code N] [drop-query] …",
             "frontend web\n    mode http\n    redirect location /new/ if { path /old/ }"},
     .parse = redirect},
    {.name = "tcp-request connection", .sections = in_front,
     .doc = {"Rules for new connections, before anything else is done for them.", "", "frontend web\n    bind 127.0.0.1:8080\n    tcp-request connection reject if { src 192.0.2.0/24 }"},
     .parse = add_rule<&Proxy::tcp_connection, at_tcp_connection>, .replayed = true},
    {.name = "tcp-request content", .sections = in_proxies,
     .doc = {"Rules for the first bytes of a connection, or for a request in HTTP.", "They wait for contents up to 'tcp-request inspect-delay'.",
             "frontend ssh\n    bind 127.0.0.1:8080\n    tcp-request inspect-delay 2s\n    tcp-request content reject if { src 192.0.2.0/24 }"},
     .parse = add_rule<&Proxy::tcp_request, at_tcp_request>, .replayed = true},
    {.name = "tcp-request inspect-delay", .sections = in_proxies,
     .doc = {"Time that 'tcp-request content' rules wait for contents.", "", "frontend ssh\n    bind 127.0.0.1:8080\n    tcp-request inspect-delay 2s"},
     .parse = inspect_delay<&ProxySettings::tcp_inspect_delay>},
    {.name = "tcp-request session", .sections = in_front,
     .doc = {"Rules for connections after their handshakes.", "", "frontend web\n    bind 127.0.0.1:8080 accept-proxy\n    tcp-request session reject if { src 192.0.2.0/24 }"},
     .parse = add_rule<&Proxy::tcp_session, at_tcp_session>, .replayed = true},
    {.name = "tcp-response content", .sections = in_back,
     .doc = {"Rules for the first bytes from the server, or for a response in HTTP.", "", "backend app\n    tcp-response content reject if { src 192.0.2.0/24 }\n    server a 127.0.0.1:8001"},
     .parse = add_rule<&Proxy::tcp_response, at_tcp_response>, .replayed = true},
    {.name = "tcp-response inspect-delay", .sections = in_back,
     .doc = {"Time that 'tcp-response content' rules wait for contents.", "", "backend app\n    tcp-response inspect-delay 2s"},
     .parse = inspect_delay<&ProxySettings::tcp_response_inspect_delay>},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> rule_keywords() { return rows; }

} // namespace penstock
