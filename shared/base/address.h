// SPDX-License-Identifier: BSD-2-Clause
// Network addresses as values: IP address, socket address, network. Text forms are those of the
// manual's section 11 ("address formats"); parsing of the prefixed configuration forms
// (`ipv4@`, `unix@`, `fd@`, ports and ranges) is in master/config.
#pragma once

#include <sys/socket.h>

#include <array>
#include <compare>
#include <optional>
#include <string>

#include "shared/base/basic.h"

namespace penstock {

/// An IPv4 or IPv6 address; v4 uses the first four bytes. Network byte order.
struct Ip {
  u8 family = 0; // 0 none, 4, 6
  std::array<u8, 16> bytes{};

  bool is_v4() const { return family == 4; }
  bool is_v6() const { return family == 6; }
  explicit operator bool() const { return family != 0; }
  u32 v4_host_order() const;
  static Ip v4(u32 host_order);
  /// The v4 address inside ::ffff:a.b.c.d (or 2002:, as the manual's casts say), if it is one.
  std::optional<Ip> to_v4() const;
  Ip to_v6() const; // ::ffff:a.b.c.d for a v4 address
  std::string text() const;
  /// Writes the text form into `out` (at least 46 bytes); returns its length.
  size_t write(char *out) const;
  auto operator<=>(const Ip &) const = default;
};

/// Strict textual IPv4 or IPv6 (no zone, no port). Returns nothing on any other text.
std::optional<Ip> parse_ip(string_view text);

/// A network: address and prefix length in bits.
struct Network {
  Ip ip;
  u8 bits = 0;
  bool contains(const Ip &a) const;
};
/// "10.0.0.0/8", "10.0.0.0/255.0.0.0", "2001:db8::/32" or a plain address.
std::optional<Network> parse_network(string_view text);

/// A socket address of any family that we speak.
struct Address {
  u16 family = AF_UNSPEC; // AF_UNSPEC, AF_INET, AF_INET6, AF_UNIX
  u16 port = 0;           // host byte order; 0 when the family has none
  u32 scope_id = 0;       // IPv6 zone
  Ip ip;
  std::string path;      // AF_UNIX; an abstract name starts with a NUL byte
  bool abns_full = false; // abns@: the whole sun_path is the name, zero-padded (abnsz@: only its length)

  explicit operator bool() const { return family != AF_UNSPEC; }
  bool is_inet() const { return family == AF_INET || family == AF_INET6; }
  /// Fills `ss`; returns the length to pass to bind() and connect().
  socklen_t to_sockaddr(sockaddr_storage &ss) const;
  static Address from_sockaddr(const sockaddr *sa, socklen_t len);
  static Address from_ip(const Ip &ip, u16 port);
  std::string text() const; // "127.0.0.1:80", "[::1]:80", "unix@/run/x", "abns@name"
  bool operator==(const Address &) const = default;
};

} // namespace penstock
