// SPDX-License-Identifier: BSD-2-Clause
// Layer 4: addresses, names of what the stream goes through, TCP's own figures, PROXY protocol fields,
// and what TLS fetches say of a plain connection (manual, sections 7.3.3 and 7.3.4).
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "worker/net/proxy_proto.h"
#include "worker/rules/rows.h"
#include "worker/rules/traffic.h"

namespace penstock {

namespace {

// ---------------------------------------------------------------------------------------- addresses

const Address *client_peer(const EvalContext &ctx) { return ctx.session ? &ctx.session->peer() : nullptr; }
const Address *client_local(const EvalContext &ctx) { return ctx.session ? &ctx.session->local() : nullptr; }
const Address *server_peer(const EvalContext &ctx) { return ctx.stream ? &ctx.stream->server_peer() : nullptr; }
const Address *server_local(const EvalContext &ctx) { return ctx.stream ? &ctx.stream->server_local() : nullptr; }
using Which = const Address *(*)(const EvalContext &);

template <Which which> bool ip(EvalContext &ctx, const Args &, FetchCursor &, Sample &out) {
  const Address *a = which(ctx);
  if (!a || !a->is_inet()) return false;
  out.set_ip(a->ip);
  return true;
}
template <Which which> bool port(EvalContext &ctx, const Args &, FetchCursor &, Sample &out) {
  const Address *a = which(ctx);
  return a && a->is_inet() && give_int(out, a->port);
}
/// Whether the address is one of this host: a socket can be bound to it.
template <Which which> bool is_local(EvalContext &ctx, const Args &, FetchCursor &, Sample &out) {
  const Address *a = which(ctx);
  if (!a || !a->is_inet()) return false;
  Address probe = *a;
  probe.port = 0;
  sockaddr_storage ss;
  socklen_t size = probe.to_sockaddr(ss);
  int fd = socket(probe.family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  bool bound = bind(fd, reinterpret_cast<sockaddr *>(&ss), size) == 0;
  close(fd);
  return give_bool(out, bound);
}

// -------------------------------------------------------------------------------------------- names

PENSTOCK_FETCH(frontend_name) { return ctx.session && give_str(out, ctx.session->frontend().name); }
PENSTOCK_FETCH(frontend_id) { return ctx.session && give_int(out, ctx.session->frontend().id); }
PENSTOCK_FETCH(default_backend) { return ctx.session && ctx.session->frontend().default_target && give_str(out, ctx.session->frontend().default_target->name); }
PENSTOCK_FETCH(backend_name) { return ctx.stream && give_str(out, ctx.stream->backend().name); }
PENSTOCK_FETCH(backend_id) { return ctx.stream && give_int(out, ctx.stream->backend().id); }
PENSTOCK_FETCH(server_name) { return ctx.stream && ctx.stream->server() && give_str(out, ctx.stream->server()->name); }
PENSTOCK_FETCH(server_id) { return ctx.stream && ctx.stream->server() && give_int(out, ctx.stream->server()->id); }
PENSTOCK_FETCH(socket_name) { return ctx.session && !ctx.session->bind().name.starts_with("sock-") && give_some(out, ctx.session->bind().name); }
PENSTOCK_FETCH(socket_id) { return ctx.session && give_int(out, ctx.session->bind().id); }
PENSTOCK_FETCH(socket_connections) {
  if (!ctx.session) return false;
  const Service *service = service_here();
  u32 row = ctx.session->bind().row;
  return service && row != no_row && give_int(out, static_cast<i64>(service->sum_listener(row).cur_conns.get()));
}

// ----------------------------------------------------------------------------------------- timeouts

/// No timeout reads as 0.
i64 or_zero(Millis v) { return v == eternity ? 0 : v; }
template <Millis Timeouts::*member> bool front_timeout(EvalContext &ctx, const Args &, FetchCursor &, Sample &out) {
  return ctx.session && give_int(out, or_zero(ctx.session->frontend().timeout.*member));
}
template <Millis Timeouts::*member> bool back_timeout(EvalContext &ctx, const Args &, FetchCursor &, Sample &out) {
  return ctx.stream && give_int(out, or_zero(ctx.stream->backend().timeout.*member));
}
template <Millis Stream::*own, Millis Timeouts::*member, bool front> bool current_timeout(EvalContext &ctx, const Args &, FetchCursor &, Sample &out) {
  if (!ctx.stream) return false;
  Millis v = ctx.stream->*own ? ctx.stream->*own : (front ? ctx.stream->frontend() : ctx.stream->backend()).timeout.*member;
  return give_int(out, or_zero(v));
}

// ------------------------------------------------------------------------------------ TCP's figures

template <auto member> bool tcp_figure(EvalContext &ctx, const Args &args, FetchCursor &, Sample &out) {
  tcp_info info{};
  socklen_t size = sizeof info;
  int fd = ctx.session ? ctx.session->fd() : -1;
  if (fd < 0 || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  i64 v = static_cast<i64>(info.*member);
  return give_int(out, !args.empty() && args[0].str == "ms" ? v / 1000 : v); // times are microseconds
}
bool check_time_unit(Args &args, std::string &error) {
  if (!args[0]) args[0].str = "ms";
  if (args[0].str == "ms" || args[0].str == "us") return true;
  error = "expects the unit ms or us, got '" + args[0].str + "'";
  return false;
}

PENSTOCK_FETCH(client_http_major) {
  if (!ctx.stream || !ctx.stream->is_http()) return false;
  const HttpMessage *m = ctx.stream && ctx.stream->has_request() ? &ctx.stream->request() : nullptr;
  return give_int(out, m ? m->version() / 10 : 1);
}
PENSTOCK_FETCH(server_http_major) { return ctx.stream && ctx.stream->server_side() && give_int(out, 1); }

// ----------------------------------------------------------------------------------- PROXY protocol

PENSTOCK_FETCH(received_proxy) { return ctx.session && give_bool(out, ctx.session->proxy_header() != nullptr); }
bool proxy_field(const EvalContext &ctx, u8 type, Sample &out) {
  const ProxyHeader *h = ctx.session ? ctx.session->proxy_header() : nullptr;
  string_view value;
  if (!h || !h->find(type, value)) return false;
  return give_str(out, value);
}
PENSTOCK_FETCH(proxy_authority) { return proxy_field(ctx, pp_authority, out); }
PENSTOCK_FETCH(proxy_unique_id) { return proxy_field(ctx, pp_unique_id, out); }
PENSTOCK_FETCH(proxy_tlv) { return proxy_field(ctx, static_cast<u8>(args[0].num), out); }
bool check_tlv(Args &args, std::string &error) {
  string_view text = args[0].str;
  i64 v = 0;
  bool hex = text.starts_with("0x");
  for (char c : text.substr(hex ? 2 : 0)) {
    int digit = c >= '0' && c <= '9' ? c - '0' : hex && (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : 256;
    v = v * (hex ? 16 : 10) + digit;
    if (v > 255) break;
  }
  args[0].num = v;
  if (text.empty() || v > 255) error = "a field's type is a number from 0 to 255, got '" + args[0].str + "'";
  return error.empty();
}

// -------------------------------------------------------------------------------- no error, no TLS

PENSTOCK_FETCH(error_number) { return ctx.session && give_int(out, static_cast<i64>(ctx.session->error)); }
PENSTOCK_FETCH(error_name) { return ctx.session && give_str(out, ctx.session->error == ConnectionError::None ? string_view() : info_of(ctx.session->error).name); }
PENSTOCK_FETCH(error_text) { return ctx.session && give_str(out, info_of(ctx.session->error).text); }
PENSTOCK_FETCH(not_tls) { return ctx.session && give_bool(out, false); }
PENSTOCK_FETCH(none) { return false; }
PENSTOCK_FETCH(reused) { return ctx.stream && ctx.stream->server_side() && give_bool(out, ctx.stream->facts.times.connected_us == ctx.stream->facts.times.slot_us); }

constexpr Type A = Type::Addr, I = Type::Int, S = Type::Str, B = Type::Bool;
constexpr u32 C = needs_client, V = needs_server, T = needs_stream;
constexpr ArgSpecs unit = {opt(ArgType::Str, "unit")};
constexpr string_view plain = "Connections that speak no TLS have none.";
constexpr FetchDef rows[] = {
    {.name = "bc_dst", .out = A, .needs = V, .doc = {"The server's address.", "", "http-response set-header X-Server %[bc_dst]"}, .eval = ip<server_peer>},
    {.name = "bc_dst_port", .out = I, .needs = V, .doc = {"The server's port.", "", "http-response set-header X-Port %[bc_dst_port]"}, .eval = port<server_peer>},
    {.name = "bc_http_major", .out = I, .needs = V, .doc = {"The major HTTP version spoken with the server.", "", "http-response set-header X-V %[bc_http_major]"}, .eval = server_http_major},
    {.name = "bc_reused", .out = B, .needs = V, .doc = {"Whether an idle connection to the server was used.", "", "http-response set-header X-Reused %[bc_reused]"}, .eval = reused},
    {.name = "bc_src", .out = A, .needs = V, .doc = {"The address from which the server was connected to.", "", "http-response set-header X-From %[bc_src]"}, .eval = ip<server_local>},
    {.name = "bc_src_port", .out = I, .needs = V, .doc = {"The port from which the server was connected to.", "", "http-response set-header X-From %[bc_src_port]"}, .eval = port<server_local>},
    {.name = "be_id", .out = I, .needs = T, .doc = {"The number of the backend.", "", "http-request set-header X-Be %[be_id]"}, .eval = backend_id},
    {.name = "be_name", .out = S, .needs = T, .doc = {"The name of the backend.", "", "http-request set-header X-Be %[be_name]"}, .eval = backend_name},
    {.name = "be_server_timeout", .out = I, .needs = T, .doc = {"The backend's timeout server in milliseconds.", "", "http-request set-header X-T %[be_server_timeout]"}, .eval = back_timeout<&Timeouts::server>},
    {.name = "be_tunnel_timeout", .out = I, .needs = T, .doc = {"The backend's timeout tunnel in milliseconds.", "", "http-request set-header X-T %[be_tunnel_timeout]"}, .eval = back_timeout<&Timeouts::tunnel>},
    {.name = "cur_client_timeout", .out = I, .needs = T, .doc = {"The client timeout that holds now.", "", "http-request set-header X-T %[cur_client_timeout]"}, .eval = current_timeout<&Stream::timeout_client, &Timeouts::client, true>},
    {.name = "cur_server_timeout", .out = I, .needs = T, .doc = {"The server timeout that holds now.", "", "http-request set-header X-T %[cur_server_timeout]"}, .eval = current_timeout<&Stream::timeout_server, &Timeouts::server, false>},
    {.name = "cur_tunnel_timeout", .out = I, .needs = T, .doc = {"The tunnel timeout that holds now.", "", "http-request set-header X-T %[cur_tunnel_timeout]"}, .eval = current_timeout<&Stream::timeout_tunnel, &Timeouts::tunnel, false>},
    {.name = "dst", .out = A, .needs = C, .doc = {"The address that the client connected to.", "", "acl private dst 10.0.0.0/8"}, .eval = ip<destination_of>},
    {.name = "dst_conn", .out = I, .needs = C, .doc = {"Connections on the socket that the client connected to.", "", "acl busy dst_conn gt 1000"}, .eval = socket_connections},
    {.name = "dst_is_local", .out = B, .needs = C, .doc = {"Whether the address that the client connected to is one of this host.", "", "acl direct dst_is_local"}, .eval = is_local<destination_of>},
    {.name = "dst_port", .out = I, .needs = C, .doc = {"The port that the client connected to.", "", "http-request set-header X-Forwarded-Port %[dst_port]"}, .eval = port<destination_of>},
    {.name = "fc_dst", .out = A, .needs = C, .doc = {"The address of the client's connection on our side, whatever rules say.", "", "acl private fc_dst 10.0.0.0/8"}, .eval = ip<client_local>},
    {.name = "fc_dst_is_local", .out = B, .needs = C, .doc = {"Whether fc_dst is an address of this host.", "", "acl direct fc_dst_is_local"}, .eval = is_local<client_local>},
    {.name = "fc_dst_port", .out = I, .needs = C, .doc = {"The port of the client's connection on our side.", "", "acl web fc_dst_port 80"}, .eval = port<client_local>},
    {.name = "fc_err", .out = I, .needs = C, .doc = {"The error number of the client's connection; 0 is none.", "", "error-log-format \"%ci %[fc_err]\""}, .eval = error_number},
    {.name = "fc_err_name", .out = S, .needs = C, .doc = {"The error of the client's connection as a word.", "", "error-log-format \"%ci %[fc_err_name]\""}, .eval = error_name},
    {.name = "fc_err_str", .out = S, .needs = C, .doc = {"The error of the client's connection in words.", "", "error-log-format \"%ci %[fc_err_str]\""}, .eval = error_text},
    {.name = "fc_fackets", .out = I, .needs = C, .doc = {"TCP's count of forward acknowledgements on the client's connection.", "", "http-request set-header X-N %[fc_fackets]"}, .eval = tcp_figure<&tcp_info::tcpi_fackets>},
    {.name = "fc_http_major", .out = I, .needs = C, .doc = {"The major HTTP version spoken with the client.", "", "http-request set-header X-V %[fc_http_major]"}, .eval = client_http_major},
    {.name = "fc_lost", .out = I, .needs = C, .doc = {"TCP's count of lost segments on the client's connection.", "", "http-request set-header X-N %[fc_lost]"}, .eval = tcp_figure<&tcp_info::tcpi_lost>},
    {.name = "fc_pp_authority", .out = S, .needs = C, .doc = {"The host name in the PROXY protocol header.", "", "http-request set-header X-Host %[fc_pp_authority]"}, .eval = proxy_authority},
    {.name = "fc_pp_tlv", .args = {req(ArgType::Str, "id")}, .out = S, .needs = C, .doc = {"A field of the PROXY protocol header by its type's number.", "", "http-request set-header X-Vpc %[fc_pp_tlv(0xEA)]"}, .eval = proxy_tlv, .check = check_tlv},
    {.name = "fc_pp_unique_id", .out = S, .needs = C, .doc = {"The unique ID in the PROXY protocol header.", "", "http-request set-header X-Id %[fc_pp_unique_id]"}, .eval = proxy_unique_id},
    {.name = "fc_rcvd_proxy", .out = B, .needs = C, .doc = {"Whether the client's connection began with a PROXY protocol header.", "", "acl proxied fc_rcvd_proxy"}, .eval = received_proxy},
    {.name = "fc_reordering", .out = I, .needs = C, .doc = {"TCP's reordering metric of the client's connection.", "", "http-request set-header X-N %[fc_reordering]"}, .eval = tcp_figure<&tcp_info::tcpi_reordering>},
    {.name = "fc_retrans", .out = I, .needs = C, .doc = {"TCP's count of retransmitted segments on the client's connection.", "", "http-request set-header X-N %[fc_retrans]"}, .eval = tcp_figure<&tcp_info::tcpi_retrans>},
    {.name = "fc_rtt", .args = unit, .out = I, .needs = C, .doc = {"TCP's round trip time to the client, in ms or us.", "", "http-request set-header X-Rtt %[fc_rtt(us)]"}, .eval = tcp_figure<&tcp_info::tcpi_rtt>, .check = check_time_unit},
    {.name = "fc_rttvar", .args = unit, .out = I, .needs = C, .doc = {"How much the round trip time to the client varies, in ms or us.", "", "http-request set-header X-Rtt %[fc_rttvar(us)]"}, .eval = tcp_figure<&tcp_info::tcpi_rttvar>, .check = check_time_unit},
    {.name = "fc_sacked", .out = I, .needs = C, .doc = {"TCP's count of selectively acknowledged segments on the client's connection.", "", "http-request set-header X-N %[fc_sacked]"}, .eval = tcp_figure<&tcp_info::tcpi_sacked>},
    {.name = "fc_src", .out = A, .needs = C, .doc = {"The client's address as its connection says, whatever rules say.", "", "acl inside fc_src 10.0.0.0/8"}, .eval = ip<client_peer>},
    {.name = "fc_src_is_local", .out = B, .needs = C, .doc = {"Whether fc_src is an address of this host.", "", "acl own fc_src_is_local"}, .eval = is_local<client_peer>},
    {.name = "fc_src_port", .out = I, .needs = C, .doc = {"The client's port as its connection says.", "", "http-request set-header X-Port %[fc_src_port]"}, .eval = port<client_peer>},
    {.name = "fc_unacked", .out = I, .needs = C, .doc = {"TCP's count of segments that the client has not acknowledged.", "", "http-request set-header X-N %[fc_unacked]"}, .eval = tcp_figure<&tcp_info::tcpi_unacked>},
    {.name = "fe_client_timeout", .out = I, .needs = C, .doc = {"The frontend's timeout client in milliseconds.", "", "http-request set-header X-T %[fe_client_timeout]"}, .eval = front_timeout<&Timeouts::client>},
    {.name = "fe_defbe", .out = S, .needs = C, .doc = {"The name of the frontend's default backend.", "", "http-request set-header X-Def %[fe_defbe]"}, .eval = default_backend},
    {.name = "fe_id", .out = I, .needs = C, .doc = {"The number of the frontend.", "", "http-request set-header X-Fe %[fe_id]"}, .eval = frontend_id},
    {.name = "fe_name", .out = S, .needs = C, .doc = {"The name of the frontend.", "", "http-request set-header X-Fe %[fe_name]"}, .eval = frontend_name},
    {.name = "so_id", .out = I, .needs = C, .doc = {"The number of the bind line that the client came through.", "", "acl second so_id 2"}, .eval = socket_id},
    {.name = "so_name", .out = S, .needs = C, .doc = {"The name of the bind line that the client came through.", "", "acl inner so_name inner"}, .eval = socket_name},
    {.name = "src", .out = A, .needs = C, .doc = {"The client's address.", "As PROXY protocol headers and set-src rules say.", "acl inside src 10.0.0.0/8"}, .eval = ip<source_of>},
    {.name = "src_is_local", .out = B, .needs = C, .doc = {"Whether the client's address is one of this host.", "", "acl own src_is_local"}, .eval = is_local<source_of>},
    {.name = "src_port", .out = I, .needs = C, .doc = {"The client's port.", "", "http-request set-header X-Port %[src_port]"}, .eval = port<source_of>},
    {.name = "srv_id", .out = I, .needs = V, .doc = {"The number of the server.", "", "http-response set-header X-Server %[srv_id]"}, .eval = server_id},
    {.name = "srv_name", .out = S, .needs = V, .doc = {"The name of the server.", "", "http-response set-header X-Server %[srv_name]"}, .eval = server_name},
    {.name = "ssl_bc", .out = B, .needs = V, .doc = {"Whether the connection to the server speaks TLS.", "", "http-response set-header X-Tls 1 if { ssl_bc }"}, .eval = not_tls},
    {.name = "ssl_c_ca_err", .out = I, .needs = C, .doc = {"The error in the client's certificate chain; 0 is none.", plain, "error-log-format \"%ci %[ssl_c_ca_err]\""}, .eval = none},
    {.name = "ssl_c_err", .out = I, .needs = C, .doc = {"The error in the client's certificate; 0 is none.", plain, "error-log-format \"%ci %[ssl_c_err]\""}, .eval = none},
    {.name = "ssl_c_used", .out = B, .needs = C, .doc = {"Whether the client gave a certificate.", "", "http-request set-header X-Cert 1 if { ssl_c_used }"}, .eval = not_tls},
    {.name = "ssl_c_verify", .out = I, .needs = C, .doc = {"The result of the client certificate's verification.", plain, "acl bad ssl_c_verify gt 0"}, .eval = none},
    {.name = "ssl_fc", .out = B, .needs = C, .doc = {"Whether the client's connection speaks TLS.", "", "http-request redirect scheme https unless { ssl_fc }"}, .eval = not_tls},
    {.name = "ssl_fc_alpn", .out = S, .needs = C, .doc = {"The protocol agreed by ALPN.", plain, "acl h2 ssl_fc_alpn h2"}, .eval = none},
    {.name = "ssl_fc_cipher", .out = S, .needs = C, .doc = {"The cipher of the client's connection.", plain, "http-request set-header X-Cipher %[ssl_fc_cipher]"}, .eval = none},
    {.name = "ssl_fc_err", .out = I, .needs = C, .doc = {"The TLS error of the client's connection.", plain, "error-log-format \"%ci %[ssl_fc_err]\""}, .eval = none},
    {.name = "ssl_fc_has_crt", .out = B, .needs = C, .doc = {"Whether the client gave a certificate in this handshake.", "", "acl cert ssl_fc_has_crt"}, .eval = not_tls},
    {.name = "ssl_fc_has_early", .out = B, .needs = C, .doc = {"Whether data came before the handshake was over.", "", "acl early ssl_fc_has_early"}, .eval = not_tls},
    {.name = "ssl_fc_has_sni", .out = B, .needs = C, .doc = {"Whether the client named a host in its handshake.", "", "acl named ssl_fc_has_sni"}, .eval = not_tls},
    {.name = "ssl_fc_is_resumed", .out = B, .needs = C, .doc = {"Whether the TLS session was resumed.", "", "acl resumed ssl_fc_is_resumed"}, .eval = not_tls},
    {.name = "ssl_fc_protocol", .out = S, .needs = C, .doc = {"The TLS version of the client's connection.", plain, "http-request set-header X-Tls %[ssl_fc_protocol]"}, .eval = none},
    {.name = "ssl_fc_sni", .out = S, .needs = C, .doc = {"The host that the client named in its handshake.", plain, "use_backend www if { ssl_fc_sni www.example.com }\nbackend www"}, .eval = none},
};
static_assert(sorted_and_documented<FetchDef>(rows));

} // namespace

std::span<const FetchDef> fetch_connection() { return rows; }

} // namespace penstock
