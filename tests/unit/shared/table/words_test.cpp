// SPDX-License-Identifier: BSD-2-Clause
// Units of time and size, the cursor's diagnostics, near-miss hints.
#include "shared/table/words.h"

#include <doctest/doctest.h>

#include "shared/table/known_names.h"

using namespace penstock;

TEST_CASE("delays") {
  CHECK(parse_delay("30").value == 30);
  CHECK(parse_delay("30s").value == 30'000);
  CHECK(parse_delay("5m").value == 300'000);
  CHECK(parse_delay("1h").value == 3'600'000);
  CHECK(parse_delay("2d").value == 172'800'000);
  CHECK(parse_delay("100us").value == 1);
  CHECK(parse_delay("1001us").value == 2);
  CHECK(parse_delay("0").value == 0);
  for (string_view bad : {"", "s", "-1", "1.5s", "1w", "30 s", "1sx", "99999999999999999999", "25d"}) {
    CAPTURE(bad);
    CHECK(!parse_delay(bad).value);
    CHECK(!parse_delay(bad).error.empty());
  }
  CHECK(parse_delay_us("5") == 5);
  CHECK(parse_delay_us("5ms") == 5000);
}

TEST_CASE("sizes") {
  CHECK(parse_size("16384") == 16384);
  CHECK(parse_size("16k") == 16384);
  CHECK(parse_size("1M") == 1048576);
  CHECK(parse_size("1g") == 1073741824);
  CHECK(parse_size("0") == 0);
  for (string_view bad : {"", "k", "-1", "1.5k", "1kb", "99999999999999999999", "9999999999999g"}) {
    CAPTURE(bad);
    CHECK(!parse_size(bad));
  }
}

TEST_CASE("the cursor says what it expects and where") {
  Diagnostics diags;
  Words words({{"timeout", 3}, {"client", 11}, {"30", 20}, {"s", 23}}, {"site.cfg", 41, 0}, diags);
  words.next(), words.next();
  words.set_subject("timeout client");
  CHECK(!words.need_delay("a delay"));
  CHECK(to_text(diags.all()[0]) == "site.cfg:41:23: 'timeout client' expects a delay, got '30 s' (write 30s)");
}

TEST_CASE("near misses") {
  auto hint = [](string_view word) {
    NearMiss near(word);
    for (string_view name : {"balance", "bind", "maxconn", "mode", "server", "timeout"}) near.consider(name);
    return near.hint();
  };
  CHECK(hint("blance") == "did you mean 'balance'?");
  CHECK(hint("maxcon") == "did you mean 'maxconn'?");
  CHECK(hint("bal") == "did you mean 'balance'?");
  CHECK(hint("xyzzy") == "");
  CHECK(hint("q") == "");
}

TEST_CASE("names of the language that may have no row yet") {
  CHECK(language_has_action("use-service"));
  CHECK(language_has_action("add-acl"));
  CHECK(language_has_converter("aes_gcm_dec"));
  CHECK(language_has_fetch("base32+src"));
  CHECK(language_has_fetch("accept_date"));
  CHECK(language_has_fetch("wurfl-get"));
  CHECK(!language_has_fetch("no_such_thing"));
}
