// SPDX-License-Identifier: BSD-2-Clause
// The first handshake message of a TLS connection that is passed through: what the client offers, seen
// without decrypting anything (RFC 8446, section 4; RFC 6066; manual, section 7.3.5).
#include <algorithm>

#include "worker/rules/rows.h"
#include "worker/stream/stream.h"

namespace penstock {

namespace {

string_view request_bytes(const EvalContext &ctx) { return ctx.stream ? ctx.stream->client().peek().bytes : string_view(); }
string_view response_bytes(const EvalContext &ctx) {
  Endpoint *e = ctx.stream ? ctx.stream->server_side() : nullptr;
  return e ? e->peek().bytes : string_view();
}

/// A reader that knows when it ran out.
struct Reader {
  string_view rest;
  bool short_of = false;
  u32 number(unsigned bytes) {
    u32 v = 0;
    for (char c : take(bytes)) v = v << 8 | static_cast<unsigned char>(c);
    return v;
  }
  string_view take(size_t n) {
    if (rest.size() < n) return short_of = true, rest = {}, string_view();
    string_view b = rest.substr(0, n);
    rest.remove_prefix(n);
    return b;
  }
};

enum class State : u8 { NotTls, Short, Complete };

enum Extension : u32 { server_name = 0, supported_groups = 10, signature_algorithms = 13, application_protocols = 16, session_ticket = 35, key_share = 51 };

struct HelloFacts {
  u32 version = 0, type = 0;
  string_view ciphers, extensions;
};

/// The oldest form: a record of SSL 2 that offers a later version. Only its version is of use.
State read_old_hello(string_view bytes, HelloFacts &f) {
  Reader r{bytes};
  u32 size = r.number(2) & 0x7fff;
  f.type = r.number(1);
  f.version = r.number(2);
  if (r.short_of) return State::Short;
  if (f.type != 1 || f.version >> 8 != 3 || size < 9) return State::NotTls;
  f.type = 0;
  return bytes.size() < size + 2 ? State::Short : State::Complete;
}

State read_hello(string_view bytes, HelloFacts &f) {
  if (bytes.empty()) return State::Short;
  if (static_cast<unsigned char>(bytes[0]) & 0x80) return read_old_hello(bytes, f);
  if (bytes[0] != 0x16) return State::NotTls;
  Reader record{bytes};
  record.number(1);
  u32 record_version = record.number(2), length = record.number(2);
  f.type = record.number(1);
  u32 size = record.number(3);
  f.version = record.number(2);
  if (record.short_of) return State::Short;
  if (record_version >> 8 != 3 || length > 16384 + 2048 || size < 38) return State::NotTls;
  if (bytes.size() < size_t{length} + 5) return State::Short;
  if (f.type != 1) return State::Complete;
  Reader hello{bytes.substr(11, size - 2)};
  hello.take(32);
  hello.take(hello.number(1));
  f.ciphers = hello.take(hello.number(2));
  hello.take(hello.number(1));
  f.extensions = hello.take(hello.number(2));
  if (f.version <= 0x300) f.ciphers = f.extensions = {};
  return State::Complete;
}

/// Runs `give` on a complete hello; waits while it is short.
template <class Give> bool with_hello(EvalContext &ctx, string_view bytes, Give give) {
  if (!ctx.stream) return false;
  HelloFacts f;
  switch (read_hello(bytes, f)) {
    case State::NotTls: return false;
    case State::Complete: return give(f);
    case State::Short:
      if (!ctx.final) ctx.need_more = true;
      return false;
  }
  return false;
}

/// The body of an extension; false when the client did not send it.
bool find_extension(const HelloFacts &f, u32 wanted, Reader &body) {
  Reader all{f.extensions};
  while (!all.rest.empty() && !all.short_of) {
    u32 type = all.number(2);
    body = Reader{all.take(all.number(2))};
    if (type == wanted && !all.short_of) return true;
  }
  return false;
}

PENSTOCK_FETCH(client_hello_type) {
  return with_hello(ctx, request_bytes(ctx), [&](HelloFacts &f) { return f.type && give_int(out, f.type); });
}
PENSTOCK_FETCH(server_hello_type) {
  return with_hello(ctx, response_bytes(ctx), [&](HelloFacts &f) { return f.type && give_int(out, f.type); });
}
/// Major and minor version in one number, as dotted patterns compare it.
PENSTOCK_FETCH(version) {
  return with_hello(ctx, request_bytes(ctx), [&](HelloFacts &f) { return give_int(out, i64{f.version >> 8} << 16 | (f.version & 0xff)); });
}
PENSTOCK_FETCH(host) {
  return with_hello(ctx, request_bytes(ctx), [&](HelloFacts &f) {
    Reader body;
    if (!find_extension(f, server_name, body)) return false;
    body.number(2);
    return body.number(1) == 0 && give_some(out, body.take(body.number(2)));
  });
}
PENSTOCK_FETCH(protocol) {
  return with_hello(ctx, request_bytes(ctx), [&](HelloFacts &f) {
    Reader body;
    if (!find_extension(f, application_protocols, body)) return false;
    body.number(2);
    return give_some(out, body.take(body.number(1)));
  });
}
bool give_bytes(Sample &out, string_view bytes) { return out.set_bin(bytes), !bytes.empty(); }
PENSTOCK_FETCH(ciphers) {
  return with_hello(ctx, request_bytes(ctx), [&](HelloFacts &f) { return give_bytes(out, f.ciphers); });
}
/// Extensions that hold one list behind its length.
template <u32 extension> bool listed(EvalContext &ctx, const Args &, FetchCursor &, Sample &out) {
  return with_hello(ctx, request_bytes(ctx), [&](HelloFacts &f) {
    Reader body;
    return find_extension(f, extension, body) && give_bytes(out, body.take(body.number(2)));
  });
}
/// The groups for which the client sent a share, without the shares.
PENSTOCK_FETCH(share_groups) {
  return with_hello(ctx, request_bytes(ctx), [&](HelloFacts &f) {
    Reader body;
    if (!find_extension(f, key_share, body)) return false;
    Reader shares{body.take(body.number(2))};
    char *p = ctx.scratch.chars(shares.rest.size() + 1), *at = p;
    while (shares.rest.size() >= 4) {
      string_view group = shares.take(2);
      shares.take(shares.number(2));
      if (shares.short_of) break;
      at = std::copy(group.begin(), group.end(), at);
    }
    return give_bytes(out, {p, static_cast<size_t>(at - p)});
  });
}
PENSTOCK_FETCH(knows_curves) {
  return with_hello(ctx, request_bytes(ctx), [&](HelloFacts &f) {
    Reader body;
    return f.type == 1 && f.version > 0x300 && give_bool(out, find_extension(f, supported_groups, body));
  });
}
PENSTOCK_FETCH(ticket) {
  return with_hello(ctx, request_bytes(ctx), [&](HelloFacts &f) {
    Reader body;
    if (f.type != 1 || f.version <= 0x300) return false;
    bool sent = find_extension(f, session_ticket, body);
    return give_int(out, !sent ? 0 : body.rest.empty() ? 1 : 2);
  });
}

constexpr u32 Q = needs_req_bytes, R = needs_res_bytes;
constexpr Type I = Type::Int, S = Type::Str, X = Type::Bin;
constexpr string_view old = "An older name.";
constexpr string_view first = "Only the first hello counts, and only where TLS is passed through.";
constexpr FetchDef rows[] = {
    {.name = "rep_ssl_hello_type", .out = I, .needs = R, .doc = {"The type of the server's TLS hello: res.ssl_hello_type.", old, "tcp-response content accept if { rep_ssl_hello_type 2 }"}, .eval = server_hello_type},
    {.name = "req.ssl_alpn", .out = S, .needs = Q, .doc = {"The first protocol that a TLS client hello offers.", first, "tcp-request content accept if { req.ssl_alpn h2 }"}, .eval = protocol},
    {.name = "req.ssl_cipherlist", .out = X, .needs = Q, .doc = {"The ciphers that a TLS client hello offers, two bytes each.", first, "tcp-request content accept if { req.ssl_cipherlist,be2hex(:,2),lower -m sub 1302 }"}, .eval = ciphers},
    {.name = "req.ssl_ec_ext", .out = Type::Bool, .needs = Q, .doc = {"Whether a TLS client hello says which elliptic curves are supported.", first, "tcp-request content reject unless { req.ssl_ec_ext }"}, .eval = knows_curves},
    {.name = "req.ssl_hello_type", .out = I, .needs = Q, .doc = {"The type of the client's TLS hello: 1.", first, "tcp-request content accept if { req.ssl_hello_type 1 }"}, .eval = client_hello_type},
    {.name = "req.ssl_keyshare_groups", .out = X, .needs = Q, .doc = {"The groups for which a TLS client hello brings a key share, two bytes each.", first, "tcp-request content accept if { req.ssl_keyshare_groups,be2hex(:,2),lower -m sub 001d }"}, .eval = share_groups},
    {.name = "req.ssl_sigalgs", .out = X, .needs = Q, .doc = {"The signature algorithms that a TLS client hello offers, two bytes each.", first, "tcp-request content accept if { req.ssl_sigalgs,be2hex(:,2) -m sub 0403 }"}, .eval = listed<signature_algorithms>},
    {.name = "req.ssl_sni", .out = S, .needs = Q, .doc = {"The host that a TLS client hello names, where TLS is passed through.", "It is what the client says in clear, the decoy where Encrypted Client Hello is in use: good for routing, no protection.", "tcp-request content accept if { req.ssl_sni -i www.example.com }"}, .eval = host},
    {.name = "req.ssl_st_ext", .out = I, .needs = Q, .doc = {"Whether a TLS client hello has a session ticket: 0 no, 1 it would take one, 2 it brings one.", first, "tcp-request content accept if { req.ssl_st_ext 2 }"}, .eval = ticket},
    {.name = "req.ssl_supported_groups", .out = X, .needs = Q, .doc = {"The groups for key exchange that a TLS client hello offers, two bytes each.", first, "tcp-request content accept if { req.ssl_supported_groups,be2hex(:,2),lower -m sub 001d }"}, .eval = listed<supported_groups>},
    {.name = "req.ssl_ver", .out = I, .needs = Q, .doc = {"The version that a TLS client hello names.", "Patterns may be dotted: 3.1 is TLS 1.0.", "tcp-request content reject if { req.ssl_ver lt 3.1 }"}, .eval = version},
    {.name = "req_ssl_hello_type", .out = I, .needs = Q, .doc = {"The type of the client's TLS hello: req.ssl_hello_type.", old, "tcp-request content accept if { req_ssl_hello_type 1 }"}, .eval = client_hello_type},
    {.name = "req_ssl_sni", .out = S, .needs = Q, .doc = {"The host that a TLS client hello names: req.ssl_sni.", old, "tcp-request content accept if { req_ssl_sni www.example.com }"}, .eval = host},
    {.name = "req_ssl_ver", .out = I, .needs = Q, .doc = {"The version that a TLS client hello names: req.ssl_ver.", old, "tcp-request content reject if { req_ssl_ver lt 3 }"}, .eval = version},
    {.name = "res.ssl_hello_type", .out = I, .needs = R, .doc = {"The type of the server's TLS hello: 2.", "", "tcp-response content accept if { res.ssl_hello_type 2 }"}, .eval = server_hello_type},
};
static_assert(sorted_and_documented<FetchDef>(rows));

} // namespace

std::span<const FetchDef> fetch_hello() { return rows; }

} // namespace penstock
