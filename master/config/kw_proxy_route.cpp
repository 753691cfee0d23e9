// SPDX-License-Identifier: BSD-2-Clause
// Where a request goes and what is kept of it: default_backend, use_backend, use-server, persistence
// exceptions, monitoring, captures (manual, section 4.2). Names are resolved when all files are read.
#include "master/config/choice.h"
#include "master/config/kw_proxy.h"

namespace penstock {

namespace {

constexpr u32 seen_by_request_rules =
    needs_client | needs_session | needs_req_bytes | needs_req_head | needs_req_body | needs_stream;

void default_backend(LineContext &ctx) {
  Place place = ctx.words.place();
  auto name = ctx.words.need("the name of a backend");
  if (!name || !ctx.words.end()) return;
  ctx.settings->default_backend = *name;
  ctx.settings->default_backend_place = place;
}

/// `NAME [if|unless …]` of use_backend and use-server.
template <class Rule> bool read_route(LineContext &ctx, Rule &rule, string_view what) {
  rule.place = ctx.words.place();
  auto name = ctx.words.need(what);
  if (!name) return false;
  Compiler compiler(ctx.words, ctx.config, ctx.proxy, seen_by_request_rules);
  auto format = compiler.log_format(*name, rule.place);
  if (!format) return false;
  rule.name = std::move(*format);
  auto condition = compiler.condition();
  if (!condition) return false;
  rule.condition = std::move(*condition);
  ctx.proxy->needs |= rule.condition.needs | rule.name.needs;
  return ctx.words.end();
}

void use_backend(LineContext &ctx) {
  UseBackend rule;
  if (read_route(ctx, rule, "the name of a backend")) ctx.proxy->use_backend.push_back(std::move(rule));
}

void use_server(LineContext &ctx) {
  UseServer rule;
  if (!read_route(ctx, rule, "the name of a server")) return;
  if (!rule.condition.present) return ctx.words.alert("'use-server' expects 'if' or 'unless' and a condition");
  ctx.proxy->use_server.push_back(std::move(rule));
}

/// A condition that must be there; nothing after an alert.
std::optional<Condition> need_condition(LineContext &ctx) {
  if (ctx.words.peek() != "if" && ctx.words.peek() != "unless") {
    alert_expected(ctx.words, "'if' or 'unless' and a condition");
    return std::nullopt;
  }
  Compiler compiler(ctx.words, ctx.config, ctx.proxy, seen_by_request_rules);
  auto condition = compiler.condition();
  if (condition) ctx.proxy->needs |= condition->needs;
  return condition;
}

template <bool Force> void persist_rule(LineContext &ctx) {
  auto condition = need_condition(ctx);
  if (condition) ctx.proxy->persist_rules.push_back({Force, std::move(*condition)});
}

void monitor_fail(LineContext &ctx) {
  auto condition = need_condition(ctx);
  if (condition) ctx.proxy->monitor_fail.push_back(std::make_unique<Condition>(std::move(*condition)));
}

void monitor_uri(LineContext &ctx) {
  auto uri = ctx.words.need("a URI");
  if (uri && ctx.words.end()) ctx.settings->monitor_uri = *uri;
}

// ------------------------------------------------------------------------------------------ captures

/// `len N` at the cursor.
std::optional<u32> read_length(Words &words) {
  if (!words.take("len")) {
    alert_expected(words, "'len' and a number of bytes");
    return std::nullopt;
  }
  auto n = words.need_int("a number of bytes", 1, 65535);
  return n && words.end() ? std::optional<u32>(static_cast<u32>(*n)) : std::nullopt;
}

template <bool Request> void capture_header(LineContext &ctx) {
  auto name = ctx.words.need("the name of a header");
  if (!name) return;
  std::string header(*name);
  if (auto length = read_length(ctx.words)) ctx.proxy->captures.push_back({header, *length, Request});
}

template <bool Request> void declare_capture(LineContext &ctx) {
  if (auto length = read_length(ctx.words)) ctx.proxy->captures.push_back({{}, *length, Request});
}

void capture_cookie(LineContext &ctx) {
  auto name = ctx.words.need("the name, or the beginning of the name, of a cookie");
  if (!name) return;
  std::string cookie(*name);
  auto length = read_length(ctx.words);
  if (!length) return;
  ctx.proxy->capture_cookie_prefix = !cookie.ends_with('=');
  if (cookie.ends_with('=')) cookie.pop_back();
  ctx.proxy->capture_cookie = cookie; // without the '=' that said "a whole name"
  ctx.proxy->capture_cookie_length = *length;
}

constexpr u32 front_only = in_frontend | in_listen;
constexpr u32 back_only = in_backend | in_listen;

constexpr KeywordDef rows[] = {
    {.name = "capture cookie", .sections = front_only,
     .doc = {"Keeps a cookie of request and response for the log.",
             "The name is a beginning of names unless it ends with '='. 'len' bounds 'NAME=VALUE'.",
             "frontend web\n    mode http\n    capture cookie ASPSESSION len 32"},
     .parse = capture_cookie},
    {.name = "capture request header", .sections = front_only,
     .doc = {"Keeps a request header for the log and for capture.req.hdr.", "The last value is kept, cut to the length.",
             "frontend web\n    mode http\n    capture request header Host len 64"},
     .parse = capture_header<true>},
    {.name = "capture response header", .sections = front_only,
     .doc = {"Keeps a response header for the log and for capture.res.hdr.", "The last value is kept, cut to the length.",
             "frontend web\n    mode http\n    capture response header Content-Type len 32"},
     .parse = capture_header<false>},
    {.name = "declare capture request", .sections = front_only,
     .doc = {"Reserves a place for rules to keep something of the request.", "", "frontend web\n    mode http\n    declare capture request len 32"},
     .parse = declare_capture<true>},
    {.name = "declare capture response", .sections = front_only,
     .doc = {"Reserves a place for rules to keep something of the response.", "", "frontend web\n    mode http\n    declare capture response len 32"},
     .parse = declare_capture<false>},
    {.name = "default_backend", .sections = in_front,
     .doc = {"The backend for what no use_backend rule takes.", "", "frontend web\n    default_backend app\nbackend app\n    server a 127.0.0.1:8001"},
     .parse = default_backend},
    {.name = "force-persist", .sections = back_only,
     .doc = {"Persistence counts even towards a server that is down, under a condition.", "",
             "backend app\n    mode http\n    cookie SRV insert\n    force-persist if { src 127.0.0.1 }\n    server a 127.0.0.1:8001 cookie a"},
     .parse = persist_rule<true>},
    {.name = "ignore-persist", .sections = back_only,
     .doc = {"Persistence does not count, under a condition.", "",
             "backend app\n    mode http\n    cookie SRV insert\n    ignore-persist if { path_beg /static/ }\n    server a 127.0.0.1:8001 cookie a"},
     .parse = persist_rule<false>},
    {.name = "monitor fail", .sections = front_only,
     .doc = {"Condition under which requests for 'monitor-uri' get 503 instead of 200.", "",
             "frontend web\n    mode http\n    monitor-uri /alive\n    monitor fail if { src 127.0.0.2 }"},
     .parse = monitor_fail},
    {.name = "monitor-uri", .sections = in_front,
     .doc = {"A URI that the proxy answers itself with 200, for other machines' health checks.", "Such requests are neither logged nor passed on.",
             "frontend web\n    mode http\n    monitor-uri /alive"},
     .parse = monitor_uri},
    {.name = "use-server", .sections = back_only,
     .doc = {"The server for requests that meet a condition.", "The first rule that matches counts, unless its server is down or persistence has decided.",
             "backend app\n    mode http\n    use-server a if { path_beg /a/ }\n    server a 127.0.0.1:8001\n    server b 127.0.0.1:8002"},
     .parse = use_server},
    {.name = "use_backend", .sections = front_only,
     .doc = {"The backend for requests that meet a condition.",
             "Rules are tried in order. The name may be a log format, evaluated for each request.",
             "frontend web\n    mode http\n    use_backend images if { path_beg /img/ }\n    default_backend app\nbackend images\n    mode http\n    server i 127.0.0.1:8002\n"
             "backend app\n    mode http\n    server a 127.0.0.1:8001"},
     .parse = use_backend},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> proxy_route_keywords() { return rows; }

} // namespace penstock
