// SPDX-License-Identifier: BSD-2-Clause
// The request line, its parts, URL parameters and the body (manual, section 7.3.6).
#include "shared/base/hash.h"
#include "shared/base/text.h"
#include "shared/http/uri.h"
#include "worker/rules/http_view.h"
#include "worker/rules/rows.h"

namespace penstock {

namespace {

PENSTOCK_FETCH(fetch_method) {
  if (const HttpMessage *m = request_of(ctx)) {
    out.type = Type::Meth;
    out.num = static_cast<i64>(m->method());
    out.str = m->method_text();
    return true;
  }
  if (!ctx.stream || ctx.stream->facts.method.empty()) return false;
  out.type = Type::Meth;
  out.str = ctx.stream->facts.method;
  out.num = static_cast<i64>(method_of(out.str));
  return true;
}

template <string_view (*part)(string_view)> bool target_part(EvalContext &ctx, const Args &, FetchCursor &, Sample &out) {
  const HttpMessage *m = request_of(ctx);
  return m && give_some(out, part(m->target()));
}
string_view whole_target(string_view t) { return t; }

/// The query; with the option "with_qm" its question mark too.
PENSTOCK_FETCH(fetch_query) {
  const HttpMessage *m = request_of(ctx);
  if (!m) return false;
  string_view q = query_of(m->target());
  if (!q.data()) return false;
  if (args[0] && !q.empty()) q = {q.data() - 1, q.size() + 1};
  return give_str(out, q);
}
bool check_query(Args &args, std::string &error) {
  if (!args[0] || args[0].str == "with_qm") return true;
  error = "the only option is with_qm, got '" + args[0].str + "'";
  return false;
}

string_view join(Arena &arena, string_view a, string_view b) {
  char *p = arena.chars(a.size() + b.size() + 1);
  if (!a.empty()) std::memcpy(p, a.data(), a.size());
  if (!b.empty()) std::memcpy(p + a.size(), b.data(), b.size());
  return {p, a.size() + b.size()};
}

/// Host and path, the usual identity of a page.
string_view base_of(EvalContext &ctx, const HttpMessage &m, bool with_query) {
  string_view path = with_query ? path_and_query_of(m.target()) : path_of(m.target());
  string_view host;
  u32 at = 0;
  next_list_value(m.get(Header::Host), at, host);
  return join(ctx.scratch, host, path);
}
PENSTOCK_FETCH(fetch_base) {
  const HttpMessage *m = request_of(ctx);
  return m && give_str(out, base_of(ctx, *m, false));
}
PENSTOCK_FETCH(fetch_baseq) {
  const HttpMessage *m = request_of(ctx);
  return m && give_str(out, base_of(ctx, *m, true));
}

u32 base_hash(EvalContext &ctx, const HttpMessage &m) { return avalanche(sdbm(base_of(ctx, m, false))); }
u32 url_hash(EvalContext &ctx, const HttpMessage &m) {
  string_view host;
  u32 at = 0;
  next_list_value(m.get(Header::Host), at, host);
  return avalanche(sdbm(join(ctx.scratch, host, path_and_query_of(m.target()))));
}

/// A hash and the client's address in one block.
bool hash_and_source(EvalContext &ctx, u32 hash, Sample &out) {
  if (!ctx.session) return false;
  const Ip &ip = ctx.session->source().ip;
  size_t bytes = ip.is_v4() ? 4 : ip.is_v6() ? 16 : 0;
  char *p = ctx.scratch.chars(20);
  for (int i = 3; i >= 0; i--, hash >>= 8) p[i] = static_cast<char>(hash);
  std::memcpy(p + 4, ip.bytes.data(), bytes);
  out.set_bin({p, 4 + bytes});
  return bytes > 0;
}
template <u32 (*hash)(EvalContext &, const HttpMessage &)> bool hash32(EvalContext &ctx, const Args &, FetchCursor &, Sample &out) {
  const HttpMessage *m = request_of(ctx);
  return m && give_int(out, hash(ctx, *m));
}
template <u32 (*hash)(EvalContext &, const HttpMessage &)> bool hash32_src(EvalContext &ctx, const Args &, FetchCursor &, Sample &out) {
  const HttpMessage *m = request_of(ctx);
  return m && hash_and_source(ctx, hash(ctx, *m), out);
}

/// Both look at targets that name an IPv4 address, and nothing else.
bool target_address(const EvalContext &ctx, Authority &a, Ip &ip) {
  const HttpMessage *m = request_of(ctx);
  string_view authority = m ? authority_of(m->target()) : string_view();
  if (authority.find('@') != string_view::npos || !split_authority(authority, a)) return false;
  auto parsed = parse_ip(a.host);
  if (parsed && parsed->is_v4()) ip = *parsed;
  return parsed && parsed->is_v4();
}
PENSTOCK_FETCH(url_ip) {
  Authority a;
  Ip ip;
  if (!target_address(ctx, a, ip)) return false;
  out.set_ip(ip);
  return true;
}
PENSTOCK_FETCH(url_port) {
  Authority a;
  Ip ip;
  if (!target_address(ctx, a, ip)) return false;
  auto port = parse_u64(a.port);
  return give_int(out, port ? static_cast<i64>(*port) : 80);
}

PENSTOCK_FETCH(req_version) {
  const HttpMessage *m = request_of(ctx);
  if (!m) return false;
  switch (m->version()) {
    case 9: return give_str(out, "0.9");
    case 10: return give_str(out, "1.0");
    case 11: return give_str(out, "1.1");
    case 20: return give_str(out, "2.0");
    case 30: return give_str(out, "3.0");
  }
  return false;
}
/// In mode tcp: whether the bytes begin with a request line.
PENSTOCK_FETCH(proto_http) {
  if (request_of(ctx) || !ctx.stream || ctx.stream->is_http()) return give_bool(out, request_of(ctx) != nullptr);
  string_view bytes = ctx.stream->client().peek().bytes;
  size_t word = 0;
  while (word < bytes.size() && bytes[word] >= 'A' && bytes[word] <= 'Z') word++;
  if (word < bytes.size() && (word == 0 || bytes[word] != ' ')) return give_bool(out, false);
  size_t end = bytes.find('\n');
  if (end == string_view::npos) {
    if (!ctx.final) ctx.need_more = true;
    return ctx.final && give_bool(out, false);
  }
  string_view line = bytes.substr(0, end);
  return give_bool(out, line.find(" HTTP/", word + 1) != string_view::npos);
}
PENSTOCK_FETCH(first_request) { return ctx.session && give_bool(out, ctx.session->request_count() <= 1); }

// --------------------------------------------------------------------------------------- parameters

/// Parameters of a query or a form: divided by '&' or, in queries, ';'.
bool next_param(string_view text, string_view delimiters, u32 &at, string_view &name, string_view &value) {
  if (at >= text.size()) return false;
  size_t end = text.find_first_of(delimiters, at);
  if (end == string_view::npos) end = text.size();
  string_view pair = text.substr(at, end - at);
  size_t equal = pair.find('=');
  name = pair.substr(0, equal);
  value = equal == string_view::npos ? string_view() : pair.substr(equal + 1);
  at = static_cast<u32>(end + 1);
  return true;
}

bool find_param(string_view text, string_view delimiters, const ArgValue &wanted, bool any_case, FetchCursor &cursor, Sample &out) {
  string_view name, value;
  while (next_param(text, delimiters, cursor.position, name, value)) {
    if (!value.data()) continue; // a flag, not a parameter
    if (wanted && !(any_case ? iequals(name, wanted.str) : name == wanted.str)) continue;
    out.may_change = cursor.iterate;
    return give_str(out, value);
  }
  return false;
}

PENSTOCK_FETCH(url_param) {
  const HttpMessage *m = request_of(ctx);
  if (!m) return false;
  string_view text = query_of(m->target());
  if (args[1] && args[1].str != "?") { // parameters begin after another character
    size_t at = m->target().find(args[1].str[0]);
    text = at == string_view::npos ? string_view() : m->target().substr(at + 1);
  }
  return find_param(text, "&;", args[0], args[2].type != ArgType::None, cursor, out);
}
PENSTOCK_FETCH(url_param_number) { return url_param(ctx, args, cursor, out) && cast(out, Type::Int, ctx.scratch); }
bool check_url_param(Args &args, std::string &error) {
  if (args[1] && args[1].str.size() != 1) error = "the delimiter is a single character";
  if (args[2] && args[2].str != "i") error = "the only flag is i";
  return error.empty();
}

// --------------------------------------------------------------------------------------------- body

string_view body_of(EvalContext &ctx) { return ctx.stream && ctx.stream->has_request() ? ctx.stream->client().peek().bytes : string_view(); }

PENSTOCK_FETCH(req_body) {
  out.set_bin(body_of(ctx));
  return request_of(ctx);
}
PENSTOCK_FETCH(req_body_len) { return request_of(ctx) && give_int(out, static_cast<i64>(body_of(ctx).size())); }
/// What the head announces, or what is there so far.
PENSTOCK_FETCH(req_body_size) {
  if (!request_of(ctx)) return false;
  const H1Framing &f = ctx.stream->client().framing();
  return give_int(out, f.kind == BodyKind::Length ? static_cast<i64>(f.length) : static_cast<i64>(body_of(ctx).size()));
}
PENSTOCK_FETCH(req_body_param) {
  return request_of(ctx) && find_param(body_of(ctx), "&", args[0], args[1].type != ArgType::None, cursor, out);
}

// ---------------------------------------------------------------------------------------- authority

constexpr ArgSpecs url_param_args = {opt(ArgType::Str, "name"), opt(ArgType::Str, "delimiter"), opt(ArgType::Str, "flags")};
constexpr string_view param_text = "An ACL looks at every parameter of the name; elsewhere it is the first. Without a name any will do. The second "
                                   "argument names the character after which parameters begin, '?' unless given; the flag i ignores the case of names.";

constexpr FetchDef rows[] = {
    {.name = "base", .out = Type::Str, .needs = needs_req_head, .doc = {"Host and path of the request in one text.", "", "acl docs base_beg example.com/docs"}, .eval = fetch_base},
    {.name = "base32", .out = Type::Int, .needs = needs_req_head, .doc = {"A 32-bit hash of base.", "", "http-request set-var(txn.page) base32"}, .eval = hash32<base_hash>},
    {.name = "base32+src", .out = Type::Bin, .needs = needs_req_head, .doc = {"base32 and the client's address in one block.", "", "http-request set-var(txn.page_of_client) base32+src"}, .eval = hash32_src<base_hash>},
    {.name = "baseq", .out = Type::Str, .needs = needs_req_head, .doc = {"Host, path and query of the request in one text.", "", "http-request set-var(txn.page) baseq"}, .eval = fetch_baseq},
    {.name = "http_first_req", .out = Type::Bool, .needs = needs_stream, .doc = {"Whether this is the first request of the connection.", "", "http-request set-header X-First 1 if { http_first_req }"}, .eval = first_request},
    {.name = "method", .out = Type::Meth, .needs = needs_stream, .doc = {"The request's method.", "", "acl reads method GET HEAD"}, .eval = fetch_method, .acl_match = "str"},
    {.name = "path", .out = Type::Str, .needs = needs_req_head, .doc = {"The path of the request, without query.", "", "use_backend static if { path_beg /static/ }\nbackend static"}, .eval = target_part<path_of>},
    {.name = "pathq", .out = Type::Str, .needs = needs_req_head, .doc = {"Path and query of the request.", "", "http-request redirect location https://example.org%[pathq]"}, .eval = target_part<path_and_query_of>},
    {.name = "query", .args = {opt(ArgType::Str, "option")}, .out = Type::Str, .needs = needs_req_head, .doc = {"The query of the request, without its question mark.", "With the option with_qm the mark is kept, where there is a query.", "http-request set-var(txn.q) query"}, .eval = fetch_query, .check = check_query},
    {.name = "req.body", .out = Type::Bin, .needs = needs_req_head | needs_req_body, .doc = {"The part of the request's body that has arrived.", "Needs option http-buffer-request or wait-for-body to be sure of it.", "option http-buffer-request\nhttp-request deny if { req.body -m sub DROP }"}, .eval = req_body},
    {.name = "req.body_len", .out = Type::Int, .needs = needs_req_head | needs_req_body, .doc = {"How many bytes of the request's body have arrived.", "", "http-request set-var(txn.n) req.body_len"}, .eval = req_body_len},
    {.name = "req.body_param", .args = {opt(ArgType::Str, "name"), opt(ArgType::Str, "flags")}, .out = Type::Str, .needs = needs_req_head | needs_req_body, .doc = {"A parameter of a form in the request's body.", "", "http-request set-var(txn.user) req.body_param(user)"}, .eval = req_body_param},
    {.name = "req.body_size", .out = Type::Int, .needs = needs_req_head, .doc = {"The announced length of the request's body, else what has arrived.", "", "http-request deny if { req.body_size gt 1000000 }"}, .eval = req_body_size},
    {.name = "req.proto_http", .out = Type::Bool, .needs = needs_req_bytes, .doc = {"Whether the request is HTTP.", "", "acl web req.proto_http"}, .eval = proto_http},
    {.name = "req.ver", .out = Type::Str, .needs = needs_req_head, .doc = {"The HTTP version of the request, as \"1.1\".", "", "http-request deny if { req.ver 1.0 }"}, .eval = req_version},
    {.name = "req_proto_http", .out = Type::Bool, .needs = needs_req_bytes, .doc = {"Whether the request is HTTP: req.proto_http.", "An older name.", "acl web req_proto_http"}, .eval = proto_http},
    {.name = "req_ver", .out = Type::Str, .needs = needs_req_head, .doc = {"The HTTP version of the request: req.ver.", "An older name.", "acl old req_ver 1.0"}, .eval = req_version},
    {.name = "url", .out = Type::Str, .needs = needs_req_head, .doc = {"The request's target as it was sent.", "", "acl star url *"}, .eval = target_part<whole_target>},
    {.name = "url32", .out = Type::Int, .needs = needs_req_head, .doc = {"A 32-bit hash of host, path and query.", "", "http-request set-var(txn.u) url32"}, .eval = hash32<url_hash>},
    {.name = "url32+src", .out = Type::Bin, .needs = needs_req_head, .doc = {"url32 and the client's address in one block.", "", "http-request set-var(txn.u) url32+src"}, .eval = hash32_src<url_hash>},
    {.name = "url_ip", .out = Type::Addr, .needs = needs_req_head, .doc = {"The IPv4 address in an absolute target.", "None where the target names a host.", "acl to_inside url_ip 10.0.0.0/8"}, .eval = url_ip},
    {.name = "url_param", .args = url_param_args, .out = Type::Str, .needs = needs_req_head, .doc = {"A parameter of the request's query.", param_text, "acl preview url_param(preview) 1"}, .eval = url_param, .check = check_url_param},
    {.name = "url_port", .out = Type::Int, .needs = needs_req_head, .doc = {"The port in an absolute target that names an IPv4 address, 80 without one.", "", "acl tls_port url_port 443"}, .eval = url_port},
    {.name = "urlp", .args = url_param_args, .out = Type::Str, .needs = needs_req_head, .doc = {"A parameter of the request's query.", param_text, "acl preview urlp(preview) 1"}, .eval = url_param, .check = check_url_param},
    {.name = "urlp_val", .args = url_param_args, .out = Type::Int, .needs = needs_req_head, .doc = {"A parameter of the request's query as a number.", param_text, "acl later_pages urlp_val(page) gt 1"}, .eval = url_param_number, .check = check_url_param},
};
static_assert(sorted_and_documented<FetchDef>(rows));

} // namespace

std::span<const FetchDef> fetch_request() { return rows; }

} // namespace penstock
