// SPDX-License-Identifier: BSD-2-Clause
// The PROXY protocol, versions 1 and 2 (proxy-protocol.txt), and NetScaler's Client-IP insertion, as a
// codec without sockets: what a load balancer in front of us says about the real client, and what we say
// to servers with `send-proxy`.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "shared/base/address.h"
#include "shared/model/server.h" // ProxyV2Options

namespace penstock {

/// Types of the fields behind the addresses of version 2.
enum PpTlv : u8 {
  pp_alpn = 0x01, pp_authority = 0x02, pp_crc32c = 0x03, pp_noop = 0x04, pp_unique_id = 0x05, pp_ssl = 0x20, pp_netns = 0x30,
  pp_ssl_version = 0x21, pp_ssl_cn = 0x22, pp_ssl_cipher = 0x23, pp_ssl_sig_alg = 0x24, pp_ssl_key_alg = 0x25, // inside pp_ssl
};

/// A received header.
struct ProxyHeader {
  u8 version = 0;         // 1, 2; 0: NetScaler
  bool local = false;     // LOCAL, UNKNOWN or UNSPEC: the connection's own addresses count
  bool datagram = false;  // the proxied transport
  Address source, destination;
  std::string tlvs;       // raw

  /// Value of the first field of that type; false without one.
  bool find(u8 type, string_view &value) const;
};

enum class ProxyStatus : u8 { NeedMore, Complete, Bad, BadFamily };
struct ProxyResult {
  ProxyStatus status = ProxyStatus::NeedMore;
  u32 consumed = 0;
  const char *error = "";
};

/// Either version. Nothing is guessed: a byte that cannot belong to a header is Bad at once.
ProxyResult parse_proxy_header(string_view bytes, ProxyHeader &out);
ProxyResult parse_netscaler_cip(string_view bytes, u32 magic, ProxyHeader &out);

inline constexpr size_t proxy_v1_max = 107;
inline constexpr size_t proxy_v2_max = 16 + 65535;

/// What version 2 may tell beyond addresses; empty parts are left out.
struct ProxyFacts {
  bool client_tls = false, client_cert = false, client_cert_session = false;
  bool cert_verified = true;
  string_view tls_version, cert_cn, cipher, signature, key, authority, alpn, unique_id;
};
using ProxyTlv = std::pair<u8, string_view>;

/// "PROXY TCP4 …\r\n"; addresses that are not of an IP family give UNKNOWN. Returns the length, 0 when it does not fit.
size_t write_proxy_v1(const Address &source, const Address &destination, char *out, size_t capacity);
/// `source` null: LOCAL, for health checks without a client.
size_t write_proxy_v2(const Address *source, const Address *destination, u32 options, const ProxyFacts &facts,
                      std::span<const ProxyTlv> more, char *out, size_t capacity);

/// CRC32C (Castagnoli), reflected, initial and final complement.
u32 crc32c(string_view bytes, u32 state = 0);

} // namespace penstock
