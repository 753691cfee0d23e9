// SPDX-License-Identifier: BSD-2-Clause
// A `server` line. There may be 50,000 of them, so what most servers share is behind a pointer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "shared/base/address.h"
#include "shared/base/diagnostics.h"
#include "shared/base/time.h"

namespace penstock {

struct Proxy;
struct Expr;
struct LogFormat;

/// `source ADDR [usesrc …] [interface …]`, of a backend or a server.
struct SourceSettings {
  Address address;
  u16 port_low = 0, port_high = 0;
  std::string interface;
  enum UseSrc : u8 { None, Address_, Client, ClientIp, HdrIp } usesrc = None;
  Address usesrc_address;
  std::string usesrc_header;
  i32 usesrc_occurrence = -1;
};

enum class OnMarkedDown : u8 { None, ShutdownSessions };
enum class OnMarkedUp : u8 { None, ShutdownBackupSessions };
enum class ObserveMode : u8 { None, Layer4, Layer7 };
enum class OnError : u8 { Fastinter, FailCheck, SuddenDeath, MarkDown };
enum class InitAddr : u8 { Last, Libc, None, Ip };
/// `proxy-v2-options`: what else a PROXY protocol header of version 2 carries.
enum ProxyV2Options : u32 {
  proxy_v2_crc32c = 1, proxy_v2_authority = 2, proxy_v2_unique_id = 4,
  proxy_v2_ssl = 8, proxy_v2_cert_cn = 16, proxy_v2_cert_key = 32, proxy_v2_cert_sig = 64, proxy_v2_ssl_cipher = 128,
};
enum class WeightSource : u8 { Config, Runtime };

/// Options of servers and `default-server`; copied, then changed by the line's own words.
struct ServerOptions {
  u32 weight = 1;
  u32 maxconn = 0, minconn = 0, maxqueue = 0;
  Millis slowstart = 0;
  bool check = false, agent_check = false, backup = false, disabled = false;
  bool send_proxy = false, send_proxy_v2 = false, check_send_proxy = false;
  bool tfo = false, non_stick = false;
  u32 send_proxy_v2_options = 0; // bits of ProxyV2Options
  Millis inter = 2000, fastinter = 0, downinter = 0;
  u32 rise = 2, fall = 3;
  u16 check_port = 0;
  Address check_addr;
  Millis agent_inter = 0;
  u16 agent_port = 0;
  Address agent_addr;
  std::string agent_send;
  ObserveMode observe = ObserveMode::None;
  u32 error_limit = 10;
  OnError on_error = OnError::FailCheck;
  OnMarkedDown on_marked_down = OnMarkedDown::None;
  OnMarkedUp on_marked_up = OnMarkedUp::None;
  std::shared_ptr<const SourceSettings> source;
  std::string interface, namespace_;
  std::vector<InitAddr> init_addr; // empty: last,libc
  Ip init_ip;
  i32 pool_max_conn = -1;
  u32 pool_low_conn = 0;
  Millis pool_purge_delay = 5000;
  u32 max_reuse = 0; // 0: no limit
  u32 tcp_ut_ms = 0;
  std::string redir, proto, check_proto;
  std::string cookie;
  std::string track; // [backend/]server
  u32 mss = 0;
  std::vector<std::pair<u8, std::shared_ptr<const LogFormat>>> proxy_v2_tlvs; // set-proxy-v2-tlv-fmt
};

/// What a line's options came to; lines that read the same share it.
struct PooledServerOptions {
  std::shared_ptr<const ServerOptions> base; // keeps the address in the key from being used again
  std::shared_ptr<const ServerOptions> options;
  u32 id = 0;
  std::string cookie;
};

struct Server {
  std::string name;
  Proxy *proxy = nullptr;
  Place place;
  Address address;        // family unspecified until resolved
  std::string host;       // the name to resolve, when not numeric
  u16 host_family = 0;    // what it must resolve to (AF_INET, AF_INET6), or 0
  u16 port = 0;           // as written; `address` has it too once resolved
  int fd = -1;            // sockpair@N
  bool port_from_client = false; // no port, or a relative one
  i32 port_offset = 0;           // with port_from_client
  u32 id = 0;
  u32 index = 0;          // within the backend
  u32 global_index = 0;   // over all servers of the configuration
  std::string cookie;
  std::shared_ptr<const ServerOptions> options; // shared by servers whose lines say nothing of their own
  const Server *tracked = nullptr;
  u32 row = ~0u;          // in shared memory; given by the master
};

} // namespace penstock
