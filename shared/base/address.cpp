// SPDX-License-Identifier: BSD-2-Clause
// Text and socket forms of addresses (RFC 4291, RFC 5952 through inet_ntop).
#include "shared/base/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "shared/base/text.h"

namespace penstock {

u32 Ip::v4_host_order() const { return u32{bytes[0]} << 24 | u32{bytes[1]} << 16 | u32{bytes[2]} << 8 | bytes[3]; }

Ip Ip::v4(u32 host_order) {
  Ip ip;
  ip.family = 4;
  for (int i = 0; i < 4; i++) ip.bytes[i] = static_cast<u8>(host_order >> (24 - 8 * i));
  return ip;
}

static Ip v4_from(const u8 *bytes) {
  Ip ip;
  ip.family = 4;
  std::memcpy(ip.bytes.data(), bytes, 4);
  return ip;
}

std::optional<Ip> Ip::to_v4() const {
  if (is_v4()) return *this;
  if (!is_v6()) return std::nullopt;
  static constexpr u8 mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::memcmp(bytes.data(), mapped, 12) == 0) return v4_from(&bytes[12]);
  bool compatible = std::all_of(bytes.begin(), bytes.begin() + 12, [](u8 b) { return b == 0; });
  if (compatible && (bytes[12] || bytes[13] || bytes[14])) return v4_from(&bytes[12]); // ::a.b.c.d, but not :: and ::1
  if (bytes[0] == 0x20 && bytes[1] == 0x02) return v4_from(&bytes[2]);                 // 6to4
  return std::nullopt;
}

Ip Ip::to_v6() const {
  if (!is_v4()) return *this;
  Ip out;
  out.family = 6;
  out.bytes[10] = out.bytes[11] = 0xff;
  std::memcpy(&out.bytes[12], bytes.data(), 4);
  return out;
}

size_t Ip::write(char *out) const {
  if (is_v4()) {
    char *p = out;
    for (int i = 0; i < 4; i++) {
      if (i) *p++ = '.';
      p = write_u64(p, bytes[i]);
    }
    return static_cast<size_t>(p - out);
  }
  if (!is_v6() || !inet_ntop(AF_INET6, bytes.data(), out, INET6_ADDRSTRLEN)) return 0;
  return std::strlen(out);
}

std::string Ip::text() const {
  char buffer[INET6_ADDRSTRLEN];
  return std::string(buffer, write(buffer));
}

std::optional<Ip> parse_ip(string_view text) {
  char buffer[INET6_ADDRSTRLEN];
  if (text.empty() || text.size() >= sizeof buffer || text.find('\0') != string_view::npos) return std::nullopt;
  std::memcpy(buffer, text.data(), text.size());
  buffer[text.size()] = 0;
  Ip ip;
  if (inet_pton(AF_INET, buffer, ip.bytes.data()) == 1) ip.family = 4;
  else if (inet_pton(AF_INET6, buffer, ip.bytes.data()) == 1) ip.family = 6;
  else return std::nullopt;
  return ip;
}

bool Network::contains(const Ip &a) const {
  if (a.family != ip.family || !ip) return false;
  unsigned whole = bits / 8, rest = bits % 8;
  if (std::memcmp(ip.bytes.data(), a.bytes.data(), whole) != 0) return false;
  return rest == 0 || ((ip.bytes[whole] ^ a.bytes[whole]) >> (8 - rest)) == 0;
}

/// The prefix length of a contiguous mask such as 255.255.0.0.
static std::optional<u8> mask_bits(const Ip &mask) {
  u32 m = mask.v4_host_order();
  u32 inverse = ~m;
  if (inverse & (inverse + 1)) return std::nullopt;
  return static_cast<u8>(__builtin_popcount(m));
}

std::optional<Network> parse_network(string_view text) {
  size_t slash = text.find('/');
  auto ip = parse_ip(text.substr(0, slash));
  if (!ip) return std::nullopt;
  u8 max_bits = ip->is_v4() ? 32 : 128;
  if (slash == string_view::npos) return Network{*ip, max_bits};
  string_view mask = text.substr(slash + 1);
  if (auto bits = parse_u64(mask)) {
    if (*bits > max_bits) return std::nullopt;
    return Network{*ip, static_cast<u8>(*bits)};
  }
  auto mask_ip = parse_ip(mask);
  if (!ip->is_v4() || !mask_ip || !mask_ip->is_v4()) return std::nullopt;
  auto bits = mask_bits(*mask_ip);
  if (!bits) return std::nullopt;
  return Network{*ip, *bits};
}

socklen_t Address::to_sockaddr(sockaddr_storage &ss) const {
  std::memset(&ss, 0, sizeof ss);
  if (family == AF_INET) {
    auto &in = reinterpret_cast<sockaddr_in &>(ss);
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    std::memcpy(&in.sin_addr, ip.bytes.data(), 4);
    return sizeof in;
  }
  if (family == AF_INET6) {
    auto &in = reinterpret_cast<sockaddr_in6 &>(ss);
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(port);
    in.sin6_scope_id = scope_id;
    std::memcpy(&in.sin6_addr, ip.bytes.data(), 16);
    return sizeof in;
  }
  if (family == AF_UNIX) {
    auto &un = reinterpret_cast<sockaddr_un &>(ss);
    un.sun_family = AF_UNIX;
    size_t n = std::min(path.size(), sizeof un.sun_path);
    std::memcpy(un.sun_path, path.data(), n);
    if (abns_full) return sizeof un;
    bool abstract = !path.empty() && path[0] == '\0';
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + n + (abstract || n == sizeof un.sun_path ? 0 : 1));
  }
  return 0;
}

Address Address::from_ip(const Ip &ip, u16 port) {
  Address a;
  a.family = ip.is_v4() ? AF_INET : ip.is_v6() ? AF_INET6 : AF_UNSPEC;
  a.ip = ip;
  a.port = port;
  return a;
}

static Address from_unix(const sockaddr_un &un, size_t len) {
  Address a;
  a.family = AF_UNIX;
  size_t n = len > offsetof(sockaddr_un, sun_path) ? len - offsetof(sockaddr_un, sun_path) : 0;
  n = std::min(n, sizeof un.sun_path);
  if (n == 0) return a; // unnamed
  if (un.sun_path[0] != 0) {
    a.path.assign(un.sun_path, strnlen(un.sun_path, n));
    return a;
  }
  a.abns_full = n == sizeof un.sun_path;
  a.path.assign(un.sun_path, n);
  if (a.abns_full) a.path.resize(a.path.find_last_not_of('\0') + 1);
  return a;
}

Address Address::from_sockaddr(const sockaddr *sa, socklen_t len) {
  Address a;
  if (sa->sa_family == AF_INET && len >= sizeof(sockaddr_in)) {
    auto &in = *reinterpret_cast<const sockaddr_in *>(sa);
    a.family = AF_INET;
    a.port = ntohs(in.sin_port);
    a.ip.family = 4;
    std::memcpy(a.ip.bytes.data(), &in.sin_addr, 4);
  } else if (sa->sa_family == AF_INET6 && len >= sizeof(sockaddr_in6)) {
    auto &in = *reinterpret_cast<const sockaddr_in6 *>(sa);
    a.family = AF_INET6;
    a.port = ntohs(in.sin6_port);
    a.scope_id = in.sin6_scope_id;
    a.ip.family = 6;
    std::memcpy(a.ip.bytes.data(), &in.sin6_addr, 16);
  } else if (sa->sa_family == AF_UNIX) {
    a = from_unix(*reinterpret_cast<const sockaddr_un *>(sa), len);
  }
  return a;
}

std::string Address::text() const {
  switch (family) {
  case AF_INET: return ip.text() + ":" + std::to_string(port);
  case AF_INET6: return "[" + ip.text() + "]:" + std::to_string(port);
  case AF_UNIX:
    if (!path.empty() && path[0] == '\0') return (abns_full ? "abns@" : "abnsz@") + path.substr(1);
    return "unix@" + path;
  default: return "?";
  }
}

} // namespace penstock
