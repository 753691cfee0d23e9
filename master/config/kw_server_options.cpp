// SPDX-License-Identifier: BSD-2-Clause
// Options of `server` and `default-server` lines that concern traffic: weight, limits, connections,
// addresses, persistence. The target is a ServerLine. Manual, section 5.2; those of checks are in
// kw_server_check.cpp, those of TLS in kw_server_tls.cpp.
#include "master/config/choice.h"
#include "master/config/kw_proxy.h"
#include "master/config/kw_server.h"
#include "shared/base/text.h"
#include "shared/expr/compile.h"

namespace penstock {

namespace {

ServerLine &line_of(void *target) { return *static_cast<ServerLine *>(target); }
ServerOptions &of(void *target) { return line_of(target).options; }

template <auto Field, bool Value> void set(LineContext &, void *target) { of(target).*Field = Value; }

template <auto Field, i64 Min, i64 Max> void number(LineContext &ctx, void *target) {
  using Value = std::remove_reference_t<decltype(of(target).*Field)>;
  if (auto v = ctx.words.need_int("a number", Min, Max)) of(target).*Field = static_cast<Value>(*v);
}

template <auto Field> void text(LineContext &ctx, void *target) {
  if (auto v = ctx.words.need("a value")) of(target).*Field = *v;
}

template <auto Field> void delay(LineContext &ctx, void *target) {
  if (auto v = ctx.words.need_delay("a delay")) of(target).*Field = *v;
}

void tcp_ut(LineContext &ctx, void *target) {
  if (auto v = ctx.words.need_delay("a delay")) of(target).tcp_ut_ms = static_cast<u32>(*v);
}

void cookie(LineContext &ctx, void *target) {
  auto v = ctx.words.need("the value of the persistence cookie");
  if (!v) return;
  ServerLine &line = line_of(target);
  line.cookie = *v;
  if (line.is_default) line.options.cookie = *v;
}

void id(LineContext &ctx, void *target) {
  if (line_of(target).is_default) ctx.words.alert_last("'id' is not possible on a 'default-server' line");
  if (auto v = ctx.words.need_int("a number above 0", 1, 2'147'483'647)) line_of(target).id = static_cast<u32>(*v);
}

void source(LineContext &ctx, void *target) {
  auto settings = std::make_shared<SourceSettings>();
  if (parse_source(ctx.words, *settings)) of(target).source = std::move(settings);
  else if (!ctx.words.at_end()) ctx.words.next();
}

/// "last,libc,none" or an address, in the order of trying.
void init_addr(LineContext &ctx, void *target) {
  constexpr Choice<InitAddr> methods[] = {{"last", InitAddr::Last}, {"libc", InitAddr::Libc}, {"none", InitAddr::None}};
  auto word = ctx.words.need("'last', 'libc', 'none' or an address, separated by commas");
  if (!word) return;
  of(target).init_addr.clear();
  for (string_view piece : split(*word, ',')) {
    if (const InitAddr *m = find_choice<InitAddr>(piece, methods)) {
      of(target).init_addr.push_back(*m);
    } else if (auto ip = parse_ip(piece)) {
      of(target).init_addr.push_back(InitAddr::Ip);
      of(target).init_ip = *ip;
    } else {
      ctx.words.alert_last("'init-addr' expects 'last', 'libc', 'none' or an address, got '" + std::string(piece) + "'");
      return;
    }
  }
}

void proto(LineContext &ctx, void *target) {
  constexpr Choice<string_view> protocols[] = {{"h1", "h1"}, {"none", "none"}};
  for (string_view known : {"h2", "fcgi", "spop"})
    if (ctx.words.peek() == known) {
      ctx.words.alert("the protocol '" + std::string(known) + "' is known but not implemented yet");
      ctx.words.next();
      return;
    }
  if (const auto *v = need_choice(ctx.words, protocols)) of(target).proto = *v;
  else if (!ctx.words.at_end()) ctx.words.next();
}

void send_proxy_v2(LineContext &, void *target) { of(target).send_proxy_v2 = true; }

void proxy_v2_options(LineContext &ctx, void *target) {
  constexpr Choice<u32> words[] = {{"authority", proxy_v2_authority}, {"crc32c", proxy_v2_crc32c}, {"unique-id", proxy_v2_unique_id},
                                   {"ssl", proxy_v2_ssl}, {"cert-cn", proxy_v2_cert_cn}, {"cert-key", proxy_v2_cert_key},
                                   {"cert-sig", proxy_v2_cert_sig}, {"ssl-cipher", proxy_v2_ssl_cipher}};
  auto word = ctx.words.need("names separated by commas");
  if (!word) return;
  for (string_view piece : split(*word, ',')) {
    if (const u32 *bit = find_choice<u32>(piece, words)) {
      of(target).send_proxy_v2_options |= *bit;
      continue;
    }
    NearMiss near(piece);
    for (const auto &c : words) near.consider(c.word);
    ctx.words.alert_last("'proxy-v2-options' expects " + list_choices<u32>(words) + ", got '" + std::string(piece) + "'", near.hint());
  }
}

/// "set-proxy-v2-tlv-fmt(0x20) FORMAT".
void proxy_v2_tlv(LineContext &ctx, void *target) {
  string_view written = ctx.words.all()[ctx.words.position() - 1].text;
  size_t open = written.find('(');
  string_view type = written.substr(open + 1);
  if (!type.ends_with(')') || type.size() < 2) return ctx.words.alert_last("'set-proxy-v2-tlv-fmt' expects the type of the TLV in parentheses, such as (0x20)");
  type.remove_suffix(1);
  u32 value = 0;
  bool hex = type.starts_with("0x") && type.size() > 2 && type.size() <= 4;
  for (char c : hex ? type.substr(2) : string_view()) {
    hex = hex && hex_digit(c) >= 0;
    value = value * 16 + static_cast<u32>(hex_digit(c));
  }
  if (!hex) {
    auto decimal = parse_u64(type);
    if (!decimal || *decimal > 255) return ctx.words.alert_last("'" + std::string(type) + "' is not a type of a TLV (0x00 to 0xff)");
    value = static_cast<u32>(*decimal);
  }
  if (ctx.words.at_end()) return void(ctx.words.need("a log format"));
  Compiler compiler(ctx.words, ctx.config, ctx.proxy, available_for_routing);
  if (auto format = compiler.log_format_word("a log format"))
    of(target).proxy_v2_tlvs.emplace_back(static_cast<u8>(value), std::make_shared<const LogFormat>(std::move(*format)));
}

void enabled(LineContext &, void *target) { of(target).disabled = false; }

constexpr Standing planned = Standing::Planned;

constexpr OptionDef rows[] = {
    {"backup", "", {"Used only when all other servers are down.", "See 'option allbackups' for several of them.", "backend app\n    server b 127.0.0.1:8002 backup"},
     set<&ServerOptions::backup, true>},
    {"cookie", "<value>", {"The value of the persistence cookie that leads to this server.", "", "backend app\n    mode http\n    cookie SRV insert\n    server a 127.0.0.1:8001 cookie a"}, cookie},
    {"disabled", "", {"Starts in maintenance.", "", "backend app\n    server a 127.0.0.1:8001 disabled"}, set<&ServerOptions::disabled, true>},
    {"enabled", "", {"Undoes 'disabled'.", "", "backend app\n    default-server disabled\n    server a 127.0.0.1:8001 enabled"}, enabled},
    {"guid", "<text>", {"A globally unique name.", "", ""}, nullptr, planned},
    {"hash-key", "<key>", {"What consistent hashing places the server by.", "", ""}, nullptr, planned},
    {"id", "<n>", {"A fixed number for the server.", "", "backend app\n    server a 127.0.0.1:8001 id 7"}, id},
    {"idle-ping", "<delay>", {"Interval of liveness probes on idle HTTP/2 connections.", "", ""}, nullptr, planned},
    {"init-addr", "<methods>", {"How a host name gets its address at start: last, libc, none or an address, in order.",
     "'last' is the address in the state file, 'none' starts without one (the server stays down).", "backend app\n    server a 127.0.0.1:8001 init-addr last,libc,none"}, init_addr},
    {"init-state", "<state>", {"State in which a checked server starts.", "", ""}, nullptr, planned},
    {"log-bufsize", "<bytes>", {"Buffer of a log server.", "", ""}, nullptr, planned},
    {"log-proto", "<name>", {"Framing of a log server.", "", ""}, nullptr, planned},
    {"max-reuse", "<n>", {"Requests after which a connection is not reused; -1 sets no limit.", "", "backend app\n    mode http\n    server a 127.0.0.1:8001 max-reuse 100"},
     number<&ServerOptions::max_reuse, -1, 2'147'483'647>},
    {"maxconn", "<n>", {"Connections to the server at the same time, over all workers; more requests wait in the queue.", "0 sets no limit.",
     "backend app\n    server a 127.0.0.1:8001 maxconn 50"}, number<&ServerOptions::maxconn, 0, 2'147'483'647>},
    {"maxqueue", "<n>", {"Requests that may wait for the server before others are used.", "0 sets no limit.", "backend app\n    server a 127.0.0.1:8001 maxconn 50 maxqueue 100"},
     number<&ServerOptions::maxqueue, 0, 2'147'483'647>},
    {"minconn", "<n>", {"The lower end of a limit that follows the backend's load up to 'maxconn'.", "", "backend app\n    fullconn 1000\n    server a 127.0.0.1:8001 minconn 10 maxconn 50"},
     number<&ServerOptions::minconn, 0, 2'147'483'647>},
    {"mss", "<bytes>", {"Largest TCP segment announced to the server.", "", ""}, nullptr, planned},
    {"namespace", "<name>", {"Network namespace of the server.", "", ""}, nullptr, planned},
    {"no-backup", "", {"Undoes 'backup'.", "", "backend app\n    default-server backup\n    server a 127.0.0.1:8001 no-backup"}, set<&ServerOptions::backup, false>},
    {"no-send-proxy", "", {"Undoes 'send-proxy'.", "", "backend app\n    default-server send-proxy\n    server a 127.0.0.1:8001 no-send-proxy"}, set<&ServerOptions::send_proxy, false>},
    {"no-send-proxy-v2", "", {"Undoes 'send-proxy-v2'.", "", "backend app\n    default-server send-proxy-v2\n    server a 127.0.0.1:8001 no-send-proxy-v2"}, set<&ServerOptions::send_proxy_v2, false>},
    {"no-tfo", "", {"Undoes 'tfo'.", "", "backend app\n    default-server tfo\n    server a 127.0.0.1:8001 no-tfo"}, set<&ServerOptions::tfo, false>},
    {"non-stick", "", {"Connections to the server are not stored in stick tables.", "", "backend app\n    server a 127.0.0.1:8001 non-stick"}, set<&ServerOptions::non_stick, true>},
    {"pool-conn-name", "<expression>", {"Name by which idle connections are matched.", "", ""}, nullptr, planned},
    {"pool-low-conn", "<n>", {"Idle connections below which a worker does not take those of another.", "", "backend app\n    mode http\n    server a 127.0.0.1:8001 pool-low-conn 4"},
     number<&ServerOptions::pool_low_conn, 0, 2'147'483'647>},
    {"pool-max-conn", "<n>", {"Idle connections kept to the server; -1 sets no limit, 0 keeps none.", "", "backend app\n    mode http\n    server a 127.0.0.1:8001 pool-max-conn 100"},
     number<&ServerOptions::pool_max_conn, -1, 2'147'483'647>},
    {"pool-purge-delay", "<delay>", {"Interval at which half of the idle connections that were not needed are closed; 0 keeps none.", "",
     "backend app\n    mode http\n    server a 127.0.0.1:8001 pool-purge-delay 10s"}, delay<&ServerOptions::pool_purge_delay>},
    {"proto", "<name>", {"Speaks this protocol with the server: h1.", "", "backend app\n    mode http\n    server a 127.0.0.1:8001 proto h1"}, proto},
    {"proxy-v2-options", "<names>", {"What else a PROXY protocol header of version 2 carries.", "Names: authority, crc32c, unique-id, ssl, cert-cn, cert-key, cert-sig, ssl-cipher.",
     "backend app\n    server a 127.0.0.1:8001 send-proxy-v2 proxy-v2-options crc32c"}, proxy_v2_options},
    {"redir", "<prefix>", {"GET and HEAD requests for this server are answered with a redirect to the prefix followed by the URI.", "",
     "backend app\n    mode http\n    server a 127.0.0.1:8001 redir http://image1.example.com"}, text<&ServerOptions::redir>},
    {"resolve-net", "<networks>", {"Preferred networks of resolved addresses.", "", ""}, nullptr, planned},
    {"resolve-opts", "<options>", {"Options of name resolution at run time.", "", ""}, nullptr, planned},
    {"resolve-prefer", "<family>", {"Preferred family of resolved addresses.", "", ""}, nullptr, planned},
    {"resolvers", "<id>", {"The resolvers section that follows the server's name at run time.", "", ""}, nullptr, planned},
    {"send-proxy", "", {"Sends a PROXY protocol header of version 1 when connecting.", "", "backend app\n    server a 127.0.0.1:8001 send-proxy"}, set<&ServerOptions::send_proxy, true>},
    {"send-proxy-v2", "", {"Sends a PROXY protocol header of version 2 when connecting.", "", "backend app\n    server a 127.0.0.1:8001 send-proxy-v2"}, send_proxy_v2},
    {"set-proxy-v2-tlv-fmt(", "<format>", {"Adds a field of the given type to the PROXY protocol header of version 2.", "",
     "backend app\n    server a 127.0.0.1:8001 send-proxy-v2 set-proxy-v2-tlv-fmt(0x20) %[src]"}, proxy_v2_tlv},
    {"shard", "<n>", {"Shard of a peer.", "", ""}, nullptr, planned},
    {"slowstart", "<delay>", {"Time over which weight and limit of a server that came back grow to their full values.", "", "backend app\n    server a 127.0.0.1:8001 check slowstart 10s"},
     delay<&ServerOptions::slowstart>},
    {"socks4", "<address>", {"Connects through a SOCKS4 proxy.", "", ""}, nullptr, planned},
    {"source", "<address>", {"Address from which the server is connected to; as the keyword 'source'.", "", "backend app\n    server a 127.0.0.1:8001 source 127.0.0.2"}, source},
    {"stick", "", {"Undoes 'non-stick'.", "", "backend app\n    default-server non-stick\n    server a 127.0.0.1:8001 stick"}, set<&ServerOptions::non_stick, false>},
    {"strict-maxconn", "", {"'maxconn' bounds connections, not requests.", "", ""}, nullptr, planned},
    {"tcp-md5sig", "<key>", {"TCP signatures of RFC 2385.", "", ""}, nullptr, planned},
    {"tcp-ut", "<delay>", {"Time after which the kernel gives up a connection whose data is not acknowledged.", "", "backend app\n    server a 127.0.0.1:8001 tcp-ut 30s"}, tcp_ut},
    {"tfo", "", {"TCP Fast Open towards the server.", "", "backend app\n    server a 127.0.0.1:8001 tfo"}, set<&ServerOptions::tfo, true>},
    {"weight", "<n>", {"Share of the load, from 0 to 256, relative to the other servers'.", "0 leaves the server to persistent clients only.", "backend app\n    server a 127.0.0.1:8001 weight 10"},
     number<&ServerOptions::weight, 0, 256>},
    {"ws", "<mode>", {"Protocol for WebSocket streams.", "", ""}, nullptr, planned},
};
static_assert(sorted_and_documented<OptionDef>(rows));

} // namespace

std::span<const OptionDef> server_options() { return rows; }

} // namespace penstock
