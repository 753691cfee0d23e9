// SPDX-License-Identifier: BSD-2-Clause
// The HTTP/1 head parser: what it reads, and the table of what it refuses because two readers could differ.
#include <doctest/doctest.h>

#include <string>

#include "worker/http/h1_head.h"

using namespace penstock;

namespace {

struct Parsed {
  HeadResult r;
  HttpMessage msg;
  H1Framing framing;
};

Parsed request(string_view bytes, bool relaxed = false) {
  Parsed p;
  H1Limits limits;
  limits.relaxed = relaxed;
  u32 scanned = 0;
  p.r = parse_request_head(bytes, limits, scanned, p.msg, p.framing);
  return p;
}

Parsed response(string_view bytes, Method m = Method::Get, bool relaxed = false) {
  Parsed p;
  H1Limits limits;
  limits.relaxed = relaxed;
  u32 scanned = 0;
  p.r = parse_response_head(bytes, limits, m, scanned, p.msg, p.framing);
  return p;
}

} // namespace

TEST_CASE("a usual request") {
  string_view text = "GET /a?b=c HTTP/1.1\r\nHost: www.example.org\r\nUser-Agent:  curl \t\r\nX-Mixed-Case:\r\nCookie: a=b\r\n\r\nrest";
  auto p = request(text);
  REQUIRE(p.r.status == HeadStatus::Complete);
  CHECK(p.r.consumed == text.size() - 4);
  CHECK(p.msg.method() == Method::Get);
  CHECK(p.msg.method_text() == "GET");
  CHECK(p.msg.target() == "/a?b=c");
  CHECK(p.msg.version() == 11);
  REQUIRE(p.msg.size() == 4);
  CHECK(p.msg.name(0) == "host");
  CHECK(p.msg.get(Header::UserAgent) == "curl");
  CHECK(p.msg.name(2) == "x-mixed-case");
  CHECK(p.msg.value(2) == "");
  CHECK(p.framing.kind == BodyKind::None);
  CHECK(p.framing.keep_alive);
}

TEST_CASE("bytes that come one by one") {
  std::string text = "\r\nPOST / HTTP/1.1\r\nHost: a\r\nX: y\r\nContent-Length: 3\r\n\r\n";
  HttpMessage msg;
  H1Framing framing;
  H1Limits limits;
  u32 scanned = 0;
  for (size_t n = 1; n < text.size(); n++) {
    CAPTURE(n);
    CHECK(parse_request_head({text.data(), n}, limits, scanned, msg, framing).status == HeadStatus::NeedMore);
  }
  auto r = parse_request_head(text, limits, scanned, msg, framing);
  CHECK(r.status == HeadStatus::Complete);
  CHECK(r.consumed == text.size());
  CHECK(framing.kind == BodyKind::Length);
  CHECK(framing.length == 3);
}

TEST_CASE("requests that are refused, and the status to refuse with") {
  struct Row {
    string_view text;
    u16 status;
  };
  const Row rows[] = {
      // request line
      {"GET\r\n\r\n", 400}, {"GET /\r\n\r\n", 400}, {"GET /\r\n", 400}, {" GET / HTTP/1.1\r\n", 400}, {"GET  / HTTP/1.1\r\n\r\n", 400},
      {"GET /  HTTP/1.1\r\n\r\n", 400}, {"GET / HTTP/1.1 \r\n\r\n", 400}, {"GET /a b HTTP/1.1\r\n\r\n", 400}, {"GET /\tb HTTP/1.1\r\n", 400},
      {"G{T / HTTP/1.1\r\n\r\n", 400}, {"\x16\x03\x01", 400}, {"GET /\x80 HTTP/1.1\r\n", 400}, {"GET /#f HTTP/1.1\r\n", 400}, {"GET /\x7f HTTP/1.1\r\n", 400},
      {"GET / HTTP/0.9\r\n\r\n", 400}, {"GET / HTTP/2.0\r\n\r\n", 505}, {"GET / HTTP/1.10\r\n\r\n", 400}, {"GET / http/1.1\r\n\r\n", 400},
      {"GET / RTSP/1.0\r\n\r\n", 400}, {"GET / HTTP/1\r\nHost: a\r\n\r\n", 400}, {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505}, {"\rGET / HTTP/1.1\r\n", 400},
      // target forms and Host
      {"GET x HTTP/1.1\r\nHost: a\r\n\r\n", 400}, {"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400}, {"GET a:443 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n", 400}, {"GET http://a:81/ HTTP/1.1\r\nHost: a\r\n\r\n", 400}, {"GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n", 400}, {"CONNECT /x HTTP/1.1\r\nHost: a\r\n\r\n", 400}, {"CONNECT a:443 HTTP/1.1\r\nHost: b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400}, {"GET / HTTP/1.1\r\nHost: a,b\r\n\r\n", 400}, {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400}, {"GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", 400}, {"GET / HTTP/1.1\r\nHost: a:x\r\n\r\n", 400},
      // field lines
      {"GET / HTTP/1.1\r\nX : b\r\n\r\n", 400}, {"GET / HTTP/1.1\r\n X: b\r\n\r\n", 400}, {"GET / HTTP/1.1\r\nX: b\r\n c\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nX: b\r\n\tc\r\n\r\n", 400}, {"GET / HTTP/1.1\r\nX\r\n\r\n", 400}, {"GET / HTTP/1.1\r\n: b\r\n\r\n", 400},
      {string_view("GET / HTTP/1.1\r\nX\0: b\r\n\r\n", 25), 400}, {"GET / HTTP/1.1\r\nX(: b\r\n\r\n", 400}, {"GET / HTTP/1.1\r\nX\x80: b\r\n\r\n", 400},
      {string_view("GET / HTTP/1.1\r\nX: b\0c\r\n\r\n", 26), 400}, {"GET / HTTP/1.1\r\nX: b\rc\r\n\r\n", 400}, {"GET / HTTP/1.1\r\nX: b\r\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nX: b\nY: c\r\n\r\n", 400}, {"GET / HTTP/1.1\r\nX: b\r\n\n", 400}, {"GET / HTTP/1.1\r\nX: b\r\n\rn", 400},
      // framing
      {"POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n", 400}, {"POST / HTTP/1.1\r\nContent-Length: 3,4\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nContent-Length: 3,\r\n\r\n", 400}, {"POST / HTTP/1.1\r\nContent-Length: +3\r\n\r\n", 400}, {"POST / HTTP/1.1\r\nContent-Length: -3\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nContent-Length: 0x3\r\n\r\n", 400}, {"POST / HTTP/1.1\r\nContent-Length:\r\n\r\n", 400}, {"POST / HTTP/1.1\r\nContent-Length: 3 3\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nContent-Length: 18446744073709551616\r\n\r\n", 400}, {"POST / HTTP/1.1\r\nContent-Length: 9223372036854775808\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400}, {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked, gzip\r\n\r\n", 400}, {"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 422},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", 400}, {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 400}, {"POST / HTTP/1.1\r\nTransfer-Encoding: identity\r\n\r\n", 400}, {"POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nTransfer-Encoding:\r\n\r\n", 400}, {"POST / HTTP/1.1\r\nTransfer-Encoding: , chunked\r\n\r\n", 400}, {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked;a=b\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: \x0b" "chunked\r\n\r\n", 400}, {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nTransfer-Encoding\r\n: chunked\r\n\r\n", 400}, {"POST / HTTP/1.1\r\nTransfer-Encoding : chunked\r\n\r\n", 400},
      {"GET / HTTP/1.0\r\nContent-Length: 3\r\n\r\n", 413}, {"CONNECT a:1 HTTP/1.1\r\nContent-Length: 3\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n", 400},
  };
  for (const Row &row : rows) {
    CAPTURE(row.text);
    auto p = request(row.text);
    CHECK(p.r.status == HeadStatus::Bad);
    CHECK(p.r.refuse_with == row.status);
    CHECK(*p.r.error);
    CHECK(p.r.error_at <= row.text.size());
  }
}

TEST_CASE("requests that are accepted although they look odd") {
  const string_view rows[] = {
      "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\nHost: a\n\n", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", "get / HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET / HTTP/1.1\r\nHost: a:\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
      "GET ftp://a/x HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", "\r\n\r\nGET / HTTP/1.1\r\n\r\n",
      "GET /\"<>\\^`{|} HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nX: b\xff\x01\x7f\r\n\r\n", "GET / HTTP/1.1\r\nX_a: b\r\n\r\n",
  };
  for (string_view text : rows) {
    CAPTURE(text);
    CHECK(request(text).r.status == HeadStatus::Complete);
  }
}

TEST_CASE("one spelling of length, host and target goes on") {
  auto p = request("POST http://a:80 HTTP/1.1\r\nHost: a:80\r\nContent-Length: 003, 3\r\nContent-Length: 3\r\n\r\n");
  REQUIRE(p.r.status == HeadStatus::Complete);
  CHECK(p.msg.target() == "http://a/");
  CHECK(p.msg.get(Header::Host) == "a");
  CHECK(p.msg.size() == 2);
  CHECK(p.msg.get(Header::ContentLength) == "3");
  CHECK(request("CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n").msg.get(Header::Host) == "a");
  CHECK(request("GET / HTTP/1.1\r\nHost: a:80\r\n\r\n").msg.get(Header::Host) == "a:80");
}

TEST_CASE("what the relaxing option lets through") {
  CHECK(request("GET /\x80#f HTTP/1.1\r\n\r\n", true).msg.target() == "/\x80#f");
  CHECK(request("GET /\r\n\r\n", true).r.status == HeadStatus::Complete);
  CHECK(request("GET / RTSP/1.0\r\n\r\n", true).msg.version() == 10);
  CHECK(request("GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n", true).r.status == HeadStatus::Complete);
  auto p = request("GET / HTTP/1.1\r\nX(: b\r\nY: c\r\n\r\n", true);
  CHECK(p.r.status == HeadStatus::Complete);
  CHECK(p.msg.size() == 1);
  auto q = request("POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", true);
  REQUIRE(q.r.status == HeadStatus::Complete);
  CHECK(q.framing.kind == BodyKind::Chunked);
  CHECK_FALSE(q.framing.keep_alive);
  CHECK(q.msg.find(Header::ContentLength) == HttpMessage::npos);
}

TEST_CASE("persistence and upgrade of requests") {
  CHECK_FALSE(request("GET / HTTP/1.0\r\n\r\n").framing.keep_alive);
  CHECK(request("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").framing.keep_alive);
  auto p = request("GET / HTTP/1.1\r\nConnection: foo, Close\r\n\r\n");
  CHECK_FALSE(p.framing.keep_alive);
  CHECK(p.framing.close_said);
  CHECK(request("GET / HTTP/1.1\r\nUpgrade: foo\r\nConnection: upgrade\r\n\r\n").framing.upgrade);
  CHECK(request("GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Key: x\r\n\r\n").framing.upgrade);
  auto q = request("GET / HTTP/1.1\r\nUpgrade: foo\r\nConnection: upgrade\r\nContent-Length: 3\r\n\r\n");
  CHECK_FALSE(q.framing.upgrade);
  CHECK(q.msg.find(Header::Upgrade) == HttpMessage::npos);
  CHECK(request("POST / HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 3\r\n\r\n").framing.expect_continue);
}

TEST_CASE("sizes") {
  std::string many = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 100; i++) many += "X: y\r\n";
  CHECK(request(many + "\r\n").r.status == HeadStatus::Complete);
  many += "X: y\r\n";
  CHECK(request(many + "\r\n").r.status == HeadStatus::Bad);
  std::string uri = "GET /" + std::string(20000, 'a');
  auto p = request(uri + " HTTP/1.1\r\n\r\n");
  CHECK(p.r.status == HeadStatus::TooLarge);
  CHECK(p.r.refuse_with == 414);
  CHECK(request(uri).r.status == HeadStatus::TooLarge);
  auto q = request("GET / HTTP/1.1\r\nX: " + std::string(20000, 'a'));
  CHECK(q.r.status == HeadStatus::TooLarge);
  CHECK(q.r.refuse_with == 431);
}

TEST_CASE("responses: framing") {
  auto p = response("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc");
  REQUIRE(p.r.status == HeadStatus::Complete);
  CHECK(p.msg.status() == 200);
  CHECK(p.msg.reason() == "OK");
  CHECK(p.framing.kind == BodyKind::Length);
  CHECK(p.framing.keep_alive);
  CHECK(response("HTTP/1.1 200\r\n\r\n").framing.kind == BodyKind::UntilClose);
  CHECK_FALSE(response("HTTP/1.1 200\r\n\r\n").framing.keep_alive);
  CHECK(response("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", Method::Head).framing.kind == BodyKind::None);
  CHECK(response("HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n").framing.kind == BodyKind::None);
  auto n = response("HTTP/1.1 204 No\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n");
  CHECK(n.framing.kind == BodyKind::None);
  CHECK(n.msg.size() == 0);
  CHECK(response("HTTP/1.1 101 Sw\r\n\r\n").framing.kind == BodyKind::Tunnel);
  CHECK(response("HTTP/1.1 200 OK\r\n\r\n", Method::Connect).framing.kind == BodyKind::Tunnel);
  CHECK(response("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\n", Method::Connect).framing.kind == BodyKind::Length);
  auto both = response("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n");
  CHECK(both.framing.kind == BodyKind::Chunked);
  CHECK_FALSE(both.framing.keep_alive);
  CHECK(both.msg.find(Header::ContentLength) == HttpMessage::npos);
  CHECK(response("HTTP/1.1 200 OK\r\nX: y\r\n z\r\n\r\n").msg.value(0) == "y   z");
  CHECK(response("HTTP/1.1 200 OK\r\nX:\r\n \r\n z\r\n \r\n\r\n").msg.value(0) == "z");
}

TEST_CASE("responses that are refused") {
  const string_view rows[] = {
      "garbage\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 099 x\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n", "HTTP/1.1 200 OK\r\nX : y\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\r\n", "HTTP/1.1 200 O\rK\r\n\r\n",
  };
  for (string_view text : rows) {
    CAPTURE(text);
    auto p = response(text);
    CHECK(p.r.status == HeadStatus::Bad);
    CHECK(p.r.refuse_with == 502);
  }
  CHECK(response("HTTP/1.1 404\r\n\r\n").msg.reason() == "Not Found");
  CHECK(response("HTTP/1.1 200 OK\r\nX: y\nContent-Length: 0\n\r\n").msg.size() == 2);
  CHECK(response("HTTP/1.1 1200 OK\r\n\r\n", Method::Get, true).msg.status() == 1200);
}

TEST_CASE("fields for one hop only end here") {
  auto p = request("GET / HTTP/1.1\r\nX-Foo: 1\r\nHost: a\r\nConnection: x-foo, X-Bar, cookie\r\nCookie: a=b\r\nX-Bar: 2\r\nX-Foo: 3\r\nTE: trailers, gzip\r\nX-Baz: 4\r\n\r\n");
  REQUIRE(p.r.status == HeadStatus::Complete);
  REQUIRE(p.msg.size() == 5);
  CHECK(p.msg.name(0) == "host");
  CHECK(p.msg.get(Header::Cookie) == "a=b"); // what means something to the server stays
  CHECK(p.msg.get(Header::TE) == "trailers");
  CHECK(p.msg.find("x-baz") != HttpMessage::npos);
  CHECK(request("GET / HTTP/1.1\r\nTE: gzip\r\n\r\n").msg.size() == 0);
  CHECK(request("POST / HTTP/1.1\r\nTransfer-Encoding: ChunKed\r\n\r\n").msg.get(Header::TransferEncoding) == "chunked");
}
