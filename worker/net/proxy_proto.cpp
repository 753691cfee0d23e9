// SPDX-License-Identifier: BSD-2-Clause
// Reading PROXY headers and NetScaler's insertion. Version 1 is one line of at most 107 bytes, version 2
// a binary block behind a signature that no other protocol begins with.
#include "worker/net/proxy_proto.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "shared/base/text.h"

namespace penstock {

namespace {

constexpr string_view v2_signature{"\r\n\r\n\0\r\nQUIT\n", 12};
constexpr string_view v1_signature = "PROXY ";

ProxyResult bad(const char *why) { return {ProxyStatus::Bad, 0, why}; }

u32 get_u16(const char *p) { return static_cast<u32>(static_cast<u8>(p[0])) << 8 | static_cast<u8>(p[1]); }
u32 get_u32(const char *p) { return get_u16(p) << 16 | get_u16(p + 2); }

Ip ip_from(const char *p, u8 family) {
  Ip ip;
  ip.family = family;
  std::memcpy(ip.bytes.data(), p, family == 4 ? 4 : 16);
  return ip;
}

constexpr auto crc_table = [] {
  std::array<u32, 256> t{};
  for (u32 i = 0; i < 256; i++) {
    u32 c = i;
    for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
    t[i] = c;
  }
  return t;
}();

// ------------------------------------------------------------------------------------- version 1

bool take_word(string_view &line, string_view &word) {
  size_t blank = line.find(' ');
  word = line.substr(0, blank);
  line.remove_prefix(std::min(line.size(), blank == string_view::npos ? line.size() : blank + 1));
  return !word.empty();
}

bool parse_port(string_view s, u16 &port) {
  if (s.empty() || s.size() > 5 || (s[0] == '0' && s.size() > 1)) return false;
  u32 v = 0;
  for (char c : s) {
    if (!is_digit(c)) return false;
    v = v * 10 + static_cast<u32>(c - '0');
  }
  port = static_cast<u16>(v);
  return v <= 65535;
}

ProxyResult parse_v1(string_view bytes, ProxyHeader &out) {
  size_t look = std::min(bytes.size(), proxy_v1_max);
  size_t lf = bytes.substr(0, look).find('\n');
  if (lf == string_view::npos) return look == proxy_v1_max ? bad("PROXY line too long") : ProxyResult{};
  if (bytes[lf - 1] != '\r') return bad("PROXY line does not end in CRLF");
  string_view line = bytes.substr(v1_signature.size(), lf - 1 - v1_signature.size()), family, word;
  ProxyResult done{ProxyStatus::Complete, static_cast<u32>(lf + 1), ""};
  out.version = 1;
  if (!take_word(line, family)) return bad("PROXY line without a family");
  if (family == "UNKNOWN") {
    out.local = true;
    return done;
  }
  u8 want = family == "TCP4" ? 4 : family == "TCP6" ? 6 : 0;
  if (want == 0) return {ProxyStatus::BadFamily, 0, "unknown family in the PROXY line"};
  for (Address *a : {&out.source, &out.destination}) {
    if (!take_word(line, word)) return bad("PROXY line without addresses");
    auto ip = parse_ip(word);
    if (!ip || ip->family != want) return bad("bad address in the PROXY line");
    *a = Address::from_ip(*ip, 0);
  }
  string_view source_port = line.substr(0, line.find(' '));
  string_view rest = line.size() > source_port.size() ? line.substr(source_port.size() + 1) : string_view{};
  if (!parse_port(source_port, out.source.port) || !parse_port(rest, out.destination.port)) return bad("bad port in the PROXY line");
  return done;
}

// ------------------------------------------------------------------------------------- version 2

Address unix_address(const char *p) {
  constexpr size_t size = 108;
  Address a;
  a.family = AF_UNIX;
  if (p[0] == '\0') { // an abstract name, or none
    size_t n = size;
    while (n > 0 && p[n - 1] == '\0') n--;
    a.path.assign(p, n);
  } else {
    a.path.assign(p, strnlen(p, size));
  }
  return a;
}

/// Length of the address block, 0 for UNSPEC, ~0 for what the protocol does not define.
size_t address_length(u8 family) {
  switch (family >> 4) {
    case 0: return 0;
    case 1: return 12;
    case 2: return 36;
    case 3: return 216;
    default: return ~size_t{0};
  }
}

void read_addresses(const char *p, u8 family, ProxyHeader &out) {
  switch (family >> 4) {
    case 1:
      out.source = Address::from_ip(ip_from(p, 4), static_cast<u16>(get_u16(p + 8)));
      out.destination = Address::from_ip(ip_from(p + 4, 4), static_cast<u16>(get_u16(p + 10)));
      break;
    case 2:
      out.source = Address::from_ip(ip_from(p, 6), static_cast<u16>(get_u16(p + 32)));
      out.destination = Address::from_ip(ip_from(p + 16, 6), static_cast<u16>(get_u16(p + 34)));
      break;
    case 3:
      out.source = unix_address(p);
      out.destination = unix_address(p + 108);
      break;
    default: break;
  }
}

/// Sets type and value of the field at the start of `rest`, and takes it off. False at the end; `broken` when it is cut.
bool next_tlv(string_view &rest, u8 &type, string_view &value, bool &broken) {
  if (rest.empty()) return false;
  if (rest.size() < 3 || rest.size() - 3 < get_u16(rest.data() + 1)) {
    broken = true;
    return false;
  }
  type = static_cast<u8>(rest[0]);
  value = rest.substr(3, get_u16(rest.data() + 1));
  rest.remove_prefix(3 + value.size());
  return true;
}

bool checksum_holds(string_view header, string_view crc) {
  if (crc.size() != 4) return false;
  constexpr string_view zero{"\0\0\0\0", 4};
  size_t at = static_cast<size_t>(crc.data() - header.data());
  u32 c = crc32c(header.substr(0, at));
  c = crc32c(zero, c);
  c = crc32c(header.substr(at + 4), c);
  return c == get_u32(crc.data());
}

ProxyResult parse_v2(string_view bytes, ProxyHeader &out) {
  if (bytes.size() < 16) return {};
  u8 command = static_cast<u8>(bytes[12]), family = static_cast<u8>(bytes[13]);
  if (command != 0x20 && command != 0x21) return bad("PROXY header of an unknown version or command");
  size_t length = get_u16(bytes.data() + 14);
  if (bytes.size() < 16 + length) return {};
  out.version = 2;
  out.local = command == 0x20;
  string_view header = bytes.substr(0, 16 + length);
  size_t addresses = address_length(family);
  if (!out.local) {
    if (addresses == ~size_t{0} || (family & 15) > 2) return {ProxyStatus::BadFamily, 0, "PROXY header of an unknown family"};
    if (addresses > length) return bad("PROXY header too short for its addresses");
    out.datagram = (family & 15) == 2;
    read_addresses(bytes.data() + 16, family, out);
    if (addresses == 0) out.local = true;
  } else if (addresses > length) {
    addresses = length; // of LOCAL the family says nothing
  }
  string_view rest = header.substr(16 + addresses), value;
  out.tlvs = rest;
  bool broken = false;
  for (u8 type; next_tlv(rest, type, value, broken);)
    if (type == pp_crc32c && !checksum_holds(header, value)) return bad("PROXY header with a wrong checksum");
  if (broken) {
    if (command != 0x20) return bad("PROXY header with a field that is cut off");
    out.tlvs.clear();
  }
  return {ProxyStatus::Complete, static_cast<u32>(header.size()), ""};
}

bool begins_alike(string_view bytes, string_view signature) {
  size_t n = std::min(bytes.size(), signature.size());
  return bytes.substr(0, n) == signature.substr(0, n);
}

} // namespace

bool ProxyHeader::find(u8 type, string_view &value) const {
  string_view rest = tlvs;
  bool broken = false;
  for (u8 t; next_tlv(rest, t, value, broken);)
    if (t == type) return true;
  return false;
}

ProxyResult parse_proxy_header(string_view bytes, ProxyHeader &out) {
  out = {};
  if (begins_alike(bytes, v1_signature)) return bytes.size() < v1_signature.size() ? ProxyResult{} : parse_v1(bytes, out);
  if (begins_alike(bytes, v2_signature)) return bytes.size() < v2_signature.size() ? ProxyResult{} : parse_v2(bytes, out);
  return bad("not a PROXY header");
}

// ------------------------------------------------------------------------------------- NetScaler

/// Two forms: the length of what follows directly before the IP header, or total length, type 1 and length.
ProxyResult parse_netscaler_cip(string_view bytes, u32 magic, ProxyHeader &out) {
  out = {};
  const char *p = bytes.data();
  if (bytes.size() < 12) return {};
  if (get_u32(p) != magic) return bad("NetScaler CIP: wrong magic number");
  bool standard = p[8] == 0;
  size_t head = standard ? 12 : 8;
  if (standard && get_u16(p + 8) != 1) return bad("NetScaler CIP: unknown type");
  size_t length = standard ? get_u16(p + 10) : get_u32(p + 4);
  if (length < 40 || length > 200) return bad("NetScaler CIP: impossible length");
  if (standard && get_u32(p + 4) < length) return bad("NetScaler CIP: lengths that contradict each other");
  if (bytes.size() < head + length) return {};
  const char *ip = p + head;
  u8 version = static_cast<u8>(ip[0]) >> 4;
  size_t ip_bytes = version == 4 ? static_cast<size_t>(ip[0] & 15) * 4 : 40;
  if ((version != 4 && version != 6) || ip_bytes < 20 || ip_bytes + 4 > length) return {ProxyStatus::BadFamily, 0, "NetScaler CIP: not an IP header"};
  u8 protocol = static_cast<u8>(version == 4 ? ip[9] : ip[6]);
  if (protocol != 6) return {ProxyStatus::BadFamily, 0, "NetScaler CIP: not TCP"};
  const char *tcp = ip + ip_bytes;
  out.source = Address::from_ip(ip_from(version == 4 ? ip + 12 : ip + 8, version), static_cast<u16>(get_u16(tcp)));
  out.destination = Address::from_ip(ip_from(version == 4 ? ip + 16 : ip + 24, version), static_cast<u16>(get_u16(tcp + 2)));
  return {ProxyStatus::Complete, static_cast<u32>(head + length), ""};
}

u32 crc32c(string_view bytes, u32 state) {
  u32 c = ~state;
  for (char b : bytes) c = crc_table[(c ^ static_cast<u8>(b)) & 0xff] ^ c >> 8;
  return ~c;
}

} // namespace penstock
