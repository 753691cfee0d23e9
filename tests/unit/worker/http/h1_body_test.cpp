// SPDX-License-Identifier: BSD-2-Clause
#include <doctest/doctest.h>

#include <string>

#include "worker/http/h1_body.h"

using namespace penstock;
using What = ChunkDecoder::What;

namespace {

/// Decodes `wire` given in pieces of `step` bytes, keeping what NeedMore was said of. "!" is appended when it is bad,
/// "…" when it is not over; what is left behind the end follows a "|".
std::string decode(string_view wire, size_t step, std::string *trailers = nullptr) {
  ChunkDecoder d;
  std::string out, held;
  for (size_t at = 0; at < wire.size();) {
    held += wire.substr(at, step);
    at += step;
    for (;;) {
      auto s = d.next(held);
      if (s.what == What::NeedMore) break;
      if (s.what == What::Bad) return out + "!";
      if (s.what == What::Data) {
        out += held.substr(0, s.bytes);
        d.consumed(s.bytes);
      }
      held.erase(0, s.bytes);
      if (s.what == What::End) {
        if (trailers) *trailers = d.trailers();
        return out + "|" + held;
      }
    }
  }
  return out + "…";
}

} // namespace

TEST_CASE("chunks in pieces of any size") {
  for (size_t step = 1; step < 40; step++) {
    CAPTURE(step);
    CHECK(decode("3\r\nabc\r\n00A;x=\"y\"\r\n0123456789\r\n0\r\n\r\n", step) == "abc0123456789|");
  }
  CHECK(decode("0\r\n\r\nGET /", 100) == "|GET /");
  CHECK(decode("3\r\nab", 1) == "ab…");
}

TEST_CASE("trailers are kept but for those that have no place there") {
  std::string trailers;
  CHECK(decode("1\r\nx\r\n0\r\nX-Sum: 1\r\nContent-Length: 5\r\nHost: b\r\nY: 2\r\n\r\n", 1, &trailers) == "x|");
  CHECK(trailers == "X-Sum: 1\r\nY: 2\r\n");
}

TEST_CASE("framing that could be read in two ways") {
  const string_view rows[] = {
      "3\nabc\r\n0\r\n\r\n", " 3\r\nabc", "0x3\r\nabc", "+3\r\nabc", "-1\r\nabc", "g\r\nabc", "\r\nabc", "3 3\r\nabc", "ffffffffffffffff\r\nabc", "8000000000000000\r\nabc",
      "10000000000000003\r\nabc", "3;a\x01\r\nabc", "3;a\rb\r\nabc", "0\r\nbad line\r\n\r\n", "0\r\nX : y\r\n\r\n", "0\r\nX: y\n\r\n", "0\r\nX: y\r\n z\r\n\r\n", "0\r\n: y\r\n\r\n",
  };
  for (string_view wire : rows) {
    CAPTURE(wire);
    CHECK(decode(wire, 1) == "!");
    CHECK(decode(wire, 100) == "!");
  }
  CHECK(decode("3\r\nabcd\r\n", 1) == "abc!");
  CHECK(decode("3\r\nabc\n0\r\n\r\n", 100) == "abc!");
  CHECK(decode("3;" + std::string(2000, 'a') + "\r\nabc", 100) == "!");
  std::string many = "0\r\n";
  for (int i = 0; i < 1000; i++) many += "X-Trailer: y\r\n";
  CHECK(decode(many + "\r\n", 100) == "!");
}
