// SPDX-License-Identifier: BSD-2-Clause
// Address words of the configuration: `[prefix@]host:port[-port]`, paths, inherited descriptors
// (manual, section 2.9). Pure text work; only a `bind` or `source` with a host name asks the resolver
// of the system, because there the address is needed when the file is read.
#include <netdb.h>
#include <sys/un.h>

#include <cstdlib>
#include <cstring>

#include "master/config/parser.h"
#include "shared/base/text.h"

namespace penstock {

namespace {

enum class Family : u8 { Any, V4, V6, Unix, Abns, AbnsZ, Fd, Sockpair, Rhttp };
enum class Socket : u8 { Default, Stream, Datagram, Quic };

struct Prefix {
  string_view text;
  Family family;
  Socket socket;
};
constexpr Prefix prefixes[] = {
    {"abns@", Family::Abns, Socket::Default},     {"abnsz@", Family::AbnsZ, Socket::Default},
    {"fd@", Family::Fd, Socket::Default},         {"ip@", Family::Any, Socket::Default},
    {"ipv4@", Family::V4, Socket::Default},       {"ipv6@", Family::V6, Socket::Default},
    {"quic4@", Family::V4, Socket::Quic},         {"quic6@", Family::V6, Socket::Quic},
    {"rhttp@", Family::Rhttp, Socket::Default},   {"rev@", Family::Rhttp, Socket::Default},
    {"sockpair@", Family::Sockpair, Socket::Default}, {"tcp4@", Family::V4, Socket::Stream},
    {"tcp6@", Family::V6, Socket::Stream},        {"tcp@", Family::Any, Socket::Stream},
    {"udp4@", Family::V4, Socket::Datagram},      {"udp6@", Family::V6, Socket::Datagram},
    {"udp@", Family::Any, Socket::Datagram},      {"unix@", Family::Unix, Socket::Default},
    {"uxdg@", Family::Unix, Socket::Datagram},    {"uxst@", Family::Unix, Socket::Stream},
};
constexpr Prefix socket_prefixes[] = {
    {"stream+", Family::Any, Socket::Stream},
    {"dgram+", Family::Any, Socket::Datagram},
    {"quic+", Family::Any, Socket::Quic},
};

bool is_name_char(char c) { return is_alpha(c) || is_digit(c) || c == '_'; }

/// "$NAME" and "${NAME}" replaced by the environment's values, as address words allow without quotes.
std::string expand_environment(string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '$') {
      out += text[i++];
      continue;
    }
    bool braces = i + 1 < text.size() && text[i + 1] == '{';
    size_t from = i + 1 + braces, to = from;
    while (to < text.size() && is_name_char(text[to])) to++;
    if (const char *value = getenv(std::string(text.substr(from, to - from)).c_str())) out += value;
    i = braces && to < text.size() && text[to] == '}' ? to + 1 : to;
  }
  return out;
}

struct Pieces {
  Family family = Family::Any;
  Socket socket = Socket::Default;
  string_view rest;
};

Pieces take_prefixes(string_view text) {
  Pieces p;
  for (const Prefix &s : socket_prefixes)
    if (text.starts_with(s.text)) {
      p.socket = s.socket;
      text.remove_prefix(s.text.size());
      break;
    }
  p.rest = text;
  if (text.starts_with('/')) {
    p.family = Family::Unix;
    return p;
  }
  for (const Prefix &f : prefixes)
    if (text.starts_with(f.text)) {
      p.family = f.family;
      if (f.socket != Socket::Default) p.socket = f.socket;
      p.rest = text.substr(f.text.size());
      break;
    }
  return p;
}

/// Cuts "host:port" at the last colon outside brackets; an IPv6 address in full keeps its own.
void split_port(string_view rest, string_view &host, std::optional<string_view> &port) {
  host = rest;
  if (rest.ends_with(']')) return;
  size_t colon = rest.rfind(':');
  if (colon == string_view::npos) return;
  string_view before = rest.substr(0, colon);
  bool many_colons = before.find(':') != string_view::npos && !before.ends_with(']');
  if (many_colons && !parse_ip(before) && parse_ip(rest)) return; // "::1", "2001:db8::1"
  host = before;
  port = rest.substr(colon + 1);
}

bool read_port_number(string_view text, u16 &out) {
  auto v = parse_u64(text);
  if (!v || *v > 65535) return false;
  out = static_cast<u16>(*v);
  return true;
}

bool read_ports(string_view port, const AddressRules &rules, AddressWord &out, std::string &error) {
  if (port.empty()) return true; // "1.2.3.4:" is as good as none
  if (port[0] == '+' || port[0] == '-') {
    auto offset = parse_i64(port);
    if (!rules.relative_port) error = "a port relative to the client's ('" + std::string(port) + "') is not possible here";
    else if (!offset || *offset < -65535 || *offset > 65535) error = "'" + std::string(port) + "' is not a port offset between -65535 and +65535";
    else out.relative_port = out.has_port = true, out.port_offset = static_cast<i32>(*offset);
    return error.empty();
  }
  size_t dash = port.find('-');
  string_view low = port.substr(0, dash);
  if (!read_port_number(low, out.port_low)) {
    error = "'" + std::string(low) + "' is not a port between 0 and 65535";
    return false;
  }
  out.port_high = out.port_low;
  out.has_port = true;
  if (dash == string_view::npos) return true;
  string_view high = port.substr(dash + 1);
  if (!rules.port_range) error = "a range of ports ('" + std::string(port) + "') is not possible here";
  else if (!read_port_number(high, out.port_high)) error = "'" + std::string(high) + "' is not a port between 0 and 65535";
  else if (out.port_high < out.port_low) error = "the range '" + std::string(port) + "' ends before it begins";
  return error.empty();
}

/// The system's resolver, for the places that need an address when the file is read.
bool resolve_now(const std::string &host, Family family, Ip &out) {
  addrinfo hints{}, *list = nullptr;
  hints.ai_family = family == Family::V4 ? AF_INET : family == Family::V6 ? AF_INET6 : AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &list) != 0) return false;
  bool found = false;
  for (addrinfo *a = list; a && !found; a = a->ai_next)
    if (a->ai_family == AF_INET || a->ai_family == AF_INET6) {
      out = Address::from_sockaddr(a->ai_addr, a->ai_addrlen).ip;
      found = true;
    }
  freeaddrinfo(list);
  return found;
}

bool read_host(string_view host, Family family, const AddressRules &rules, AddressWord &out, std::string &error) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  Ip ip;
  if (host.empty() || host == "*") ip = family == Family::V6 ? Ip{6, {}} : Ip::v4(0);
  else if (host == "::") ip = Ip{6, {}};
  else if (auto parsed = parse_ip(host)) ip = *parsed;
  if (ip && ((family == Family::V4 && !ip.is_v4()) || (family == Family::V6 && !ip.is_v6()))) {
    error = "'" + std::string(host) + "' is not an " + (family == Family::V4 ? "IPv4" : "IPv6") + " address as its prefix says";
    return false;
  }
  if (!ip && rules.resolve && !resolve_now(std::string(host), family, ip)) {
    error = "the host name '" + std::string(host) + "' cannot be resolved";
    return false;
  }
  if (!ip) {
    out.host = host;
    out.family_hint = family == Family::V4 ? AF_INET : family == Family::V6 ? AF_INET6 : AF_UNSPEC;
    return true;
  }
  out.address = Address::from_ip(ip, out.relative_port ? 0 : out.port_low);
  return true;
}

bool read_unix(const Pieces &p, const AddressRules &rules, AddressWord &out, std::string &error) {
  constexpr size_t longest = sizeof(sockaddr_un{}.sun_path) - 1;
  if (!rules.unix_path) error = "a UNIX socket is not possible here";
  else if (p.rest.empty()) error = p.family == Family::Unix ? "the path of the UNIX socket is missing" : "the name of the abstract socket is missing";
  else if (p.rest.size() > longest) error = "the path is longer than " + std::to_string(longest) + " characters";
  if (!error.empty()) return false;
  out.address.family = AF_UNIX;
  if (p.family != Family::Unix) out.address.path.assign(1, '\0');
  out.address.path += p.rest;
  out.address.abns_full = p.family == Family::Abns;
  return true;
}

bool read_descriptor(const Pieces &p, const AddressRules &rules, AddressWord &out, std::string &error) {
  auto number = parse_u64(p.rest);
  if (!rules.fd) error = "an inherited descriptor is not possible here";
  else if (p.rest.empty()) error = "the number of the inherited descriptor is missing (is its environment variable set?)";
  else if (!number || *number > 1'000'000) error = "'" + std::string(p.rest) + "' is not the number of a descriptor";
  if (!error.empty()) return false;
  out.fd = static_cast<int>(*number);
  out.sockpair = p.family == Family::Sockpair;
  return true;
}

} // namespace

bool parse_address_text(string_view text, const AddressRules &rules, AddressWord &out, std::string &error) {
  std::string expanded;
  if (text.find('$') != string_view::npos) text = expanded = expand_environment(text);
  Pieces p = take_prefixes(text);
  out.datagram = p.socket == Socket::Datagram || (p.socket == Socket::Default && rules.datagram_default);
  out.quic = p.socket == Socket::Quic;
  out.socket_given = p.socket != Socket::Default;
  if (text.starts_with("mptcp")) error = "'mptcp' addresses are known but not implemented yet";
  else if (p.family == Family::Rhttp) error = "'rhttp@' (reverse HTTP) is known but not implemented yet";
  else if (out.quic) error = "'quic' addresses are known but not implemented yet";
  else if (out.datagram && !rules.datagram) error = "a datagram socket is not possible here";
  else if (!out.datagram && !rules.stream) error = "a stream socket is not possible here";
  if (!error.empty()) return false;
  if (p.family == Family::Unix || p.family == Family::Abns || p.family == Family::AbnsZ) return read_unix(p, rules, out, error);
  if (p.family == Family::Fd || p.family == Family::Sockpair) return read_descriptor(p, rules, out, error);

  string_view host;
  std::optional<string_view> port;
  split_port(p.rest, host, port);
  if (rules.port_required && (!port || port->empty())) {
    error = "the port is missing in '" + std::string(text) + "' (write " + std::string(host.empty() ? "*" : host) + ":PORT)";
    return false;
  }
  if (port && !read_ports(*port, rules, out, error)) return false;
  return read_host(host, p.family, rules, out, error);
}

bool parse_address(Words &words, const AddressRules &rules, AddressWord &out) {
  if (words.at_end() || words.peek().empty()) {
    words.alert("'" + std::string(words.subject()) + "' expects an address" + (rules.port_required ? " with a port" : ""));
    return false;
  }
  std::string error;
  if (!parse_address_text(words.peek(), rules, out, error)) {
    words.alert("'" + std::string(words.subject()) + "': " + error);
    return false;
  }
  words.next();
  return true;
}

} // namespace penstock
