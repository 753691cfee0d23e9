// SPDX-License-Identifier: BSD-2-Clause
#include <doctest/doctest.h>

#include <string>

#include "shared/http/header_case.h"
#include "shared/http/message.h"
#include "worker/http/h1_write.h"

using namespace penstock;

TEST_CASE("every known name is found, in any case, and nothing else") {
  for (int i = 1; i < static_cast<int>(Header::count_); i++) {
    auto id = static_cast<Header>(i);
    std::string name(header_name(id));
    CAPTURE(name);
    CHECK(header_of(name) == id);
    for (char &c : name) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
    CHECK(header_of(name) == id);
    name[1] = static_cast<char>(name[1] ^ 0x40);
    CHECK(header_of(name) == Header::Other);
  }
  CHECK(header_of("") == Header::Other);
  CHECK(header_of("x") == Header::Other);
  CHECK(header_of("content\rlength") == Header::Other);
  CHECK(header_of("content-lengthh") == Header::Other);
}

TEST_CASE("methods and reasons") {
  CHECK(method_of("GET") == Method::Get);
  CHECK(method_of("get") == Method::Other);
  CHECK(method_name(Method::Patch) == "PATCH");
  CHECK(reason_phrase(404) == "Not Found");
  CHECK(reason_phrase(499) == "");
}

TEST_CASE("fields are added, replaced and removed") {
  HttpMessage m;
  m.make_request("GET", "/x");
  m.add("X-One", "1");
  m.add(Header::Host, "a");
  m.add("X-one", "2");
  CHECK(m.size() == 3);
  CHECK(m.name(0) == "x-one");
  CHECK(m.find("X-ONE", 1) == 2);
  m.set("X-One", m.value(2)); // a view of itself
  CHECK(m.size() == 2);
  CHECK(m.value(m.find("x-one")) == "2");
  m.set_value(0, "b");
  CHECK(m.get(Header::Host) == "b");
  for (int i = 0; i < 50; i++) m.add(m.name(1), m.value(1));
  CHECK(m.value(51) == "2");
  CHECK(m.remove_all("X-ONE") == 51);
  CHECK(m.remove_all(Header::Host) == 1);
  CHECK(m.size() == 0);
}

TEST_CASE("heads on the wire") {
  HttpMessage m;
  m.make_request("GET", "/x");
  m.add("Host", "a");
  char buf[256];
  CHECK(string_view(buf, write_request_head(m, buf, sizeof buf)) == "GET /x HTTP/1.1\r\nhost: a\r\n\r\n");
  CHECK(write_request_head(m, buf, 20) == 0);
  m.make_response(503, "Service Unavailable", 10);
  CHECK(string_view(buf, write_response_head(m, buf, sizeof buf)) == "HTTP/1.0 503 Service Unavailable\r\n\r\n");
  CHECK(string_view(buf, write_chunk_size(0, buf)) == "0\r\n");
  CHECK(string_view(buf, write_chunk_size(0x1a2b, buf)) == "1a2b\r\n");
  CHECK(string_view(buf, write_chunk_size(~u64{0}, buf)) == "ffffffffffffffff\r\n");
}

TEST_CASE("names in the spelling that a peer insists on") {
  std::map<std::string, std::string> spellings = {{"content-length", "Content-Length"}, {"x-a", "X-A"}};
  HeaderCase spelling(spellings);
  HttpMessage m;
  m.make_response(200, "OK");
  m.add("content-length", "0");
  m.add("x-a", "1");
  m.add("x-b", "2");
  char buf[256];
  CHECK(string_view(buf, write_response_head(m, buf, sizeof buf, &spelling)) == "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-A: 1\r\nx-b: 2\r\n\r\n");
}
