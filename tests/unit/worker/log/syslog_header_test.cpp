// SPDX-License-Identifier: BSD-2-Clause
#include "worker/log/syslog_header.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <ctime>

#include "worker/log/sinks.h"

using namespace penstock;

namespace {
constexpr i64 moment_us = 1796082666119273; // 2026-11-30 23:51:06.119273 UTC

std::string header(LogLineFormat format, HeaderFacts facts, i64 at = moment_us) {
  setenv("TZ", "UTC", 1);
  tzset();
  LogClock clock;
  clock.set(at);
  char out[1024];
  return std::string(out, write_log_header(format, facts, clock, out));
}
} // namespace

TEST_CASE("log headers are those that the reference writes") {
  HeaderFacts f{.facility = 16, .level = 6, .hostname = {}, .tag = "mytag", .pid = "9242", .structured_data = {}};
  CHECK(header(LogLineFormat::Rfc3164, f) == "<134>Nov 30 23:51:06 localhost mytag[9242]: ");
  CHECK(header(LogLineFormat::Local, f) == "<134>Nov 30 23:51:06 mytag[9242]: ");
  CHECK(header(LogLineFormat::Unspecified, f) == "<134>Nov 30 23:51:06 mytag[9242]: ");
  CHECK(header(LogLineFormat::Rfc5424, f) == "<134>1 2026-11-30T23:51:06.119273+00:00 - mytag 9242 - - ");
  CHECK(header(LogLineFormat::Short, f) == "<6>");
  CHECK(header(LogLineFormat::Priority, f) == "<134>");
  CHECK(header(LogLineFormat::Timed, f) == "<6>2026-11-30T23:51:06.119273+00:00 ");
  CHECK(header(LogLineFormat::Iso, f) == "2026-11-30T23:51:06.119273+00:00 ");
  CHECK(header(LogLineFormat::Raw, f).empty());
  f.hostname = "vm";
  f.structured_data = "[a@1 b=\"c\"]";
  CHECK(header(LogLineFormat::Rfc3164, f) == "<134>Nov 30 23:51:06 vm mytag[9242]: ");
  CHECK(header(LogLineFormat::Rfc5424, f) == "<134>1 2026-11-30T23:51:06.119273+00:00 vm mytag 9242 - [a@1 b=\"c\"] ");
}

TEST_CASE("days below ten are padded with a blank, microseconds with zeros") {
  HeaderFacts f{.facility = 0, .level = 0, .hostname = {}, .tag = "t", .pid = {}, .structured_data = {}};
  i64 first = 1796082666000007 + 86400ll * 1'000'000; // 1 December
  CHECK(header(LogLineFormat::Local, f, first) == "<0>Dec  1 23:51:06 t: ");
  CHECK(header(LogLineFormat::Iso, f, first) == "2026-12-01T23:51:06.000007+00:00 ");
}

TEST_CASE("sample ranges pick messages out of each period") {
  LogTarget t;
  CHECK(sampled(t, 7));
  t.sample_size = 5;
  t.sample_ranges = {{2, 3}, {5, 5}};
  std::string picked;
  for (u32 i = 0; i < 10; i++) picked += sampled(t, i) ? 'x' : '.';
  CHECK(picked == ".xx.x.xx.x");
}
