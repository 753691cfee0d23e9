// SPDX-License-Identifier: BSD-2-Clause
// A `ring` section: where log lines wait in memory, to be looked at or to be carried on over TCP.
#pragma once

#include <string>
#include <vector>

#include "shared/base/time.h"
#include "shared/model/log_target.h"

namespace penstock {

class RingBuffer; // shared/shm/ring_buffer.h

struct RingServer {
  std::string name;
  Address address;
  bool octet_count = false; // RFC 6587, 3.4.1; else a newline behind each message (3.4.2)
  Place place;
};

struct Ring {
  std::string name, description;
  Place place;
  LogLineFormat format = LogLineFormat::Unspecified; // as the `log` line says
  u32 maxlen = 0;  // 0: as the `log` line says
  u64 size = 0;    // bytes; 0 while reading: tune.bufsize
  Millis connect_timeout = 5000, server_timeout = eternity;
  std::vector<RingServer> servers;
  RingBuffer *memory = nullptr; // given by the master
};

} // namespace penstock
