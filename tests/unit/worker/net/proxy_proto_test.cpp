// SPDX-License-Identifier: BSD-2-Clause
// PROXY headers: both versions are read and written, and what is malformed is refused at once.
#include <doctest/doctest.h>

#include "worker/net/proxy_proto.h"

using namespace penstock;

namespace {

ProxyResult parse(string_view bytes, ProxyHeader &h) { return parse_proxy_header(bytes, h); }
Address at(const char *ip, u16 port) { return Address::from_ip(*parse_ip(ip), port); }

std::string v2(u8 command, u8 family, std::string_view body) {
  std::string s("\r\n\r\n\0\r\nQUIT\n", 12);
  s += static_cast<char>(command);
  s += static_cast<char>(family);
  s += static_cast<char>(body.size() >> 8);
  s += static_cast<char>(body.size());
  return s.append(body);
}

} // namespace

TEST_CASE("PROXY version 1") {
  ProxyHeader h;
  string_view text = "PROXY TCP4 192.168.0.1 10.0.0.1 56324 443\r\nGET";
  for (size_t n = 0; n < text.size() - 3; n++) CHECK(parse(text.substr(0, n), h).status == ProxyStatus::NeedMore);
  auto r = parse(text, h);
  REQUIRE(r.status == ProxyStatus::Complete);
  CHECK(r.consumed == text.size() - 3);
  CHECK(h.source == at("192.168.0.1", 56324));
  CHECK(h.destination == at("10.0.0.1", 443));
  REQUIRE(parse("PROXY TCP6 ::1 2001:db8::1 1 2\r\n", h).status == ProxyStatus::Complete);
  CHECK(h.source == at("::1", 1));
  REQUIRE(parse("PROXY UNKNOWN whatever\r\n", h).status == ProxyStatus::Complete);
  CHECK(h.local);
  CHECK(parse("PROXY UNKNOWN\r\n", h).status == ProxyStatus::Complete);
}

TEST_CASE("PROXY lines that are refused") {
  ProxyHeader h;
  const string_view rows[] = {
      "GET / HTTP/1.1\r\n", "PROXY  TCP4 1.2.3.4 1.2.3.4 1 2\r\n", "PROXY TCP4 1.2.3.4  1.2.3.4 1 2\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n", "PROXY TCP4 ::1 ::1 1 2\r\n",
      "PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 01 2\r\n",
      "PROXY TCP4 1.2.3.4 1.2.3.4 1 2 \r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n", "PROXY TCP4 1.2.3.256 1.2.3.4 1 2\r\n", "PROXY \r\n", "PROXY TCP4\r\n", "proxy TCP4 1.2.3.4 1.2.3.4 1 2\r\n",
      "PROXY TCP4 1.2.3.4 1.2.3.4 -1 2\r\n",
  };
  for (string_view text : rows) {
    CAPTURE(text);
    CHECK(parse(text, h).status == ProxyStatus::Bad);
  }
  CHECK(parse("PROXY TCP9 1.2.3.4 1.2.3.4 1 2\r\n", h).status == ProxyStatus::BadFamily);
  CHECK(parse("PROXY UNKNOWN " + std::string(100, 'x'), h).status == ProxyStatus::Bad);
}

TEST_CASE("PROXY version 2 as written is read back") {
  char buf[1024];
  Address s = at("192.168.0.1", 56324), d = at("10.0.0.1", 443), d6 = at("2001:db8::1", 443), u;
  u.family = AF_UNIX;
  u.path = "/run/x.sock";
  ProxyFacts facts;
  facts.authority = "example.org";
  facts.unique_id = "id-1";
  facts.client_tls = true;
  facts.tls_version = "TLSv1.3";
  facts.cipher = "AES";
  ProxyTlv more[] = {{0xE1, "mine"}};
  size_t n = write_proxy_v2(&s, &d, proxy_v2_crc32c | proxy_v2_authority | proxy_v2_unique_id | proxy_v2_ssl | proxy_v2_ssl_cipher, facts, more, buf, sizeof buf);
  REQUIRE(n > 0);
  ProxyHeader h;
  for (size_t i = 0; i < n; i++) CHECK(parse({buf, i}, h).status == ProxyStatus::NeedMore);
  auto r = parse({buf, n}, h);
  REQUIRE(r.status == ProxyStatus::Complete);
  CHECK(r.consumed == n);
  CHECK(h.source == s);
  CHECK(h.destination == d);
  string_view v;
  CHECK(h.find(pp_authority, v));
  CHECK(v == "example.org");
  CHECK(h.find(0xE1, v));
  CHECK(v == "mine");
  CHECK(h.find(pp_ssl, v));
  CHECK(v.size() == 5 + 3 + 7 + 3 + 3);
  CHECK_FALSE(h.find(pp_alpn, v));
  buf[20] = static_cast<char>(buf[20] ^ 1); // a byte of the address: the checksum tells
  CHECK(parse({buf, n}, h).status == ProxyStatus::Bad);

  n = write_proxy_v2(&s, &d6, 0, {}, {}, buf, sizeof buf);
  CHECK(n == 16 + 36);
  REQUIRE(parse({buf, n}, h).status == ProxyStatus::Complete);
  CHECK(h.destination == d6);
  CHECK(h.source.ip.to_v4() == s.ip);
  n = write_proxy_v2(&u, &u, 0, {}, {}, buf, sizeof buf);
  CHECK(n == 16 + 216);
  REQUIRE(parse({buf, n}, h).status == ProxyStatus::Complete);
  CHECK(h.source == u);
  n = write_proxy_v2(nullptr, nullptr, 0, {}, {}, buf, sizeof buf);
  CHECK(n == 16);
  REQUIRE(parse({buf, n}, h).status == ProxyStatus::Complete);
  CHECK(h.local);
  CHECK(write_proxy_v2(&s, &d, 0, {}, {}, buf, 27) == 0);
}

TEST_CASE("PROXY version 2: what is malformed") {
  ProxyHeader h;
  std::string a12(12, '\1');
  CHECK(parse(v2(0x21, 0x11, a12), h).status == ProxyStatus::Complete);
  CHECK(parse(v2(0x31, 0x11, a12), h).status == ProxyStatus::Bad);
  CHECK(parse(v2(0x22, 0x11, a12), h).status == ProxyStatus::Bad);
  CHECK(parse(v2(0x21, 0x41, a12), h).status == ProxyStatus::BadFamily);
  CHECK(parse(v2(0x21, 0x13, a12), h).status == ProxyStatus::BadFamily);
  CHECK(parse(v2(0x21, 0x11, a12.substr(1)), h).status == ProxyStatus::Bad);
  CHECK(parse(v2(0x21, 0x11, a12 + std::string("\2\0", 2)), h).status == ProxyStatus::Bad);
  CHECK(parse(v2(0x21, 0x11, a12 + std::string("\2\0\5abcd", 7)), h).status == ProxyStatus::Bad);
  CHECK(parse(v2(0x21, 0x11, a12 + std::string("\3\0\4abcd", 7)), h).status == ProxyStatus::Bad);
  CHECK(parse(v2(0x20, 0x11, "xy"), h).status == ProxyStatus::Complete);
  CHECK(parse(v2(0x21, 0x00, ""), h).status == ProxyStatus::Complete);
  CHECK(h.local);
  CHECK(parse("\r\n\r\nX", h).status == ProxyStatus::Bad);
}

TEST_CASE("version 1 as written") {
  char buf[128];
  CHECK(string_view(buf, write_proxy_v1(at("1.2.3.4", 5), at("6.7.8.9", 10), buf, sizeof buf)) == "PROXY TCP4 1.2.3.4 6.7.8.9 5 10\r\n");
  CHECK(string_view(buf, write_proxy_v1(at("1.2.3.4", 5), at("::1", 10), buf, sizeof buf)) == "PROXY TCP6 ::ffff:1.2.3.4 ::1 5 10\r\n");
  CHECK(string_view(buf, write_proxy_v1({}, {}, buf, sizeof buf)) == "PROXY UNKNOWN\r\n");
}

TEST_CASE("NetScaler's insertion in both forms") {
  std::string ip("\x45\0\0\x28\0\0\0\0\x40\x06\0\0\x0a\0\0\1\x0a\0\0\2", 20), tcp("\x12\x34\0\x50", 4);
  tcp.resize(20);
  std::string legacy = std::string("\0\0\0\x4d\0\0\0\x28", 8) + ip + tcp;
  std::string standard = std::string("\0\0\0\x4d\0\0\0\x34\0\1\0\x28", 12) + ip + tcp;
  for (const std::string &text : {legacy, standard}) {
    ProxyHeader h;
    for (size_t n = 0; n < text.size(); n++) CHECK(parse_netscaler_cip({text.data(), n}, 0x4d, h).status == ProxyStatus::NeedMore);
    auto r = parse_netscaler_cip(text, 0x4d, h);
    REQUIRE(r.status == ProxyStatus::Complete);
    CHECK(r.consumed == text.size());
    CHECK(h.source == at("10.0.0.1", 0x1234));
    CHECK(h.destination == at("10.0.0.2", 80));
    CHECK(parse_netscaler_cip(text, 0x4e, h).status == ProxyStatus::Bad);
  }
}

TEST_CASE("CRC32C") { CHECK(crc32c("123456789") == 0xe3069283u); }
