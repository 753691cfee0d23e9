// SPDX-License-Identifier: BSD-2-Clause
// Writing PROXY headers for `send-proxy` and `send-proxy-v2`.
#include <cstring>

#include "shared/base/text.h"
#include "worker/net/proxy_proto.h"

namespace penstock {

namespace {

/// Appends within bounds; what does not fit makes the whole header fail.
class Out {
 public:
  Out(char *at, size_t capacity) : begin_(at), p_(at), end_(at + capacity) {}
  void put(string_view s) {
    if (static_cast<size_t>(end_ - p_) < s.size()) {
      full_ = true;
      return;
    }
    if (!s.empty()) std::memcpy(p_, s.data(), s.size());
    p_ += s.size();
  }
  void put_u8(u8 v) {
    char c = static_cast<char>(v);
    put({&c, 1});
  }
  void put_u16(size_t v) {
    put_u8(static_cast<u8>(v >> 8));
    put_u8(static_cast<u8>(v));
  }
  void put_u32(u32 v) {
    put_u16(v >> 16);
    put_u16(v & 0xffff);
  }
  void patch_u16(size_t at, size_t v) {
    if (full_) return;
    begin_[at] = static_cast<char>(v >> 8);
    begin_[at + 1] = static_cast<char>(v);
  }
  void tlv(u8 type, string_view value) {
    if (value.size() > 0xffff) {
      full_ = true;
      return;
    }
    put_u8(type);
    put_u16(value.size());
    put(value);
  }
  size_t size() const { return static_cast<size_t>(p_ - begin_); }
  size_t done() const { return full_ ? 0 : size(); }
  bool full() const { return full_; }
  char *data() { return begin_; }

 private:
  char *begin_, *p_, *end_;
  bool full_ = false;
};

void put_ip_text(Out &o, const Ip &ip) {
  char text[64];
  o.put({text, ip.write(text)});
}

void put_number(Out &o, u64 v) {
  char text[24];
  o.put({text, static_cast<size_t>(write_u64(text, v) - text)});
}

void put_ip(Out &o, const Ip &ip, bool as_v6) {
  if (as_v6) o.put({reinterpret_cast<const char *>((ip.is_v4() ? ip.to_v6() : ip).bytes.data()), 16});
  else o.put({reinterpret_cast<const char *>(ip.bytes.data()), 4});
}

void put_path(Out &o, const Address &a) {
  char block[108] = {};
  std::memcpy(block, a.path.data(), std::min(a.path.size(), sizeof block));
  o.put({block, sizeof block});
}

/// Two addresses in the family that both can be told in: v6 as soon as one of them is.
void put_addresses(Out &o, const Address &s, const Address &d) {
  if (s.is_inet() && d.is_inet()) {
    bool v6 = s.ip.is_v6() || d.ip.is_v6();
    o.put_u8(v6 ? 0x21 : 0x11);
    o.put_u16(0);
    put_ip(o, s.ip, v6);
    put_ip(o, d.ip, v6);
    o.put_u16(s.port);
    o.put_u16(d.port);
  } else if (s.family == AF_UNIX && d.family == AF_UNIX) {
    o.put_u8(0x31);
    o.put_u16(0);
    put_path(o, s);
    put_path(o, d);
  } else {
    o.put_u8(0);
    o.put_u16(0);
  }
}

void put_tls(Out &o, u32 options, const ProxyFacts &f) {
  size_t at = o.size();
  o.put_u8(pp_ssl);
  o.put_u16(0);
  o.put_u8(static_cast<u8>((f.client_tls ? 1 : 0) | (f.client_cert ? 2 : 0) | (f.client_cert_session ? 4 : 0)));
  o.put_u32(f.cert_verified ? 0 : 1);
  if (f.client_tls) {
    o.tlv(pp_ssl_version, f.tls_version);
    struct {
      u32 option;
      u8 type;
      string_view value;
    } const parts[] = {{proxy_v2_cert_cn, pp_ssl_cn, f.cert_cn}, {proxy_v2_cert_key, pp_ssl_key_alg, f.key},
                       {proxy_v2_cert_sig, pp_ssl_sig_alg, f.signature}, {proxy_v2_ssl_cipher, pp_ssl_cipher, f.cipher}};
    for (const auto &part : parts)
      if ((options & part.option) && !part.value.empty()) o.tlv(part.type, part.value);
  }
  o.patch_u16(at + 1, o.size() - at - 3);
}

} // namespace

size_t write_proxy_v1(const Address &source, const Address &destination, char *out, size_t capacity) {
  Out o(out, capacity);
  if (!source.is_inet() || !destination.is_inet()) {
    o.put("PROXY UNKNOWN\r\n");
    return o.done();
  }
  bool v6 = source.ip.is_v6() || destination.ip.is_v6();
  o.put(v6 ? "PROXY TCP6 " : "PROXY TCP4 ");
  put_ip_text(o, v6 && source.ip.is_v4() ? source.ip.to_v6() : source.ip);
  o.put(" ");
  put_ip_text(o, v6 && destination.ip.is_v4() ? destination.ip.to_v6() : destination.ip);
  o.put(" ");
  put_number(o, source.port);
  o.put(" ");
  put_number(o, destination.port);
  o.put("\r\n");
  return o.done();
}

size_t write_proxy_v2(const Address *source, const Address *destination, u32 options, const ProxyFacts &facts,
                      std::span<const ProxyTlv> more, char *out, size_t capacity) {
  Out o(out, capacity);
  o.put({"\r\n\r\n\0\r\nQUIT\n", 12});
  o.put_u8(source ? 0x21 : 0x20);
  if (source && destination) {
    put_addresses(o, *source, *destination);
  } else {
    o.put_u8(0);
    o.put_u16(0);
  }
  size_t crc_at = 0;
  if (options & proxy_v2_crc32c) {
    crc_at = o.size() + 3;
    o.tlv(pp_crc32c, {"\0\0\0\0", 4});
  }
  if (!facts.alpn.empty()) o.tlv(pp_alpn, facts.alpn);
  if ((options & proxy_v2_authority) && !facts.authority.empty()) o.tlv(pp_authority, facts.authority);
  if ((options & proxy_v2_unique_id) && !facts.unique_id.empty()) o.tlv(pp_unique_id, facts.unique_id.substr(0, 128));
  for (const ProxyTlv &t : more) o.tlv(t.first, t.second);
  if (options & (proxy_v2_ssl | proxy_v2_cert_cn | proxy_v2_ssl_cipher | proxy_v2_cert_sig | proxy_v2_cert_key)) put_tls(o, options, facts);
  if (o.full() || o.size() - 16 > 0xffff) return 0;
  o.patch_u16(14, o.size() - 16);
  if (crc_at) {
    u32 c = crc32c({out, o.size()});
    o.patch_u16(crc_at, c >> 16);
    o.patch_u16(crc_at + 2, c & 0xffff);
  }
  return o.done();
}

} // namespace penstock
