// SPDX-License-Identifier: BSD-2-Clause
// What is known of the stream itself: captures, timers, counters, how it ended, the response's status
// (manual, sections 7.3.2 to 7.3.6).
#include "worker/rules/http_view.h"
#include "worker/rules/rows.h"
#include "worker/rules/traffic.h"

namespace penstock {

namespace {

bool check_unit(Args &args, std::string &error) {
  if (!args[0]) return args[0].num = 1'000'000, true;
  args[0].num = args[0].str == "s" ? 1'000'000 : args[0].str == "ms" ? 1000 : args[0].str == "us" ? 1 : 0;
  if (!args[0].num) error = "expects the unit s, ms or us, got '" + args[0].str + "'";
  return args[0].num;
}
PENSTOCK_FETCH(accept_date) { return ctx.session && give_int(out, accept_date_us(ctx) / args[0].num); }
PENSTOCK_FETCH(request_date) { return ctx.stream && give_int(out, request_date_us(*ctx.stream) / args[0].num); }

template <i64 Timers::*member> bool timer(EvalContext &ctx, const Args &, FetchCursor &, Sample &out) {
  return ctx.stream && give_int(out, timers_of(*ctx.stream).*member);
}
PENSTOCK_FETCH(timer_tq) {
  if (!ctx.stream) return false;
  Timers t = timers_of(*ctx.stream);
  return give_int(out, t.request < 0 ? -1 : t.handshake + t.idle + t.request);
}

PENSTOCK_FETCH(captured_request) {
  string_view v = ctx.stream ? ctx.stream->request_capture(static_cast<u32>(args[0].num)) : string_view();
  return v.data() && give_str(out, v);
}
PENSTOCK_FETCH(captured_response) {
  string_view v = ctx.stream ? ctx.stream->response_capture(static_cast<u32>(args[0].num)) : string_view();
  return v.data() && give_str(out, v);
}
template <string_view StreamFacts::*member> bool fact(EvalContext &ctx, const Args &, FetchCursor &, Sample &out) {
  return ctx.stream && give_some(out, ctx.stream->facts.*member);
}
PENSTOCK_FETCH(response_version_text) {
  const HttpMessage *m = response_of(ctx);
  return m && give_str(out, m->version() == 10 ? "HTTP/1.0" : "HTTP/1.1");
}
PENSTOCK_FETCH(response_version) {
  const HttpMessage *m = response_of(ctx);
  return m && give_str(out, m->version() == 10 ? "1.0" : m->version() == 20 ? "2.0" : "1.1");
}

PENSTOCK_FETCH(status) {
  if (const HttpMessage *m = response_of(ctx)) return give_int(out, m->status());
  return ctx.stream && ctx.stream->facts.status && give_int(out, ctx.stream->facts.status);
}

string_view response_body(EvalContext &ctx) {
  Endpoint *e = ctx.stream ? ctx.stream->server_side() : nullptr;
  return e ? e->peek().bytes : ctx.stream ? ctx.stream->answer.body : string_view();
}
PENSTOCK_FETCH(res_body) {
  out.set_bin(response_body(ctx));
  return response_of(ctx);
}
PENSTOCK_FETCH(res_body_len) { return response_of(ctx) && give_int(out, static_cast<i64>(response_body(ctx).size())); }
PENSTOCK_FETCH(res_body_size) {
  if (!response_of(ctx)) return false;
  Endpoint *e = ctx.stream->server_side();
  bool announced = e && e->framing().kind == BodyKind::Length;
  return give_int(out, announced ? static_cast<i64>(e->framing().length) : static_cast<i64>(response_body(ctx).size()));
}

PENSTOCK_FETCH(bytes_in) { return ctx.stream && give_int(out, static_cast<i64>(ctx.stream->facts.bytes_uploaded)); }
PENSTOCK_FETCH(bytes_out) { return ctx.stream && give_int(out, static_cast<i64>(ctx.stream->facts.bytes_read)); }
PENSTOCK_FETCH(backend_queue) { return ctx.stream && give_int(out, ctx.stream->facts.back_queue); }
PENSTOCK_FETCH(server_queue) { return ctx.stream && give_int(out, ctx.stream->facts.srv_queue); }
PENSTOCK_FETCH(retries) { return ctx.stream && give_int(out, ctx.stream->facts.retries); }
PENSTOCK_FETCH(redispatched) { return ctx.stream && give_bool(out, ctx.stream->facts.redispatched); }
PENSTOCK_FETCH(unique_id) { return ctx.stream && give_some(out, ctx.stream->facts.unique_id); }
PENSTOCK_FETCH(request_number) { return ctx.stream && give_int(out, ctx.stream->facts.counter); }
PENSTOCK_FETCH(priority_class) { return ctx.stream && give_int(out, static_cast<i32>(ctx.stream->priority_class)); }
PENSTOCK_FETCH(priority_offset) { return ctx.stream && give_int(out, ctx.stream->priority_offset_ms); }
PENSTOCK_FETCH(termination) {
  if (!ctx.stream) return false;
  char *p = ctx.scratch.chars(2);
  p[0] = cause_letter(ctx.stream->facts.fault);
  p[1] = phase_letter(ctx.stream->facts.fault);
  return give_str(out, {p, 2});
}

constexpr Type I = Type::Int, S = Type::Str, B = Type::Bool;
constexpr u32 T = needs_stream;
constexpr ArgSpecs unit = {opt(ArgType::Str, "unit")};
constexpr FetchDef rows[] = {
    {.name = "accept_date", .args = unit, .out = I, .needs = needs_client, .doc = {"When the client's connection was accepted, counted from 1970.", "In seconds, or in the unit ms or us.", "http-request set-header X-Since %[accept_date(ms)]"}, .eval = accept_date, .check = check_unit},
    {.name = "bc.timer.connect", .out = I, .needs = T, .doc = {"Milliseconds that it took to connect to the server.", "", "http-response set-header X-Tc %[bc.timer.connect]"}, .eval = timer<&Timers::connect>},
    {.name = "bc_be_queue", .out = I, .needs = T, .doc = {"Requests that were before this one in the backend's queue.", "", "http-response set-header X-Q %[bc_be_queue]"}, .eval = backend_queue},
    {.name = "bc_srv_queue", .out = I, .needs = T, .doc = {"Requests that were before this one in the server's queue.", "", "http-response set-header X-Q %[bc_srv_queue]"}, .eval = server_queue},
    {.name = "bytes_in", .out = I, .needs = T, .doc = {"Bytes that went from client to server so far.", "", "http-response set-header X-Up %[bytes_in]"}, .eval = bytes_in},
    {.name = "bytes_out", .out = I, .needs = T, .doc = {"Bytes that went from server to client so far.", "", "log-format \"%ci %[bytes_out]\""}, .eval = bytes_out},
    {.name = "capture.req.hdr", .args = {req(ArgType::Int, "slot")}, .out = S, .needs = T, .doc = {"What a capture slot of the request holds.", "", "declare capture request len 20\nhttp-response set-header X-C %[capture.req.hdr(0)]"}, .eval = captured_request},
    {.name = "capture.req.method", .out = S, .needs = T, .doc = {"The request's method as it was received.", "", "http-response set-header X-M %[capture.req.method]"}, .eval = fact<&StreamFacts::method>},
    {.name = "capture.req.uri", .out = S, .needs = T, .doc = {"The request's target as it was received.", "", "http-response set-header X-U %[capture.req.uri]"}, .eval = fact<&StreamFacts::uri>},
    {.name = "capture.req.ver", .out = S, .needs = T, .doc = {"The request's version as it was received, as \"HTTP/1.1\".", "", "http-response set-header X-V %[capture.req.ver]"}, .eval = fact<&StreamFacts::http_version>},
    {.name = "capture.res.hdr", .args = {req(ArgType::Int, "slot")}, .out = S, .needs = T, .doc = {"What a capture slot of the response holds.", "", "log-format \"%ci %[capture.res.hdr(0)]\""}, .eval = captured_response},
    {.name = "capture.res.ver", .out = S, .needs = T, .doc = {"The response's version, as \"HTTP/1.1\".", "", "http-response set-header X-V %[capture.res.ver]"}, .eval = response_version_text},
    {.name = "fc.timer.handshake", .out = I, .needs = T, .doc = {"Milliseconds of handshakes with the client.", "", "http-request set-header X-Th %[fc.timer.handshake]"}, .eval = timer<&Timers::handshake>},
    {.name = "fc.timer.total", .out = I, .needs = T, .doc = {"Milliseconds from the accept on.", "", "log-format \"%ci %[fc.timer.total]\""}, .eval = timer<&Timers::total>},
    {.name = "prio_class", .out = I, .needs = T, .doc = {"The request's class in queues.", "", "http-request set-header X-P %[prio_class]"}, .eval = priority_class},
    {.name = "prio_offset", .out = I, .needs = T, .doc = {"The request's offset in queues, in milliseconds.", "", "http-request set-header X-P %[prio_offset]"}, .eval = priority_offset},
    {.name = "req.timer.hdr", .out = I, .needs = T, .doc = {"Milliseconds from the request's first byte to the end of its head.", "", "http-request set-header X-TR %[req.timer.hdr]"}, .eval = timer<&Timers::request>},
    {.name = "req.timer.idle", .out = I, .needs = T, .doc = {"Milliseconds of idleness before the request.", "", "http-request set-header X-Ti %[req.timer.idle]"}, .eval = timer<&Timers::idle>},
    {.name = "req.timer.queue", .out = I, .needs = T, .doc = {"Milliseconds spent in queues.", "", "http-response set-header X-Tw %[req.timer.queue]"}, .eval = timer<&Timers::queue>},
    {.name = "req.timer.tq", .out = I, .needs = T, .doc = {"Milliseconds from the accept, or the end of the request before, to the end of the head.", "", "http-request set-header X-Tq %[req.timer.tq]"}, .eval = timer_tq},
    {.name = "request_date", .args = unit, .out = I, .needs = T, .doc = {"When the request began, counted from 1970.", "In seconds, or in the unit ms or us.", "http-request set-header X-Since %[request_date(ms)]"}, .eval = request_date, .check = check_unit},
    {.name = "res.body", .out = Type::Bin, .needs = needs_res_head | needs_res_body, .doc = {"The part of the response's body that has arrived.", "", "http-response wait-for-body time 1s\nhttp-response set-var(txn.b) res.body"}, .eval = res_body},
    {.name = "res.body_len", .out = I, .needs = needs_res_head | needs_res_body, .doc = {"How many bytes of the response's body have arrived.", "", "http-response set-header X-N %[res.body_len]"}, .eval = res_body_len},
    {.name = "res.body_size", .out = I, .needs = needs_res_head, .doc = {"The announced length of the response's body, else what has arrived.", "", "http-response set-header X-N %[res.body_size]"}, .eval = res_body_size},
    {.name = "res.timer.data", .out = I, .needs = T, .doc = {"Milliseconds of the body's transfer.", "", "log-format \"%ci %[res.timer.data]\""}, .eval = timer<&Timers::data>},
    {.name = "res.timer.hdr", .out = I, .needs = T, .doc = {"Milliseconds until the server's response head was there.", "", "http-response set-header X-Tr %[res.timer.hdr]"}, .eval = timer<&Timers::response>},
    {.name = "res.ver", .out = S, .needs = needs_res_head, .doc = {"The HTTP version of the response, as \"1.1\".", "", "http-response set-header X-V %[res.ver]"}, .eval = response_version},
    {.name = "resp_ver", .out = S, .needs = needs_res_head, .doc = {"The HTTP version of the response: res.ver.", "An older name.", "http-response set-header X-V %[resp_ver]"}, .eval = response_version},
    {.name = "server_status", .out = I, .needs = needs_status, .doc = {"The status that the server gave.", "", "http-response set-header X-S %[server_status]"}, .eval = status},
    {.name = "status", .out = I, .needs = needs_status, .doc = {"The response's status.", "", "http-response set-header X-Bad 1 if { status 500:599 }"}, .eval = status},
    {.name = "txn.conn_retries", .out = I, .needs = T, .doc = {"How often the connection to the server was retried.", "", "http-response set-header X-R %[txn.conn_retries]"}, .eval = retries},
    {.name = "txn.id32", .out = I, .needs = T, .doc = {"The number of the request in its worker.", "", "http-request set-header X-N %[txn.id32]"}, .eval = request_number},
    {.name = "txn.redispatched", .out = B, .needs = T, .doc = {"Whether the request went to another server than first chosen.", "", "http-response set-header X-R %[txn.redispatched]"}, .eval = redispatched},
    {.name = "txn.sess_term_state", .out = S, .needs = T, .doc = {"How the stream ended, as in the log.", "", "log-format \"%ci %[txn.sess_term_state]\""}, .eval = termination},
    {.name = "txn.status", .out = I, .needs = needs_status, .doc = {"The status that the client gets.", "", "log-format \"%ci %[txn.status]\""}, .eval = status},
    {.name = "txn.timer.total", .out = I, .needs = T, .doc = {"Milliseconds from the request's first byte on.", "", "log-format \"%ci %[txn.timer.total]\""}, .eval = timer<&Timers::active>},
    {.name = "txn.timer.user", .out = I, .needs = T, .doc = {"Milliseconds as the user sees them, without idleness.", "", "log-format \"%ci %[txn.timer.user]\""}, .eval = timer<&Timers::user>},
    {.name = "unique-id", .out = S, .needs = T, .doc = {"The unique ID made by unique-id-format.", "", "unique-id-format %ci:%cp\nhttp-request set-header X-Id %[unique-id]"}, .eval = unique_id},
};
static_assert(sorted_and_documented<FetchDef>(rows));

} // namespace

std::span<const FetchDef> fetch_stream() { return rows; }

} // namespace penstock
