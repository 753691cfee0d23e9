// SPDX-License-Identifier: BSD-2-Clause
#include <doctest/doctest.h>

#include <memory>

#include "worker/http/error_capture.h"

using namespace penstock;

TEST_CASE("the last bad message and the place where reading stopped") {
  auto at = std::make_unique<ErrorCapture>(), copy = std::make_unique<ErrorCapture>();
  CHECK_FALSE(read_capture(*at, *copy));
  H1Limits limits;
  HttpMessage msg;
  H1Framing framing;
  u32 scanned = 0;
  string_view text = "GET / HTTP/1.1\r\nX\xff: y\\\r\n\r\n";
  HeadResult r = parse_request_head(text, limits, scanned, msg, framing);
  REQUIRE(r.status == HeadStatus::Bad);
  ErrorOrigin origin;
  origin.source = Address::from_ip(*parse_ip("10.0.0.1"), 80);
  capture_error(*at, false, origin, r, text);
  REQUIRE(read_capture(*at, *copy));
  CHECK(copy->position == 17);
  CHECK(copy->total == text.size());
  CHECK(string_view(copy->why) == "bad character in a field name");
  CHECK(copy->source == *parse_ip("10.0.0.1"));
  std::string out;
  print_captured_bytes(*copy, out);
  CHECK(out == "  00000  GET / HTTP/1.1\\r\\n\n  00016  X\\xFF: y\\\\\\r\\n\n  00024  \\r\\n\n");
  at->version++; // a writer is at it, or died there
  CHECK_FALSE(read_capture(*at, *copy));
}

TEST_CASE("long lines are cut") {
  auto at = std::make_unique<ErrorCapture>(), copy = std::make_unique<ErrorCapture>();
  HeadResult r;
  capture_error(*at, true, {}, r, std::string(20000, 'a'));
  REQUIRE(read_capture(*at, *copy));
  CHECK(copy->total == 20000);
  CHECK(copy->stored == ErrorCapture::most_bytes);
  std::string out;
  print_captured_bytes(*copy, out);
  CHECK(out.starts_with("  00000  " + std::string(70, 'a') + "\n  00070+ a"));
}
