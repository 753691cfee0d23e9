// SPDX-License-Identifier: BSD-2-Clause
// The checker and the reader on a database of one node, made by hand, and on every damage of one byte to it.
#include <doctest/doctest.h>

#include "shared/mmdb/check.h"

using namespace penstock;

namespace {

/// IPv4, 24 bits: 0/1 leads to {"isp": "One"}, 128/1 to nothing.
std::string tiny() {
  std::string s("\x00\x00\x11\x00\x00\x01", 6); // left: 1 + 16 + 0; right: nothing
  s += std::string(16, '\0');
  s += "\xe1\x43isp\x43One";
  s += "\xab\xcd\xefMaxMind.com";
  s += "\xe6";
  s += "\x5b" "binary_format_major_version\xa1\x02";
  s += "\x4a" "ip_version\xa1\x04";
  s += "\x4a" "node_count\xc1\x01";
  s += "\x4b" "record_size\xa1\x18";
  s += "\x4d" "database_type\x41T";
  s += std::string("\x4b" "build_epoch\x01\x02\x05", 15);
  return s;
}

} // namespace

TEST_CASE("mmdb: a small database is good and is read") {
  std::string file = tiny(), error, json;
  CHECK(check_mmdb(file) == "");
  MmdbView view;
  REQUIRE(view.open(file, error));
  CHECK(view.meta().type == "T");
  CHECK(view.meta().build_epoch == 5);
  auto found = view.find(*parse_ip("1.2.3.4"));
  REQUIRE(found.offset);
  CHECK(found.prefix == 1);
  CHECK(mmdb_json(view.data(), *found.offset, json, 100));
  CHECK(json == R"({"isp":"One"})");
  std::string path = "isp";
  CHECK(view.follow(*found.offset, &path, 1).has_value());
  path = "other";
  CHECK(!view.follow(*found.offset, &path, 1));
  CHECK(!view.find(*parse_ip("200.2.3.4")).offset);
  CHECK(!view.find(*parse_ip("::1")).offset);
}

TEST_CASE("mmdb: no damage of one byte and no truncation breaks the checker, and what it lets pass can be read") {
  std::string good = tiny();
  for (size_t i = 0; i < good.size(); i++) {
    CHECK(check_mmdb(good.substr(0, i)) != "");
    for (int bit = 0; bit < 256; bit++) {
      std::string bad = good, error, json;
      bad[i] = static_cast<char>(bit);
      if (!check_mmdb(bad).empty()) continue;
      MmdbView view;
      REQUIRE(view.open(bad, error));
      if (auto found = view.find(*parse_ip("1.2.3.4")); found.offset) CHECK(mmdb_json(view.data(), *found.offset, json, 1000));
    }
  }
}

TEST_CASE("mmdb: circles, loops of pointers and leaves outside the data are refused") {
  std::string s = tiny();
  s[2] = 0; // the root leads to itself
  CHECK(check_mmdb(s).find("circle") != std::string::npos);
  s = tiny();
  s[2] = 5; // into the gap
  CHECK(check_mmdb(s).find("gap") != std::string::npos);
  s = tiny();
  s[2] = 100;
  CHECK(check_mmdb(s).find("past the data") != std::string::npos);
  s = tiny();
  s[22 + 5] = 0x20, s[22 + 6] = 0; // the value is a pointer to its own map
  CHECK(check_mmdb(s) != "");
}

TEST_CASE("mmdb: an array of arrays that share each other does not take forever") {
  // 20 levels, each with 15 pointers to the next: 15^20 values when walked naively
  std::string data;
  std::string top;
  for (int level = 0; level < 20; level++) {
    data += std::string("\x0f\x04", 2);
    size_t next = (static_cast<size_t>(level) + 1) * 32;
    for (int i = 0; i < 15; i++) data += static_cast<char>(0x20 | next >> 8), data += static_cast<char>(next);
  }
  data += "\x41x";
  std::string s = tiny();
  s.replace(22, 9, data);
  CHECK(check_mmdb(s) == "");
  std::string json;
  CHECK(!mmdb_json(string_view(s).substr(22), 0, json, 10000)); // too long, and that is found out soon
}
