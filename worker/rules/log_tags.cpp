// SPDX-License-Identifier: BSD-2-Clause
// The variables of log formats (manual, section 8.2.6). Each writes plain text; quotes, hexadecimal and
// '-' are the formatter's.
#include <unistd.h>

#include <cstring>

#include "shared/base/text.h"
#include "shared/http/uri.h"
#include "worker/rules/rows.h"
#include "worker/rules/traffic.h"
#include "worker/worker.h"

namespace penstock {

namespace {

#define PENSTOCK_TAG(name) static size_t name([[maybe_unused]] EvalContext &ctx, [[maybe_unused]] char *out, [[maybe_unused]] size_t capacity)

size_t put(char *out, size_t capacity, string_view s) {
  size_t n = std::min(capacity, s.size());
  if (n) std::memcpy(out, s.data(), n);
  return n;
}
size_t put_number(char *out, size_t capacity, i64 v) {
  char digits[21];
  char *at = digits;
  if (v < 0) *at++ = '-';
  char *end = write_u64(at, v < 0 ? -static_cast<u64>(v) : static_cast<u64>(v));
  return put(out, capacity, {digits, static_cast<size_t>(end - digits)});
}
size_t put_ip(char *out, size_t capacity, const Address *a) {
  if (!a || !*a) return 0;
  if (a->family == AF_UNIX) return put(out, capacity, "unix:");
  char text[46];
  return put(out, capacity, {text, a->ip.write(text)});
}
size_t put_date(char *out, size_t capacity, i64 wall, DateForm form) {
  char text[32];
  return put(out, capacity, {text, write_date(text, wall, form)});
}

/// What could break a line apart is written as '#' and two hexadecimal digits (manual, section 8.6).
size_t put_encoded(char *out, size_t capacity, string_view s, string_view also) {
  constexpr char hex[] = "0123456789ABCDEF";
  size_t n = 0;
  for (char c : s) {
    auto byte = static_cast<unsigned char>(c);
    bool plain = byte >= 0x20 && byte < 0x7f && c != '"' && c != '#' && also.find(c) == string_view::npos;
    if (n + (plain ? 1 : 3) > capacity) break;
    if (plain) out[n++] = c;
    else out[n++] = '#', out[n++] = hex[byte >> 4], out[n++] = hex[byte & 15];
  }
  return n;
}

// --------------------------------------------------------------------------------------- addresses

const Address *peer_of_server(EvalContext &ctx) { return ctx.stream ? &ctx.stream->server_peer() : nullptr; }
const Address *local_of_server(EvalContext &ctx) { return ctx.stream ? &ctx.stream->server_local() : nullptr; }
const Address *source(EvalContext &ctx) { return source_of(ctx); }
const Address *destination(EvalContext &ctx) { return destination_of(ctx); }

template <const Address *(*which)(EvalContext &)> size_t ip(EvalContext &ctx, char *out, size_t capacity) { return put_ip(out, capacity, which(ctx)); }
template <const Address *(*which)(EvalContext &)> size_t port(EvalContext &ctx, char *out, size_t capacity) {
  const Address *a = which(ctx);
  if (!a || !*a) return 0;
  return put_number(out, capacity, a->family == AF_UNIX && ctx.session ? ctx.session->bind().id : a->port);
}

// -------------------------------------------------------------------------------------------- dates

PENSTOCK_TAG(accept_local) { return put_date(out, capacity, accept_date_us(ctx), DateForm::LocalMillis); }
PENSTOCK_TAG(accept_utc_zone) { return put_date(out, capacity, accept_date_us(ctx), DateForm::UtcZone); }
PENSTOCK_TAG(accept_local_zone) { return put_date(out, capacity, accept_date_us(ctx), DateForm::LocalZone); }
PENSTOCK_TAG(accept_seconds) { return put_number(out, capacity, accept_date_us(ctx) / 1'000'000); }
PENSTOCK_TAG(accept_millis) {
  auto ms = static_cast<unsigned>(accept_date_us(ctx) / 1000 % 1000);
  char text[3] = {static_cast<char>('0' + ms / 100), static_cast<char>('0' + ms / 10 % 10), static_cast<char>('0' + ms % 10)};
  return put(out, capacity, {text, 3});
}
i64 request_or_accept(EvalContext &ctx) { return ctx.stream ? request_date_us(*ctx.stream) : accept_date_us(ctx); }
PENSTOCK_TAG(request_local) { return put_date(out, capacity, request_or_accept(ctx), DateForm::LocalMillis); }
PENSTOCK_TAG(request_utc_zone) { return put_date(out, capacity, request_or_accept(ctx), DateForm::UtcZone); }
PENSTOCK_TAG(request_local_zone) { return put_date(out, capacity, request_or_accept(ctx), DateForm::LocalZone); }

// ------------------------------------------------------------------------------------------- timers

template <i64 Timers::*member> size_t timer(EvalContext &ctx, char *out, size_t capacity) {
  i64 v = ctx.stream ? timers_of(*ctx.stream).*member : -1;
  if (ctx.phase == Phase::Log && ctx.stream && v >= 0 && !ctx.stream->facts.times.end_us && (member == &Timers::total || member == &Timers::active || member == &Timers::data)) {
    size_t n = put(out, capacity, "+"); // logged before the end (option logasap): more is to come
    return n + put_number(out + n, capacity - n, v);
  }
  return put_number(out, capacity, v);
}
PENSTOCK_TAG(timer_tq) {
  if (!ctx.stream) return put_number(out, capacity, -1);
  Timers t = timers_of(*ctx.stream);
  return put_number(out, capacity, t.request < 0 ? -1 : t.handshake + t.idle + t.request);
}

// ------------------------------------------------------------------------------------------ request

constexpr string_view bad_request = "<BADREQ>";
PENSTOCK_TAG(request_line) {
  if (!ctx.stream || ctx.stream->facts.method.empty()) return put(out, capacity, bad_request);
  const StreamFacts &f = ctx.stream->facts;
  size_t n = put_encoded(out, capacity, f.method, {});
  n += put(out + n, capacity - n, " ");
  n += put_encoded(out + n, capacity - n, f.uri, {});
  n += put(out + n, capacity - n, " ");
  return n + put_encoded(out + n, capacity - n, f.http_version, {});
}
template <string_view (*part)(const StreamFacts &)> size_t request_part(EvalContext &ctx, char *out, size_t capacity) {
  if (!ctx.stream || ctx.stream->facts.method.empty()) return put(out, capacity, bad_request);
  return put_encoded(out, capacity, part(ctx.stream->facts), {});
}
string_view method_part(const StreamFacts &f) { return f.method; }
string_view uri_part(const StreamFacts &f) { return f.uri; }
string_view uri_without_query(const StreamFacts &f) { return f.uri.substr(0, f.uri.find('?')); }
string_view path_part(const StreamFacts &f) { return path_of(f.uri); }
string_view query_part(const StreamFacts &f) {
  size_t at = f.uri.find('?');
  return at == string_view::npos ? string_view() : f.uri.substr(at);
}
string_view version_part(const StreamFacts &f) { return f.http_version; }

// ----------------------------------------------------------------------------------------- captures

template <bool response> u32 capture_slots(const Stream &s) {
  u32 n = 0;
  for (const CaptureSlot &c : s.frontend().captures) n += c.is_request != response;
  return n;
}
template <bool response> string_view capture(const Stream &s, u32 slot) { return response ? s.response_capture(slot) : s.request_capture(slot); }

template <bool response> size_t captures_in_braces(EvalContext &ctx, char *out, size_t capacity) {
  u32 slots = ctx.stream ? capture_slots<response>(*ctx.stream) : 0;
  if (slots == 0) return 0;
  size_t n = put(out, capacity, "{");
  for (u32 i = 0; i < slots; i++) {
    if (i) n += put(out + n, capacity - n, "|");
    n += put_encoded(out + n, capacity - n, capture<response>(*ctx.stream, i), "{|}");
  }
  return n + put(out + n, capacity - n, "}");
}
template <bool response> size_t captures_as_list(EvalContext &ctx, char *out, size_t capacity) {
  u32 slots = ctx.stream ? capture_slots<response>(*ctx.stream) : 0;
  size_t n = 0;
  for (u32 i = 0; i < slots; i++) {
    string_view value = capture<response>(*ctx.stream, i);
    n += value.data() ? put_encoded(out + n, capacity - n, value, "{|}") : put(out + n, capacity - n, "-");
    n += put(out + n, capacity - n, string_view("\0", 1));
  }
  return n;
}

// ------------------------------------------------------------------------------------- where it went

PENSTOCK_TAG(frontend_name) { return ctx.session ? put(out, capacity, ctx.session->frontend().name) : 0; }
PENSTOCK_TAG(frontend_transport) { return frontend_name(ctx, out, capacity); }
PENSTOCK_TAG(backend_name) { return ctx.stream ? put(out, capacity, ctx.stream->backend().name) : frontend_name(ctx, out, capacity); }
PENSTOCK_TAG(server_name) {
  const Server *s = ctx.stream ? ctx.stream->server() : nullptr;
  if (s != nullptr) return put(out, capacity, s->name);
  return put(out, capacity, ctx.stream && !ctx.stream->facts.service.empty() ? ctx.stream->facts.service : "<NOSRV>");
}
PENSTOCK_TAG(host) {
  static char name[256];
  if (!name[0]) gethostname(name, sizeof name - 1);
  return put(out, capacity, name);
}
PENSTOCK_TAG(process) {
  const Worker *w = this_worker();
  return put_number(out, capacity, w && w->log_pid ? w->log_pid : getpid());
}

// ------------------------------------------------------------------------------------------- counts

PENSTOCK_TAG(connections) { return put_number(out, capacity, connections_here()); }
PENSTOCK_TAG(frontend_connections) {
  const ProxyRow *row = ctx.session ? front_row(ctx.session->frontend()) : nullptr;
  return put_number(out, capacity, row ? row->conns.count() : 0);
}
PENSTOCK_TAG(backend_connections) {
  const ProxyRow *row = ctx.stream && ctx.stream->backend_chosen() ? back_row(ctx.stream->backend()) : nullptr;
  return put_number(out, capacity, row ? row->conns.count() : 0);
}
PENSTOCK_TAG(server_connections) {
  const Server *s = ctx.stream ? ctx.stream->server() : nullptr;
  const ServerRow *row = s ? server_row(*s) : nullptr;
  return put_number(out, capacity, row ? row->served.count() : 0);
}
PENSTOCK_TAG(retries) {
  size_t n = ctx.stream && ctx.stream->facts.redispatched ? put(out, capacity, "+") : 0;
  return n + put_number(out + n, capacity - n, ctx.stream ? ctx.stream->facts.retries : 0);
}
PENSTOCK_TAG(backend_queue) { return put_number(out, capacity, ctx.stream ? ctx.stream->facts.back_queue : 0); }
PENSTOCK_TAG(server_queue) { return put_number(out, capacity, ctx.stream ? ctx.stream->facts.srv_queue : 0); }
PENSTOCK_TAG(bytes_read) {
  if (!ctx.stream) return put_number(out, capacity, 0);
  size_t n = ctx.stream->facts.times.end_us ? 0 : put(out, capacity, "+");
  if (ctx.phase != Phase::Log || ctx.stream->facts.bytes_read == 0) n = 0;
  return n + put_number(out + n, capacity - n, static_cast<i64>(ctx.stream->facts.bytes_read));
}
PENSTOCK_TAG(bytes_uploaded) { return put_number(out, capacity, ctx.stream ? static_cast<i64>(ctx.stream->facts.bytes_uploaded) : 0); }
PENSTOCK_TAG(request_counter) { return put_number(out, capacity, ctx.stream ? ctx.stream->facts.counter : 0); }
PENSTOCK_TAG(log_counter) { return put_number(out, capacity, this_worker() ? static_cast<i64>(this_worker()->request_count) : 0); }

// ---------------------------------------------------------------------------------------- the rest

PENSTOCK_TAG(status) { return put_number(out, capacity, ctx.stream ? ctx.stream->facts.status ? ctx.stream->facts.status : -1 : 0); }
PENSTOCK_TAG(unique_id) { return ctx.stream ? put(out, capacity, ctx.stream->facts.unique_id) : 0; }
PENSTOCK_TAG(client_cookie) { return ctx.stream ? put_encoded(out, capacity, ctx.stream->facts.client_cookie, {}) : 0; }
PENSTOCK_TAG(server_cookie) { return ctx.stream ? put_encoded(out, capacity, ctx.stream->facts.server_cookie, {}) : 0; }
PENSTOCK_TAG(termination) {
  Fault none;
  const Fault &f = ctx.stream ? ctx.stream->facts.fault : none;
  char text[2] = {cause_letter(f), phase_letter(f)};
  return put(out, capacity, {text, 2});
}
PENSTOCK_TAG(termination_with_cookie) {
  size_t n = termination(ctx, out, capacity);
  char text[2] = {'-', '-'};
  if (ctx.stream) text[0] = ctx.stream->facts.cookie_client, text[1] = ctx.stream->facts.cookie_server;
  return n + put(out + n, capacity - n, {text, 2});
}
PENSTOCK_TAG(nothing) { return 0; }

constexpr Type num = Type::Int;
constexpr LogTagDef rows[] = {
    {.name = "B", .doc = {"Bytes that went from server to client.", "", ""}, .write = bytes_read, .type = num},
    {.name = "CC", .http_only = true, .doc = {"The cookie captured in the request.", "", ""}, .write = client_cookie},
    {.name = "CS", .http_only = true, .doc = {"The cookie captured in the response.", "", ""}, .write = server_cookie},
    {.name = "H", .doc = {"The name of this host.", "", ""}, .write = host},
    {.name = "HM", .http_only = true, .doc = {"The request's method.", "", ""}, .write = request_part<method_part>},
    {.name = "HP", .http_only = true, .doc = {"The request's target without query.", "", ""}, .write = request_part<uri_without_query>},
    {.name = "HPO", .http_only = true, .doc = {"The request's path only.", "", ""}, .write = request_part<path_part>},
    {.name = "HQ", .http_only = true, .doc = {"The request's query with its question mark.", "", ""}, .write = request_part<query_part>},
    {.name = "HU", .http_only = true, .doc = {"The request's target.", "", ""}, .write = request_part<uri_part>},
    {.name = "HV", .http_only = true, .doc = {"The request's HTTP version.", "", ""}, .write = request_part<version_part>},
    {.name = "ID", .doc = {"The unique ID of unique-id-format.", "", ""}, .write = unique_id},
    {.name = "ST", .doc = {"The response's status.", "", ""}, .write = status, .type = num},
    {.name = "T", .doc = {"Date of the accept in UTC, with time zone.", "", ""}, .write = accept_utc_zone, .bare = true},
    {.name = "TR", .http_only = true, .doc = {"Time to receive the request head from its first byte on.", "", ""}, .write = timer<&Timers::request>, .type = num},
    {.name = "Ta", .http_only = true, .doc = {"Time from the request's first byte to the end.", "", ""}, .write = timer<&Timers::active>, .type = num},
    {.name = "Tc", .doc = {"Time to connect to the server.", "", ""}, .write = timer<&Timers::connect>, .type = num},
    {.name = "Td", .doc = {"Time to transfer the response's body.", "", ""}, .write = timer<&Timers::data>, .type = num},
    {.name = "Th", .doc = {"Time of handshakes (TLS, PROXY protocol).", "", ""}, .write = timer<&Timers::handshake>, .type = num},
    {.name = "Ti", .http_only = true, .doc = {"Idle time before the request.", "", ""}, .write = timer<&Timers::idle>, .type = num},
    {.name = "Tl", .doc = {"Local date of the accept, with time zone.", "", ""}, .write = accept_local_zone, .bare = true},
    {.name = "Tq", .http_only = true, .doc = {"Th, Ti and TR together.", "", ""}, .write = timer_tq, .type = num},
    {.name = "Tr", .http_only = true, .doc = {"Time until the server's response head was there.", "", ""}, .write = timer<&Timers::response>, .type = num},
    {.name = "Ts", .doc = {"Date of the accept in seconds since 1970.", "", ""}, .write = accept_seconds, .type = num, .hex_width = 8},
    {.name = "Tt", .doc = {"Time from the accept to the end.", "", ""}, .write = timer<&Timers::total>, .type = num},
    {.name = "Tu", .doc = {"Time as the user sees it: Tt without the idle time.", "", ""}, .write = timer<&Timers::user>, .type = num},
    {.name = "Tw", .doc = {"Time spent waiting in queues.", "", ""}, .write = timer<&Timers::queue>, .type = num},
    {.name = "U", .doc = {"Bytes that went from client to server.", "", ""}, .write = bytes_uploaded, .type = num},
    {.name = "ac", .doc = {"Connections on the host.", "", ""}, .write = connections, .type = num},
    {.name = "b", .doc = {"Name of the backend.", "", ""}, .write = backend_name},
    {.name = "bc", .doc = {"Connections on the backend.", "", ""}, .write = backend_connections, .type = num},
    {.name = "bi", .needs = needs_server, .doc = {"The address from which the server was connected to.", "", ""}, .write = ip<local_of_server>, .type = Type::Addr, .hex_width = 8},
    {.name = "bp", .needs = needs_server, .doc = {"The port from which the server was connected to.", "", ""}, .write = port<local_of_server>, .type = Type::Str, .hex_width = 4},
    {.name = "bq", .doc = {"Requests that were before this one in the backend's queue.", "", ""}, .write = backend_queue, .type = num},
    {.name = "ci", .doc = {"The client's address.", "", ""}, .write = ip<source>, .type = Type::Addr, .hex_width = 8},
    {.name = "cp", .doc = {"The client's port.", "", ""}, .write = port<source>, .type = num, .hex_width = 4},
    {.name = "f", .doc = {"Name of the frontend.", "", ""}, .write = frontend_name},
    {.name = "fc", .doc = {"Connections on the frontend.", "", ""}, .write = frontend_connections, .type = num},
    {.name = "fi", .doc = {"The address that the client connected to.", "", ""}, .write = ip<destination>, .type = Type::Addr, .hex_width = 8},
    {.name = "fp", .doc = {"The port that the client connected to.", "", ""}, .write = port<destination>, .type = num, .hex_width = 4},
    {.name = "ft", .doc = {"Name of the frontend, with '~' behind it on TLS.", "", ""}, .write = frontend_transport},
    {.name = "hr", .doc = {"Captured request headers in braces.", "", ""}, .write = captures_in_braces<false>, .type = Type::Any},
    {.name = "hrl", .doc = {"Captured request headers one by one.", "", ""}, .write = captures_as_list<false>, .list = true},
    {.name = "hs", .doc = {"Captured response headers in braces.", "", ""}, .write = captures_in_braces<true>, .type = Type::Any},
    {.name = "hsl", .doc = {"Captured response headers one by one.", "", ""}, .write = captures_as_list<true>, .list = true},
    {.name = "lc", .doc = {"Counts the lines that this worker logs.", "", ""}, .write = log_counter, .type = num, .hex_width = 4},
    {.name = "ms", .doc = {"Milliseconds of the accept's date.", "", ""}, .write = accept_millis, .type = num, .hex_width = 2},
    {.name = "pid", .doc = {"Number of the process.", "", ""}, .write = process, .type = num, .hex_width = 4},
    {.name = "r", .http_only = true, .doc = {"The request line.", "", ""}, .write = request_line},
    {.name = "rc", .doc = {"Retries, with '+' before them after a redispatch.", "", ""}, .write = retries, .type = num},
    {.name = "rt", .doc = {"Number of the request in its worker.", "", ""}, .write = request_counter, .type = num, .hex_width = 4},
    {.name = "s", .doc = {"Name of the server.", "", ""}, .write = server_name},
    {.name = "sc", .doc = {"Connections on the server.", "", ""}, .write = server_connections, .type = num},
    {.name = "si", .needs = needs_server, .doc = {"The server's address.", "", ""}, .write = ip<peer_of_server>, .type = Type::Addr, .hex_width = 8},
    {.name = "sp", .needs = needs_server, .doc = {"The server's port.", "", ""}, .write = port<peer_of_server>, .type = Type::Str, .hex_width = 4},
    {.name = "sq", .doc = {"Requests that were before this one in the server's queue.", "", ""}, .write = server_queue, .type = num},
    {.name = "sslc", .doc = {"The TLS cipher of the client's connection.", "", ""}, .write = nothing},
    {.name = "sslv", .doc = {"The TLS version of the client's connection.", "", ""}, .write = nothing},
    {.name = "t", .doc = {"Local date of the accept, with milliseconds.", "", ""}, .write = accept_local, .bare = true},
    {.name = "tr", .http_only = true, .doc = {"Local date of the request, with milliseconds.", "", ""}, .write = request_local, .bare = true},
    {.name = "trg", .http_only = true, .doc = {"Date of the request in UTC, with time zone.", "", ""}, .write = request_utc_zone, .bare = true},
    {.name = "trl", .http_only = true, .doc = {"Local date of the request, with time zone.", "", ""}, .write = request_local_zone, .bare = true},
    {.name = "ts", .doc = {"How the stream ended: cause and phase.", "", ""}, .write = termination, .bare = true},
    {.name = "tsc", .http_only = true, .doc = {"How the stream ended, and what happened to the persistence cookie.", "", ""}, .write = termination_with_cookie, .bare = true},
};
static_assert(sorted_and_documented<LogTagDef>(rows));

} // namespace

std::span<const LogTagDef> log_tags() { return rows; }

} // namespace penstock
