// SPDX-License-Identifier: BSD-2-Clause
// See connect.h. For an ordinary server this is socket() and connect(), nothing else.
#include "worker/net/connect.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "shared/base/text.h"
#include "shared/expr/run.h"
#include "shared/shm/server_state.h"
#include "worker/net/proxy_proto.h"
#include "worker/runtime.h"
#include "worker/stream/stream.h"

namespace penstock {

namespace {

void set_int(int fd, int level, int option, int value) { setsockopt(fd, level, option, &value, sizeof value); }

const SourceSettings *source_of(const Server &server) {
  if (server.options->source) return server.options->source.get();
  return server.proxy->source.get();
}

/// The address in the occurrence of the header that `usesrc hdr_ip(NAME,OCCURRENCE)` names: from 1 on the first one
/// on, from -1 on the last one on.
std::optional<Ip> ip_of_header(Stream &s, const SourceSettings &source) {
  if (!s.has_request()) return std::nullopt;
  HttpMessage &m = s.request();
  string_view values[64];
  i32 count = 0;
  for (size_t at = m.find(source.usesrc_header); at != HttpMessage::npos; at = m.find(source.usesrc_header, at + 1))
    for (string_view value : split(m.value(at), ','))
      if (count < 64) values[count++] = trim(value);
  i32 wanted = source.usesrc_occurrence > 0 ? source.usesrc_occurrence - 1 : count + source.usesrc_occurrence;
  return wanted >= 0 && wanted < count ? parse_ip(values[wanted]) : std::nullopt;
}

/// Which address the connection is to come from; unspecified: the kernel chooses.
Address source_address(Stream &s, const SourceSettings &source) {
  switch (source.usesrc) {
    case SourceSettings::Client: return s.session().source();
    case SourceSettings::ClientIp: {
      Address a = s.session().source();
      a.port = 0;
      return a;
    }
    case SourceSettings::Address_: return source.usesrc_address;
    case SourceSettings::HdrIp:
      if (auto ip = ip_of_header(s, source)) return Address::from_ip(*ip, 0);
      return source.address;
    case SourceSettings::None: break;
  }
  return source.address;
}

bool bind_port_of_range(int fd, Address from, const SourceSettings &source) {
  static u32 turn = 0;
  u32 count = static_cast<u32>(source.port_high - source.port_low) + 1;
  for (u32 tried = 0; tried < count; tried++) {
    from.port = static_cast<u16>(source.port_low + turn++ % count);
    sockaddr_storage ss;
    socklen_t size = from.to_sockaddr(ss);
    if (bind(fd, reinterpret_cast<sockaddr *>(&ss), size) == 0) return true;
    if (errno != EADDRINUSE) return false;
  }
  return false;
}

bool bind_source(int fd, Stream &s, const SourceSettings &source, u16 target_family) {
  if (!source.interface.empty())
    setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, source.interface.c_str(), static_cast<socklen_t>(source.interface.size() + 1));
  Address from = source_address(s, source);
  if (!from || from.family != target_family) return true;
  set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  if (source.usesrc != SourceSettings::None) {
    set_int(fd, IPPROTO_IP, IP_TRANSPARENT, 1);
    if (target_family == AF_INET6) set_int(fd, IPPROTO_IPV6, IPV6_TRANSPARENT, 1);
  }
  if (source.port_low != 0) return bind_port_of_range(fd, from, source);
  if (from.port == 0) set_int(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
  sockaddr_storage ss;
  socklen_t size = from.to_sockaddr(ss);
  return bind(fd, reinterpret_cast<sockaddr *>(&ss), size) == 0;
}

void keep_alive_options(int fd, const Proxy &p) {
  set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  if (p.srvtcpka_cnt > 0) set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, static_cast<int>(p.srvtcpka_cnt));
  if (p.srvtcpka_idle > 0) set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(p.srvtcpka_idle / 1000));
  if (p.srvtcpka_intvl > 0) set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, static_cast<int>(p.srvtcpka_intvl / 1000));
}

void socket_options(int fd, Stream &s, const Server &server, u16 family) {
  const ServerOptions &o = *server.options;
  const Tune &tune = runtime->config->global.tune;
  if (server.proxy->has(Opt::Srvtcpka)) keep_alive_options(fd, *server.proxy);
  if (u32 n = std::max(tune.rcvbuf_server, tune.rcvbuf_backend)) set_int(fd, SOL_SOCKET, SO_RCVBUF, static_cast<int>(n));
  if (u32 n = std::max(tune.sndbuf_server, tune.sndbuf_backend)) set_int(fd, SOL_SOCKET, SO_SNDBUF, static_cast<int>(n));
  if (o.mss > 0) set_int(fd, IPPROTO_TCP, TCP_MAXSEG, static_cast<int>(o.mss));
  if (o.tcp_ut_ms > 0) set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(o.tcp_ut_ms));
  if (o.tfo) set_int(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1);
  if (server.proxy->has(Opt::TcpSmartConnect)) set_int(fd, IPPROTO_TCP, TCP_QUICKACK, 0);
  if (s.bc_mark >= 0) set_int(fd, SOL_SOCKET, SO_MARK, s.bc_mark);
  if (s.bc_tos >= 0) {
    if (family == AF_INET) set_int(fd, IPPROTO_IP, IP_TOS, s.bc_tos);
    else set_int(fd, IPPROTO_IPV6, IPV6_TCLASS, s.bc_tos);
  }
  if (!o.interface.empty())
    setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, o.interface.c_str(), static_cast<socklen_t>(o.interface.size() + 1));
}

/// `option transparent` where the client wanted nobody but us: it would come back for ever.
bool leads_back(Stream &s, const Server &server, const Address &target) {
  return &server == server.proxy->direct.get() && !s.session().bind().transparent && target == s.session().local();
}

/// An idle connection makes way for a new one when descriptors run short (tune.pool-high-fd-ratio).
void make_room() {
  if (!runtime->descriptors_beyond(runtime->config->global.tune.pool_high_fd_ratio)) [[likely]] return;
  static size_t next = 0;
  for (size_t tried = 0; tried < runtime->servers.size(); tried++)
    if (ServerState *server = runtime->servers[next++ % runtime->servers.size()].get(); server != nullptr && server->idle.close_oldest()) return;
}

/// send-proxy, send-proxy-v2: the first bytes on the connection.
void put_proxy_header(Stream &s, const Server &server, Connection &c) {
  const ServerOptions &o = *server.options;
  if (!o.send_proxy && !o.send_proxy_v2) return;
  Buffer *out = c.output(o.proxy_v2_tlvs.empty() ? 2048 : runtime->buffers.bufsize());
  const Address &from = s.session().source(), &to = s.session().destination();
  size_t n;
  if (o.send_proxy_v2) {
    ProxyFacts facts;
    facts.unique_id = s.facts.unique_id;
    runtime->scratch.reset();
    EvalContext ctx = s.context(s.is_http() ? Phase::Request : Phase::RequestContent, s.backend(), true);
    ProxyTlv tlvs[16];
    size_t count = 0;
    for (const auto &[type, value] : o.proxy_v2_tlvs)
      if (count < std::size(tlvs)) tlvs[count++] = {type, format(ctx, *value)};
    n = write_proxy_v2(&from, &to, o.send_proxy_v2_options, facts, {tlvs, count}, out->end(), out->room());
  } else {
    n = write_proxy_v1(from, to, out->end(), out->room());
  }
  out->tail += static_cast<u32>(n);
}

} // namespace

Address connect_address(Stream &s, const Server &server) {
  Address to = server.address;
  Address runtime_to;
  if (runtime_address(*runtime->of(server).row, runtime_to)) to = runtime_to;
  bool anywhere = to.is_inet() && to.ip.bytes == std::array<u8, 16>{};
  if (anywhere) {
    u16 port = to.port;
    to = s.server_address ? s.server_address : s.session().destination();
    if (port != 0) to.port = port;
  }
  if (server.port_from_client) to.port = static_cast<u16>(s.session().destination().port + server.port_offset);
  if (s.server_port != 0 && to.port == 0) to.port = s.server_port;
  return to;
}

bool connection_is_private(const Server &server) {
  const ServerOptions &o = *server.options;
  const SourceSettings *source = source_of(server);
  return o.send_proxy || o.send_proxy_v2 || (source != nullptr && source->usesrc >= SourceSettings::Client);
}

u64 connection_key(Stream &s) {
  const Server &server = *s.server();
  bool anywhere = server.address.is_inet() && server.address.ip.bytes == std::array<u8, 16>{};
  u64 version = runtime->of(server).row->address.version.load(std::memory_order_relaxed);
  if (!anywhere && !server.port_from_client && s.bc_mark < 0 && s.bc_tos < 0) return version;
  Address to = connect_address(s, server);
  u64 key = 0xcbf29ce484222325u ^ version;
  auto mix = [&key](u64 v) { key = (key ^ v) * 0x100000001b3u; };
  for (u8 b : to.ip.bytes) mix(b);
  mix(to.port), mix(static_cast<u64>(s.bc_mark)), mix(static_cast<u64>(s.bc_tos));
  return key;
}

ServerConnection *open_server_connection(Stream &s, ConnectFailure &why) {
  const Server &server = *s.server();
  why = ConnectFailure::NoResource;
  const Address *target = &server.address;
  Address computed;
  if (connection_key(s) != 0 || server.port_from_client) computed = connect_address(s, server), target = &computed;
  sockaddr_storage ss;
  socklen_t size = target->to_sockaddr(ss);
  if (size == 0) return nullptr;
  if (leads_back(s, server, *target)) {
    why = ConnectFailure::Refused;
    return nullptr;
  }
  make_room();
  int fd = socket(ss.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return nullptr;
  socket_options(fd, s, server, target->family);
  const SourceSettings *source = source_of(server);
  if (source != nullptr && !bind_source(fd, s, *source, target->family)) return close(fd), nullptr;
  bool connecting = connect(fd, reinterpret_cast<sockaddr *>(&ss), size) != 0;
  if (connecting && errno != EINPROGRESS) {
    why = errno == EAGAIN || errno == EADDRINUSE || errno == EADDRNOTAVAIL ? ConnectFailure::NoResource : ConnectFailure::Refused;
    return close(fd), nullptr;
  }
  why = ConnectFailure::None;
  ServerState &state = runtime->of(server);
  auto *c = new ServerConnection(state);
  c->connection.adopt(fd);
  c->key = connection_key(s);
  c->is_private = connection_is_private(server);
  put_proxy_header(s, server, c->connection);
  c->connection.watch(connecting);
  state.counters->used_conns++;
  return c;
}

} // namespace penstock
