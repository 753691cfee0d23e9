// SPDX-License-Identifier: BSD-2-Clause
// Bytes of either direction before anybody understood them (layer 6): lengths, payloads, RDP
// cookies (manual, section 7.3.5). What needs more bytes than there are says so, and the rule waits.
#include <algorithm>

#include "shared/base/text.h"
#include "worker/rules/rows.h"
#include "worker/stream/stream.h"

namespace penstock {

namespace {

using Bytes = string_view (*)(const EvalContext &);
string_view request_bytes(const EvalContext &ctx) { return ctx.stream ? ctx.stream->client().peek().bytes : string_view(); }
string_view response_bytes(const EvalContext &ctx) {
  Endpoint *e = ctx.stream ? ctx.stream->server_side() : nullptr;
  return e ? e->peek().bytes : string_view();
}
string_view bytes_here(const EvalContext &ctx) { return ctx.response_side ? response_bytes(ctx) : request_bytes(ctx); }

/// No value now; asks for more bytes while some may come.
bool wait_for_more(EvalContext &ctx) {
  if (!ctx.final) ctx.need_more = true;
  return false;
}

template <Bytes bytes> bool length(EvalContext &ctx, const Args &, FetchCursor &, Sample &out) {
  if (!ctx.stream) return false;
  i64 n = static_cast<i64>(bytes(ctx).size());
  if (bytes == request_bytes && ctx.stream->has_request()) n += static_cast<i64>(ctx.stream->request().wire_size());
  if (n == 0 && !ctx.final) return wait_for_more(ctx);
  out.may_grow = true;
  return give_int(out, n);
}

template <Bytes bytes> bool payload(EvalContext &ctx, const Args &args, FetchCursor &, Sample &out) {
  if (!ctx.stream) return false;
  string_view b = bytes(ctx);
  auto offset = static_cast<size_t>(args[0].num), size = static_cast<size_t>(args[1].num);
  if (b.size() < offset + size || (size == 0 && b.size() <= offset && !ctx.final)) return wait_for_more(ctx);
  out.may_grow = size == 0; // all that is there, so far
  out.set_bin(size ? b.substr(offset, size) : b.substr(offset));
  return true;
}
bool check_payload(Args &args, std::string &error) {
  if (args[0].num >= 0 && args[1].num >= 0) return true;
  error = "offset and length must not be negative";
  return false;
}

/// A value whose length stands before it: at `offset`, in `size` bytes; the value follows or begins elsewhere.
template <Bytes bytes> bool payload_with_length(EvalContext &ctx, const Args &args, FetchCursor &, Sample &out) {
  if (!ctx.stream) return false;
  string_view b = bytes(ctx);
  auto offset = static_cast<size_t>(args[0].num), size = static_cast<size_t>(args[1].num);
  if (b.size() < offset + size) return wait_for_more(ctx);
  size_t n = 0;
  for (size_t i = 0; i < size; i++) n = n << 8 | static_cast<unsigned char>(b[offset + i]);
  i64 begin = static_cast<i64>(offset + size);
  if (args[2]) begin = args[2].str[0] == '+' || args[2].str[0] == '-' ? begin + args[2].num : args[2].num;
  if (begin < 0 || n > 1 << 20) return false;
  if (b.size() < static_cast<size_t>(begin) + n) return wait_for_more(ctx);
  out.set_bin(b.substr(static_cast<size_t>(begin), n));
  return true;
}
bool check_payload_lv(Args &args, std::string &error) {
  bool good = args[0].num >= 0 && args[1].num >= 1 && args[1].num <= 4;
  if (good && args[2]) {
    auto v = parse_i64(args[2].str);
    if (v) args[2].num = *v;
    good = v.has_value();
  }
  if (!good) error = "expects an offset, the size of the length (1 to 4 bytes) and perhaps where the value begins";
  return good;
}

PENSTOCK_FETCH(wait_end) {
  if (!ctx.final) return wait_for_more(ctx);
  return give_bool(out, true);
}

// --------------------------------------------------------------------------------------- RDP cookie

/// "Cookie: NAME=VALUE\r\n" behind the headers of TPKT and X.224.
PENSTOCK_FETCH(rdp_cookie) {
  if (!ctx.stream) return false;
  string_view b = request_bytes(ctx);
  if (b.size() < 11) return wait_for_more(ctx);
  if (b[0] != 3 || b[1] != 0 || (static_cast<unsigned char>(b[5]) & 0xf0) != 0xe0) return false;
  size_t packet = static_cast<size_t>(static_cast<unsigned char>(b[2])) << 8 | static_cast<unsigned char>(b[3]);
  if (b.size() < packet) return wait_for_more(ctx);
  string_view text = b.substr(11, packet < 11 ? 0 : packet - 11);
  if (!istarts_with(text, "Cookie:")) return false;
  text.remove_prefix(7);
  while (text.starts_with(' ')) text.remove_prefix(1);
  size_t end = text.find_first_of("\r\n");
  size_t equal = text.substr(0, end).find('=');
  if (end == string_view::npos || equal == string_view::npos) return false;
  if (!args.empty() && args[0] && !iequals(text.substr(0, equal), args[0].str)) return false;
  return give_str(out, text.substr(equal + 1, end - equal - 1));
}
PENSTOCK_FETCH(rdp_cookie_count) {
  bool found = rdp_cookie(ctx, args, cursor, out);
  return (found || !ctx.need_more) && give_int(out, found);
}

// ------------------------------------------------------------------------------------------- distcc

/// The occurrence-th token of a name: four letters, eight hexadecimal digits, and for most the bytes that they count.
bool find_token(EvalContext &ctx, const Args &args, u32 &parameter, string_view &body) {
  constexpr string_view counted[] = {"ARGV", "DOTI", "SERR", "SOUT", "DOTO", "DOTD"};
  if (!ctx.stream) return false;
  i64 wanted = args[1] ? args[1].num : 1;
  for (string_view b = bytes_here(ctx); b.size() >= 12;) {
    u32 n = 0;
    for (char c : b.substr(4, 8)) {
      int digit = hex_digit(c);
      if (digit < 0) return false;
      n = n << 4 | static_cast<u32>(digit);
    }
    string_view name = b.substr(0, 4);
    b.remove_prefix(12);
    bool has_body = std::find(std::begin(counted), std::end(counted), name) != std::end(counted);
    if (name == args[0].str && --wanted == 0) {
      parameter = n;
      body = has_body ? b.substr(0, n) : string_view();
      return true;
    }
    if (!has_body) continue;
    if (b.size() < n) break;
    b.remove_prefix(n);
  }
  return wait_for_more(ctx);
}
PENSTOCK_FETCH(distcc_param) {
  u32 n;
  string_view body;
  return find_token(ctx, args, n, body) && give_int(out, n);
}
PENSTOCK_FETCH(distcc_body) {
  u32 n;
  string_view body;
  if (!find_token(ctx, args, n, body)) return false;
  if (body.size() < n) return wait_for_more(ctx);
  out.set_bin(body);
  return n > 0;
}
bool check_distcc(Args &args, std::string &error) {
  if (args[0].str.size() != 4) error = "a token has four letters, such as DOTI";
  if (args[1] && args[1].num < 1) error = "occurrences count from 1";
  return error.empty();
}

constexpr ArgSpecs token = {req(ArgType::Str, "token"), opt(ArgType::Int, "occurrence")};
constexpr ArgSpecs part = {req(ArgType::Int, "offset"), req(ArgType::Int, "length")};
constexpr ArgSpecs part_lv = {req(ArgType::Int, "offset"), req(ArgType::Int, "size"), opt(ArgType::Str, "value-offset")};
constexpr ArgSpecs cookie = {opt(ArgType::Str, "name")};
constexpr u32 Q = needs_req_bytes, R = needs_res_bytes;
constexpr Type I = Type::Int, S = Type::Str, X = Type::Bin;
constexpr string_view part_text = "Length 0 stands for all that is there. In tcp-request content rules it waits for the bytes during the inspect-delay.";
constexpr string_view lv_text = "Where its length stands, in how many bytes (big-endian), and where it begins if not right behind; +N and -N count from there.";
constexpr string_view old = "An older name.";
constexpr FetchDef rows[] = {
    {.name = "distcc_body", .args = token, .out = X, .needs = Q, .doc = {"The bytes of a token in a distcc message.", "The first token of the name, or the one whose occurrence is given.", "tcp-request inspect-delay 5s\ntcp-request content accept if { distcc_body(ARGV,2) -m found }"}, .eval = distcc_body, .check = check_distcc},
    {.name = "distcc_param", .args = token, .out = I, .needs = Q, .doc = {"The number of a token in a distcc message.", "The first token of the name, or the one whose occurrence is given. DOTI tells the size of the file to compile.", "tcp-request inspect-delay 5s\ntcp-request content accept if { distcc_param(DOTI) -m found }"}, .eval = distcc_param, .check = check_distcc},
    {.name = "payload", .args = part, .out = X, .needs = Q, .doc = {"A part of the bytes: req.payload or res.payload.", old, "tcp-request content reject unless { payload(0,3) -m bin 474554 }"}, .eval = payload<bytes_here>, .check = check_payload, .acl_match = "bin"},
    {.name = "payload_lv", .args = part_lv, .out = X, .needs = Q, .doc = {"A value behind its length: req.payload_lv.", old, "tcp-request content reject unless { payload_lv(0,2) -m found }"}, .eval = payload_with_length<bytes_here>, .check = check_payload_lv, .acl_match = "bin"},
    {.name = "rdp_cookie", .args = cookie, .out = S, .needs = Q, .doc = {"The RDP cookie: req.rdp_cookie.", old, "tcp-request content accept if { rdp_cookie(msts) -m found }"}, .eval = rdp_cookie},
    {.name = "rdp_cookie_cnt", .args = cookie, .out = I, .needs = Q, .doc = {"Number of RDP cookies: req.rdp_cookie_cnt.", old, "tcp-request content accept if { rdp_cookie_cnt gt 0 }"}, .eval = rdp_cookie_count},
    {.name = "req.len", .out = I, .needs = Q, .doc = {"How many bytes of the request are there.", "", "tcp-request content accept if { req.len gt 10 }"}, .eval = length<request_bytes>},
    {.name = "req.payload", .args = part, .out = X, .needs = Q, .doc = {"A part of the request's bytes.", part_text, "tcp-request content reject unless { req.payload(0,3) -m bin 474554 }"}, .eval = payload<request_bytes>, .check = check_payload},
    {.name = "req.payload_lv", .args = part_lv, .out = X, .needs = Q, .doc = {"A value in the request's bytes behind its length.", lv_text, "tcp-request content reject unless { req.payload_lv(0,2) -m found }"}, .eval = payload_with_length<request_bytes>, .check = check_payload_lv},
    {.name = "req.rdp_cookie", .args = cookie, .out = S, .needs = Q, .doc = {"The cookie of an RDP connection request.", "", "tcp-request content accept if { req.rdp_cookie(msts) -m found }"}, .eval = rdp_cookie},
    {.name = "req.rdp_cookie_cnt", .args = cookie, .out = I, .needs = Q, .doc = {"1 when the request is RDP with a cookie of that name, else 0.", "", "tcp-request content accept if RDP_COOKIE"}, .eval = rdp_cookie_count},
    {.name = "req_len", .out = I, .needs = Q, .doc = {"How many bytes of the request are there: req.len.", old, "tcp-request content accept if { req_len gt 10 }"}, .eval = length<request_bytes>},
    {.name = "req_rdp_cookie", .args = cookie, .out = S, .needs = Q, .doc = {"The RDP cookie: req.rdp_cookie.", old, "tcp-request content accept if { req_rdp_cookie -m found }"}, .eval = rdp_cookie},
    {.name = "req_rdp_cookie_cnt", .args = cookie, .out = I, .needs = Q, .doc = {"Number of RDP cookies: req.rdp_cookie_cnt.", old, "tcp-request content accept if { req_rdp_cookie_cnt gt 0 }"}, .eval = rdp_cookie_count},
    {.name = "res.len", .out = I, .needs = R, .doc = {"How many bytes of the response are there.", "", "tcp-response content accept if { res.len gt 10 }"}, .eval = length<response_bytes>},
    {.name = "res.payload", .args = part, .out = X, .needs = R, .doc = {"A part of the response's bytes.", part_text, "tcp-response content accept if { res.payload(0,3) -m found }"}, .eval = payload<response_bytes>, .check = check_payload},
    {.name = "res.payload_lv", .args = part_lv, .out = X, .needs = R, .doc = {"A value in the response's bytes behind its length.", lv_text, "tcp-response content accept if { res.payload_lv(0,2) -m found }"}, .eval = payload_with_length<response_bytes>, .check = check_payload_lv},
    {.name = "wait_end", .out = Type::Bool, .doc = {"True once no more bytes are waited for.", "As the last condition of a rule it makes the rule wait for the end of the inspection.", "tcp-request inspect-delay 2s\ntcp-request content reject if WAIT_END"}, .eval = wait_end},
};
static_assert(sorted_and_documented<FetchDef>(rows));

} // namespace

std::span<const FetchDef> fetch_content() { return rows; }

} // namespace penstock
