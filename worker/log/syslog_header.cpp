// SPDX-License-Identifier: BSD-2-Clause
#include "worker/log/syslog_header.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "shared/base/text.h"

namespace penstock {

void LogClock::new_second(i64 second) {
  static constexpr const char *months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  second_ = second;
  time_t t = static_cast<time_t>(second);
  tm local{};
  localtime_r(&t, &local);
  // Bounds by remainder keep the compiler sure that the texts fit.
  std::snprintf(rfc3164_, sizeof rfc3164_, "%s %2u %02u:%02u:%02u", months[local.tm_mon], local.tm_mday % 100u,
                local.tm_hour % 100u, local.tm_min % 100u, local.tm_sec % 100u);
  unsigned zone = static_cast<unsigned>(std::labs(local.tm_gmtoff)) / 60 % 6000u;
  std::snprintf(iso_, sizeof iso_, "%04u-%02u-%02uT%02u:%02u:%02u.000000%c%02u:%02u", (local.tm_year + 1900u) % 10000u,
                (local.tm_mon + 1u) % 100u, local.tm_mday % 100u, local.tm_hour % 100u, local.tm_min % 100u,
                local.tm_sec % 100u, local.tm_gmtoff < 0 ? '-' : '+', zone / 60 % 100u, zone % 60);
}

void LogClock::set(i64 wall_us) {
  i64 second = wall_us / 1'000'000;
  if (second != second_) new_second(second);
  u32 us = static_cast<u32>(wall_us % 1'000'000);
  for (int i = 25; i >= 20; i--, us /= 10) iso_[i] = static_cast<char>('0' + us % 10);
}

namespace {

/// Appends without bounds: the caller has made room (header_room).
struct Pen {
  char *at;
  Pen &operator<<(string_view s) {
    if (!s.empty()) std::memcpy(at, s.data(), s.size());
    at += s.size();
    return *this;
  }
  Pen &operator<<(u32 n) {
    at = write_u64(at, n);
    return *this;
  }
};

} // namespace

size_t write_log_header(LogLineFormat format, const HeaderFacts &f, const LogClock &clock, char *out) {
  Pen pen{out};
  u32 priority = f.facility * 8u + f.level;
  switch (format) {
    case LogLineFormat::Rfc3164:
      pen << "<" << priority << ">" << clock.rfc3164() << " " << (f.hostname.empty() ? "localhost" : f.hostname) << " " << f.tag;
      if (!f.pid.empty()) pen << "[" << f.pid << "]";
      pen << ": ";
      break;
    case LogLineFormat::Rfc5424:
      pen << "<" << priority << ">1 " << clock.iso() << " " << (f.hostname.empty() ? "-" : f.hostname) << " "
          << (f.tag.empty() ? "-" : f.tag) << " " << (f.pid.empty() ? "-" : f.pid) << " - "
          << (f.structured_data.empty() ? "-" : f.structured_data) << " ";
      break;
    case LogLineFormat::Unspecified:
    case LogLineFormat::Local:
      pen << "<" << priority << ">" << clock.rfc3164() << " " << f.tag;
      if (!f.pid.empty()) pen << "[" << f.pid << "]";
      pen << ": ";
      break;
    case LogLineFormat::Short: pen << "<" << u32{f.level} << ">"; break;
    case LogLineFormat::Timed: pen << "<" << u32{f.level} << ">" << clock.iso() << " "; break;
    case LogLineFormat::Iso: pen << clock.iso() << " "; break;
    case LogLineFormat::Priority: pen << "<" << priority << ">"; break;
    case LogLineFormat::Raw: break;
  }
  return static_cast<size_t>(pen.at - out);
}

} // namespace penstock
