// SPDX-License-Identifier: BSD-2-Clause
#include <doctest/doctest.h>

#include <string>

#include "worker/stream/error_page.h"

using namespace penstock;

TEST_CASE("error pages have the lengths that logs of the same traffic show elsewhere") {
  struct Row {
    u16 status;
    size_t bytes;
  };
  const Row rows[] = {{200, 58}, {400, 90}, {401, 112}, {403, 93}, {404, 83}, {405, 147}, {407, 112}, {408, 110}, {410, 114}, {413, 106}, {414, 110},
                      {421, 104}, {422, 116}, {425, 80}, {429, 117}, {431, 105}, {500, 97}, {501, 135}, {502, 107}, {503, 107}, {504, 92}};
  for (const Row &row : rows) {
    CAPTURE(row.status);
    HttpMessage head;
    bool close = false;
    string_view body = build_error_page(row.status, head, close);
    CHECK(body.size() == row.bytes);
    CHECK(head.status() == row.status);
    CHECK(head.get(Header::ContentLength) == std::to_string(row.bytes));
    CHECK(head.get(Header::CacheControl) == "no-cache");
    CHECK(head.name(2) == "content-type");
    CHECK(body.find("<h1>" + std::to_string(row.status) + " " + std::string(head.reason()) + "</h1>") != string_view::npos);
    CHECK(close == (row.status == 400 || row.status == 408));
  }
  HttpMessage head;
  bool close = false;
  CHECK(build_error_page(299, head, close) == "");
  CHECK(head.reason() == "Success");
  CHECK(head.get(Header::ContentLength) == "0");
}

TEST_CASE("error files") {
  HttpMessage head;
  string_view body;
  bool close = false;
  REQUIRE(build_from_file("HTTP/1.0 503 Sorry\r\nConnection: close\r\nContent-Type: text/html\r\n\r\n<html>", head, body, close));
  CHECK(close);
  CHECK(body == "<html>");
  CHECK(head.status() == 503);
  CHECK(head.size() == 1);
  close = false;
  REQUIRE(build_from_file("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", head, body, close));
  CHECK_FALSE(close);
  CHECK_FALSE(build_from_file("nonsense", head, body, close));
}

TEST_CASE("a redirect instead of a page; heads without length") {
  HttpMessage head;
  build_error_redirect(303, "http://x/", head);
  CHECK(head.reason() == "See Other");
  CHECK(head.get(Header::Location) == "http://x/");
  head.make_response(204, reason_for(204));
  finish_reply_head(head, 0, {});
  CHECK(head.size() == 0);
}
