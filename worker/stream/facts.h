// SPDX-License-Identifier: BSD-2-Clause
// What is remembered of a stream for logs, counters and rules: plain values, filled in as it goes.
#pragma once

#include <array>

#include "shared/base/address.h"
#include "shared/base/arena.h"
#include "shared/base/time.h"
#include "worker/stream/fault.h"

namespace penstock {

/// Microseconds on the loop's clock; 0: not reached. The log's timers are differences (manual 8.4).
struct StreamTimes {
  i64 accept_us = 0;        // connection accepted (first request) or previous response's end
  i64 accept_wall_us = 0;
  i64 handshake_us = 0;     // handshakes done
  i64 first_byte_us = 0;    // first byte of the request: end of idle
  i64 request_us = 0;       // request head complete
  i64 request_wall_us = 0;
  i64 queued_us = 0;        // entered Queue
  i64 slot_us = 0;          // left Queue (= Pick done when it never waited)
  i64 connected_us = 0;
  i64 response_us = 0;      // response head complete
  i64 end_us = 0;
};

/// What logs need after heads are gone. Text lives in the stream's arena.
struct StreamFacts {
  StreamTimes times;
  Fault fault;
  string_view method, uri, http_version; // request line as received, cut at tune.http.logurilen
  string_view unique_id;
  string_view server_cookie, client_cookie; // captures: %CC, %CS
  char cookie_client = '-', cookie_server = '-'; // third and fourth termination letter
  u16 status = 0;
  u32 retries = 0;
  bool redispatched = false;
  u32 srv_queue = 0, back_queue = 0;  // positions seen when queued
  u64 bytes_read = 0;                 // server to client (%B)
  u64 bytes_uploaded = 0;             // client to server (%U)
  string_view service;                // what answered in a server's stead ("<STATS>")
  u32 counter = 0;                    // request number on this session and process (%rt)

  /// A service of ours answers: there is no way to a server to wait for.
  void answered_by(string_view name, i64 now_us) {
    service = name;
    times.queued_us = times.slot_us = times.connected_us = times.response_us = now_us;
  }
};

} // namespace penstock
