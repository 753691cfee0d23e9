// SPDX-License-Identifier: BSD-2-Clause
#include <doctest/doctest.h>

#include "shared/shm/rate.h"

using namespace penstock;

TEST_CASE("a rate is this period's events and the previous one's remaining share") {
  RateCounter r;
  for (int i = 0; i < 100; i++) r.add(10'500);
  CHECK(r.read(10'999) == 100);
  CHECK(r.read(11'000) == 100);
  CHECK(r.read(11'250) == 75);
  r.add(11'250, 10);
  CHECK(r.read(11'250) == 85);
  CHECK(r.read(11'750) == 35);
  CHECK(r.read(12'000) == 10);
  CHECK(r.read(13'000) == 0);
}

TEST_CASE("a late clock neither loses nor resets") {
  RateCounter r;
  r.add(20'000, 5);
  r.add(21'000, 3);
  r.add(22'000, 2);
  r.add(20'999, 1); // a process whose turn began two periods ago
  CHECK(r.read(22'000) == 3 + 3);
}

TEST_CASE("how long to wait until a rate is below a limit") {
  RateCounter r;
  r.add(5'000, 10);
  for (Tick now : {5'000, 5'400, 6'000, 6'100, 6'900}) {
    Millis wait = r.until_below(now, 4);
    CHECK(r.read(now + wait) < 4);
    if (wait > 2) CHECK(r.read(now + wait - 2) >= 4);
  }
  CHECK(r.until_below(9'000, 4) == 0);
}
