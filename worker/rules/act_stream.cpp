// SPDX-License-Identifier: BSD-2-Clause
// Actions on the stream and its connections: log level, timeouts, priorities, addresses, marks, waiting
// (manual, section 4.3).
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>

#include "shared/expr/run.h"
#include "shared/base/text.h"
#include "shared/model/config.h"
#include "worker/log/access.h"
#include "worker/rules/http_view.h"
#include "worker/rules/rows.h"
#include "worker/worker.h"

namespace penstock {

namespace {

/// A number that is written down, or comes out of an expression when the rule runs.
struct NumberAction : ActionData {
  i64 value = 0;
  std::optional<Expr> expr;
  bool get(EvalContext &ctx, i64 &out) const {
    out = value;
    if (!expr) return true;
    Sample s;
    if (!evaluate_as(ctx, *expr, Type::Int, s)) return false;
    out = s.num;
    return true;
  }
};
const NumberAction &number_of(const ActionData *d) { return *static_cast<const NumberAction *>(d); }

bool parse_expression(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  auto expr = compiler.expression();
  if (!expr) return false;
  auto data = std::make_unique<NumberAction>();
  data->expr = std::move(*expr);
  out = std::move(data);
  return true;
}

std::optional<i64> literal_number(string_view word) {
  if (word.starts_with("0x")) {
    i64 v = 0;
    for (char c : word.substr(2)) {
      int digit = hex_digit(c);
      if (digit < 0 || v > UINT32_MAX) return std::nullopt;
      v = v * 16 + digit;
    }
    return v;
  }
  return parse_i64(word);
}

/// A number in decimal or hexadecimal, or an expression.
bool parse_number(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  auto v = literal_number(compiler.words().peek());
  if (!v) return parse_expression(compiler, out);
  compiler.words().next();
  auto data = std::make_unique<NumberAction>();
  data->value = *v;
  out = std::move(data);
  return true;
}

// ------------------------------------------------------------------------------------------ logging

bool parse_log_level(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  constexpr string_view names[] = {"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"};
  auto word = compiler.words().need("a log level or 'silent'");
  if (!word) return false;
  auto data = std::make_unique<NumberAction>();
  data->value = *word == "silent" ? -1 : -2;
  for (size_t i = 0; i < std::size(names); i++)
    if (names[i] == *word) data->value = static_cast<i64>(i);
  if (data->value == -2) {
    NearMiss near(*word);
    for (string_view n : names) near.consider(n);
    compiler.words().alert_last("'" + std::string(*word) + "' is no log level; there are emerg, alert, crit, err, warning, notice, info, debug and silent", near.hint());
    return false;
  }
  out = std::move(data);
  return true;
}
Verdict run_log_level(EvalContext &ctx, const ActionData *d) {
  if (ctx.stream) ctx.stream->log_level = static_cast<i32>(number_of(d).value);
  else if (ctx.session) ctx.session->log_level = static_cast<i32>(number_of(d).value);
  return Verdict::Next;
}
Verdict run_do_log(EvalContext &ctx, const ActionData *) {
  if (!ctx.stream) return Verdict::Next;
  bool logged = ctx.stream->logged;
  log_stream(*ctx.stream);
  ctx.stream->logged = logged; // the stream's own line is still to come
  return Verdict::Next;
}

// ----------------------------------------------------------------------------------------- timeouts

struct TimeoutAction : NumberAction {
  Millis Stream::*member = nullptr;
};
bool parse_timeout(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  struct Row { string_view word; Millis Stream::*member; };
  constexpr Row rows[] = {{"client", &Stream::timeout_client}, {"connect", &Stream::timeout_connect}, {"queue", &Stream::timeout_queue},
                          {"server", &Stream::timeout_server}, {"tunnel", &Stream::timeout_tunnel}};
  Words &words = compiler.words();
  auto data = std::make_unique<TimeoutAction>();
  for (const Row &r : rows)
    if (words.take(r.word)) data->member = r.member;
  if (!data->member) {
    words.alert("'set-timeout' expects client, server, tunnel, connect or queue");
    return false;
  }
  auto delay = parse_delay(words.peek());
  if (delay.value) {
    words.next();
    data->value = *delay.value;
  } else {
    auto expr = compiler.expression();
    if (!expr) return false;
    data->expr = std::move(*expr);
  }
  out = std::move(data);
  return true;
}
Verdict run_timeout(EvalContext &ctx, const ActionData *d) {
  const auto &a = *static_cast<const TimeoutAction *>(d);
  i64 v;
  if (ctx.stream && a.get(ctx, v) && v > 0) ctx.stream->*a.member = v;
  return Verdict::Next;
}

// ------------------------------------------------------------------------------- queue and retries

Verdict run_priority_class(EvalContext &ctx, const ActionData *d) {
  i64 v;
  if (ctx.stream && number_of(d).get(ctx, v)) ctx.stream->priority_class = static_cast<i32>(std::clamp<i64>(v, -2047, 2047));
  return Verdict::Next;
}
Verdict run_priority_offset(EvalContext &ctx, const ActionData *d) {
  i64 v;
  if (ctx.stream && number_of(d).get(ctx, v)) ctx.stream->priority_offset_ms = static_cast<i32>(std::clamp<i64>(v, -524287, 524287));
  return Verdict::Next;
}
Verdict run_retries(EvalContext &ctx, const ActionData *d) {
  i64 v;
  if (ctx.stream && number_of(d).get(ctx, v) && v >= 0) ctx.stream->retries_allowed = static_cast<i32>(std::min<i64>(v, 100));
  return Verdict::Next;
}
Verdict run_disable_l7_retry(EvalContext &ctx, const ActionData *) {
  if (ctx.stream) ctx.stream->disable_l7_retry = true;
  return Verdict::Next;
}

// ---------------------------------------------------------------------------------------- addresses

/// The address changes, the port stays.
Verdict change_ip(EvalContext &ctx, const ActionData *d, const Address &old, void (Session::*set)(const Address &)) {
  Sample s;
  if (!evaluate_as(ctx, *number_of(d).expr, Type::Addr, s)) return Verdict::Next;
  (ctx.session->*set)(Address::from_ip(s.ip, old.port));
  return Verdict::Next;
}
/// The port changes; an address that has none becomes 0.0.0.0.
Verdict change_port(EvalContext &ctx, const ActionData *d, Address address, void (Session::*set)(const Address &)) {
  i64 v;
  if (!number_of(d).get(ctx, v)) return Verdict::Next;
  if (!address.is_inet()) address = Address::from_ip(Ip::v4(0), 0);
  address.port = static_cast<u16>(v);
  (ctx.session->*set)(address);
  return Verdict::Next;
}
Verdict run_src(EvalContext &ctx, const ActionData *d) { return ctx.session ? change_ip(ctx, d, ctx.session->source(), &Session::set_source) : Verdict::Next; }
Verdict run_src_port(EvalContext &ctx, const ActionData *d) { return ctx.session ? change_port(ctx, d, ctx.session->source(), &Session::set_source) : Verdict::Next; }
Verdict run_dst(EvalContext &ctx, const ActionData *d) { return ctx.session ? change_ip(ctx, d, ctx.session->destination(), &Session::set_destination) : Verdict::Next; }
Verdict run_dst_port(EvalContext &ctx, const ActionData *d) { return ctx.session ? change_port(ctx, d, ctx.session->destination(), &Session::set_destination) : Verdict::Next; }

Verdict run_mark(EvalContext &ctx, const ActionData *d) {
  i64 v;
  int fd = ctx.session ? ctx.session->fd() : -1;
  if (fd < 0 || !number_of(d).get(ctx, v)) return Verdict::Next;
  int mark = static_cast<int>(v);
  setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof mark);
  return Verdict::Next;
}
Verdict run_tos(EvalContext &ctx, const ActionData *d) {
  i64 v;
  int fd = ctx.session ? ctx.session->fd() : -1;
  if (fd < 0 || !number_of(d).get(ctx, v)) return Verdict::Next;
  int tos = static_cast<int>(v);
  setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof tos);
  setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof tos);
  return Verdict::Next;
}
Verdict run_server_mark(EvalContext &ctx, const ActionData *d) {
  i64 v;
  if (ctx.stream && number_of(d).get(ctx, v)) ctx.stream->bc_mark = static_cast<i32>(v);
  return Verdict::Next;
}
Verdict run_server_tos(EvalContext &ctx, const ActionData *d) {
  i64 v;
  if (ctx.stream && number_of(d).get(ctx, v)) ctx.stream->bc_tos = static_cast<i32>(v);
  return Verdict::Next;
}

Verdict run_expect_proxy(EvalContext &ctx, const ActionData *) {
  if (ctx.session) ctx.session->expect_proxy_header = true;
  return Verdict::Next;
}
Verdict run_expect_cip(EvalContext &ctx, const ActionData *) {
  if (ctx.session) ctx.session->expect_netscaler_cip = true;
  return Verdict::Next;
}
bool parse_layer4(Compiler &compiler, std::unique_ptr<ActionData> &) {
  if (compiler.words().take("layer4")) return true;
  compiler.words().alert("expected 'layer4'");
  return false;
}

// ------------------------------------------------------------------------------------------ waiting

Tick now_here() { return this_worker() ? this_worker()->loop.now() : monotonic_ms(); }

/// Whether the rule's time is over; the first call starts it.
bool waited(Stream &s, Millis time) {
  if (s.rule_wakeup == never) s.rule_wakeup = now_here() + time;
  return now_here() >= s.rule_wakeup;
}

struct WaitBody : ActionData {
  Millis time = 0;
  u64 at_least = 0; // 0: all of it
};
bool parse_wait_body(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  Words &words = compiler.words();
  auto data = std::make_unique<WaitBody>();
  bool timed = false;
  for (;;) {
    if (words.take("time")) {
      auto time = words.need_delay("how long to wait");
      if (!time) return false;
      data->time = *time;
      timed = true;
    } else if (words.take("at-least")) {
      auto bytes = words.need_size("a number of bytes");
      if (!bytes) return false;
      data->at_least = *bytes;
    } else break;
  }
  if (!timed) {
    words.alert("'wait-for-body' expects 'time' and how long to wait");
    return false;
  }
  out = std::move(data);
  return true;
}
Verdict run_wait_body(EvalContext &ctx, const ActionData *d) {
  const auto &a = *static_cast<const WaitBody *>(d);
  Stream *s = ctx.stream;
  Endpoint *side = !s ? nullptr : ctx.response_side ? s->server_side() : &s->client();
  if (!side) return Verdict::Next;
  if (side->framing().kind == BodyKind::None || side->framing().kind == BodyKind::Tunnel) return Verdict::Next;
  const Worker *w = this_worker();
  u64 room = w && w->config ? w->config->global.tune.bufsize - w->config->global.tune.maxrewrite : 15360;
  u64 wanted = a.at_least ? std::min(a.at_least, room) : room;
  side->want(wanted);
  Incoming in = side->peek();
  if (in.end || in.broken || in.bytes.size() >= wanted || waited(*s, a.time)) {
    side->want(0);
    s->rule_wakeup = never;
    return Verdict::Next;
  }
  return Verdict::Yield;
}

bool parse_pause(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  auto delay = parse_delay(compiler.words().peek());
  if (!delay.value) return parse_expression(compiler, out);
  compiler.words().next();
  auto data = std::make_unique<NumberAction>();
  data->value = *delay.value;
  out = std::move(data);
  return true;
}
Verdict run_pause(EvalContext &ctx, const ActionData *d) {
  Stream *s = ctx.stream;
  i64 v = 0;
  if (!s || (s->rule_wakeup == never && (!number_of(d).get(ctx, v) || v <= 0))) return Verdict::Next;
  if (!waited(*s, v)) return Verdict::Yield;
  s->rule_wakeup = never;
  return Verdict::Next;
}

// -------------------------------------------------------------------------------------- early hints

struct EarlyHint : ActionData {
  std::string name;
  LogFormat value;
};
bool parse_early_hint(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  auto name = compiler.words().need("the name of a header field");
  if (!name) return false;
  auto data = std::make_unique<EarlyHint>();
  data->name = *name;
  auto format = compiler.log_format_word("the field's value");
  if (!format) return false;
  data->value = std::move(*format);
  out = std::move(data);
  return true;
}
/// A 103 of its own for each; clients that speak HTTP/1.0 know none.
Verdict run_early_hint(EvalContext &ctx, const ActionData *d) {
  const auto &a = *static_cast<const EarlyHint *>(d);
  const HttpMessage *request = request_of(ctx);
  if (!request || request->version() < 11) return Verdict::Next;
  static HttpMessage hint;
  hint.clear();
  hint.make_response(103, "Early Hints");
  string_view value = format(ctx, a.value);
  if (value.find_first_of("\r\n") != string_view::npos) return Verdict::Next;
  hint.add(a.name, value);
  ctx.stream->client().send_head(hint, {BodyKind::None, 0});
  ctx.stream->client().flush();
  return Verdict::Next;
}

// -------------------------------------------------------------------- accepted, without an effect here

bool parse_strict_mode(Compiler &compiler, std::unique_ptr<ActionData> &) {
  if (compiler.words().take("on") || compiler.words().take("off")) return true;
  compiler.words().alert("'strict-mode' expects 'on' or 'off'");
  return false;
}
bool parse_nice(Compiler &compiler, std::unique_ptr<ActionData> &) { return compiler.words().need_int("a niceness", -1024, 1024).has_value(); }

/// Requests are read once the handshake is over: there is nothing left to wait for.
Verdict run_wait_handshake(EvalContext &, const ActionData *) { return Verdict::Next; }

constexpr u32 contents = at_tcp_request | at_tcp_response | at_any_http;
constexpr u32 requests = at_tcp_request | at_http_request;
constexpr u32 client_rules = at_tcp_connection | at_tcp_session | at_tcp_request | at_http_request;
constexpr u32 socket_rules = at_any_tcp | at_http_request | at_http_response;
constexpr ActionDef rows[] = {
    {.name = "disable-l7-retry", .sets = at_http_request, .doc = {"This request is not sent again when it fails after it was sent.", "", "http-request disable-l7-retry if { method POST }"}, .run = run_disable_l7_retry},
    {.name = "do-log", .sets = contents, .doc = {"Writes a log line now, in the proxy's format; the usual one follows at the end.", "", "http-request do-log if { path /slow }"}, .run = run_do_log},
    {.name = "early-hint", .sets = at_http_request, .doc = {"Sends a 103 response with a header field ahead of the final one.", "", "http-request early-hint Link \"</style.css>; rel=preload; as=style\""}, .parse = parse_early_hint, .run = run_early_hint},
    {.name = "expect-netscaler-cip", .sets = at_tcp_connection, .doc = {"Expects a NetScaler client IP header from this client.", "", "tcp-request connection expect-netscaler-cip layer4 if { src 192.0.2.0/24 }"}, .parse = parse_layer4, .run = run_expect_cip},
    {.name = "expect-proxy", .sets = at_tcp_connection, .doc = {"Expects a PROXY protocol header from this client.", "", "tcp-request connection expect-proxy layer4 if { src 192.0.2.0/24 }"}, .parse = parse_layer4, .run = run_expect_proxy},
    {.name = "pause", .sets = at_http_request | at_http_response, .doc = {"Waits for a time before the next rule.", "The time is a delay, or an expression that gives milliseconds.", "http-request pause 100ms if { path /login }"}, .parse = parse_pause, .run = run_pause},
    {.name = "set-bc-mark", .sets = requests, .doc = {"The firewall mark of the connection to the server.", "", "http-request set-bc-mark 0x2"}, .parse = parse_number, .run = run_server_mark},
    {.name = "set-bc-tos", .sets = requests, .doc = {"The type of service of the connection to the server.", "", "http-request set-bc-tos 0x10"}, .parse = parse_number, .run = run_server_tos},
    {.name = "set-dst", .sets = client_rules, .doc = {"Sets the address that the client is taken to have connected to.", "It is also where servers with the address 0.0.0.0 are found.", "http-request set-dst ipv4(192.0.2.9)"}, .parse = parse_expression, .run = run_dst},
    {.name = "set-dst-port", .sets = client_rules, .doc = {"Sets the port that the client is taken to have connected to.", "", "http-request set-dst-port int(4000)"}, .parse = parse_expression, .run = run_dst_port},
    {.name = "set-fc-mark", .sets = socket_rules, .doc = {"The firewall mark of the client's connection.", "", "http-request set-fc-mark 0x2"}, .parse = parse_number, .run = run_mark},
    {.name = "set-fc-tos", .sets = socket_rules, .doc = {"The type of service of the client's connection.", "", "http-request set-fc-tos 0x10"}, .parse = parse_number, .run = run_tos},
    {.name = "set-log-level", .sets = contents, .doc = {"The level with which this stream is logged; silent: not at all.", "", "http-request set-log-level silent if { path /health }"}, .parse = parse_log_level, .run = run_log_level},
    {.name = "set-mark", .sets = socket_rules, .doc = {"The firewall mark of the client's connection: set-fc-mark.", "An older name.", "http-request set-mark 20"}, .parse = parse_number, .run = run_mark},
    {.name = "set-nice", .sets = contents, .doc = {"Accepted for the sake of old configurations: every stream has the same share of a worker.", "", "http-request set-nice 100"}, .parse = parse_nice},
    {.name = "set-priority-class", .sets = requests, .doc = {"The class in which the request waits in queues: lower ones go first.", "From -2047 to 2047.", "http-request set-priority-class int(1) if { path_beg /batch }"}, .parse = parse_expression, .run = run_priority_class},
    {.name = "set-priority-offset", .sets = requests, .doc = {"How many milliseconds later the request is taken to have arrived in a queue.", "Negative ones: earlier. From -524287 to 524287.", "http-request set-priority-offset int(-500) if { path_beg /vip }"}, .parse = parse_expression, .run = run_priority_offset},
    {.name = "set-retries", .sets = requests, .doc = {"How often to retry this request.", "", "http-request set-retries 1 if { method POST }"}, .parse = parse_number, .run = run_retries},
    {.name = "set-src", .sets = client_rules, .doc = {"Sets the client's address for rules, logs and headers.", "", "http-request set-src req.hdr_ip(x-forwarded-for)"}, .parse = parse_expression, .run = run_src},
    {.name = "set-src-port", .sets = client_rules, .doc = {"Sets the client's port.", "", "http-request set-src-port int(4000)"}, .parse = parse_expression, .run = run_src_port},
    {.name = "set-timeout", .sets = at_http_request | at_http_response, .doc = {"Sets a timeout of this stream: client, server, tunnel, connect or queue.", "A delay, or an expression that gives milliseconds.", "http-request set-timeout server 5s if { path /slow }"}, .parse = parse_timeout, .run = run_timeout},
    {.name = "set-tos", .sets = socket_rules, .doc = {"The type of service of the client's connection: set-fc-tos.", "An older name.", "http-request set-tos 0x10"}, .parse = parse_number, .run = run_tos},
    {.name = "strict-mode", .sets = at_any_http, .doc = {"Accepted: a rewrite here never fails for want of space.", "", "http-request strict-mode off"}, .parse = parse_strict_mode},
    {.name = "wait-for-body", .sets = at_http_request | at_http_response, .doc = {"Waits until the body, or at-least so many bytes of it, has arrived.", "At most for the time given, and for what fits into a buffer.", "http-request wait-for-body time 1s at-least 1k if { method POST }"}, .parse = parse_wait_body, .run = run_wait_body},
    {.name = "wait-for-handshake", .sets = at_http_request, .doc = {"Waits until the TLS handshake with the client is over.", "Requests are never read before that here, so it always is.", "http-request wait-for-handshake if { method POST }"}, .run = run_wait_handshake},
};
static_assert(sorted_and_documented<ActionDef>(rows));

} // namespace

std::span<const ActionDef> act_stream() { return rows; }

} // namespace penstock
