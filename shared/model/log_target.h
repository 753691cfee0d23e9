// SPDX-License-Identifier: BSD-2-Clause
// A `log` line: where messages go, in which format, which ones.
#pragma once

#include <string>
#include <vector>

#include "shared/base/address.h"
#include "shared/base/diagnostics.h"

namespace penstock {

enum class LogTransport : u8 { UdpOrUnix /* datagrams to `address` */, Fd /* stdout, stderr, fd@N */, Ring, Backend };
enum class LogLineFormat : u8 { Unspecified, Rfc3164, Rfc5424, Local, Short, Raw, Timed, Iso, Priority };

struct Ring;      // shared/model/ring.h

struct LogTarget {
  LogTransport transport = LogTransport::UdpOrUnix;
  bool is_global = false;  // `log global`: replaced by those of the global section when resolved
  Address address;
  int fd = -1;
  std::string name;        // ring or backend
  const Ring *ring = nullptr; // of that name, when resolved
  LogLineFormat format = LogLineFormat::Unspecified;
  u8 facility = 16;        // local0
  u8 max_level = 7, min_level = 0;
  u32 max_len = 1024;
  std::vector<std::pair<u32, u32>> sample_ranges; // 1-based, inclusive
  u32 sample_size = 0;     // 0: no sampling
  std::string profile;
  Place place;             // of the line: copies of one line (log global, defaults) count samples together
  u32 sink = ~0u, sampler = ~0u; // given by prepare_logging(): see worker/log/sinks.h
};

} // namespace penstock
