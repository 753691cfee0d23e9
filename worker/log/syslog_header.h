// SPDX-License-Identifier: BSD-2-Clause
// What stands before the text of a log line: the eight forms of the manual's `log … format` (RFC 3164,
// RFC 5424 and shorter ones). Pure: no clock, no socket. Times are cut up once per second and kept.
#pragma once

#include "shared/model/log_target.h"

namespace penstock {

/// A moment in the forms that headers want; made again only when the second changes.
class LogClock {
 public:
  /// `wall_us`: µs since 1970.
  void set(i64 wall_us);
  string_view rfc3164() const { return {rfc3164_, 15}; }        // "Nov 30 23:51:06"
  string_view iso() const { return {iso_, 32}; }                // "2026-11-30T23:51:06.119273+00:00"

 private:
  void new_second(i64 second);
  i64 second_ = -1;
  char rfc3164_[32] = {};
  char iso_[40] = {};
};

struct HeaderFacts {
  u8 facility = 16;
  u8 level = 6;
  string_view hostname; // empty: not to be told
  string_view tag;
  string_view pid;
  string_view structured_data; // RFC 5424; empty: none
};

/// Room that any header takes, beside its three texts.
inline constexpr size_t header_room = 128;

/// Writes the header of `format` (Unspecified counts as Local) into `out`, which has header_room plus the
/// lengths of hostname, tag and structured data; returns its length.
size_t write_log_header(LogLineFormat format, const HeaderFacts &facts, const LogClock &clock, char *out);

} // namespace penstock
