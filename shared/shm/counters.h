// SPDX-License-Identifier: BSD-2-Clause
// Traffic counters. Each worker slot has a block of its own that only it writes; readers sum over the
// slots (and over what retired slots left in the base). Names follow the manual's statistics (management
// guide, section 9.1). Totals only grow, over reloads and crashes; gauges are zeroed with a dead slot.
#pragma once

#include "shared/base/basic.h"

namespace penstock {

/// A counter with a single writer: a plain add for the writer, a tearing-free load for readers.
struct Counter {
  u64 value = 0;
  void operator+=(u64 n) { __atomic_store_n(&value, value + n, __ATOMIC_RELAXED); }
  void operator++(int) { *this += 1; }
  void operator--(int) { *this += u64(-1); } // gauges only
  u64 get() const { return __atomic_load_n(&value, __ATOMIC_RELAXED); }
};

/// Of a frontend, a backend or a listener; what has no meaning for one stays 0.
struct ProxyCounters {
  // gauges first: the supervisor zeroes them when a worker dies
  Counter cur_conns, cur_sessions;
  // totals
  Counter connections, sessions, bytes_in, bytes_out;
  Counter denied_req, denied_resp, denied_conn, denied_sess, err_req, err_conn, err_resp, err_int;
  Counter retries, redispatches, client_aborts, server_aborts, selected, reused, connect_attempts;
  Counter http_req_total, http_1xx, http_2xx, http_3xx, http_4xx, http_5xx, http_other;
  Counter intercepted, cache_lookups, cache_hits, comp_in, comp_out, comp_bypassed, comp_responses;
  Counter failed_header_rewrites;
  Counter log_lines_dropped;
};
struct ServerCounters {
  Counter cur_sessions, used_conns, idle_conns, safe_conns; // who waits is in ServerRow::queued
  Counter connections, sessions, bytes_in, bytes_out, denied_resp, err_conn, err_resp, retries, redispatches;
  Counter client_aborts, server_aborts, selected, reused, connect_attempts;
  Counter http_1xx, http_2xx, http_3xx, http_4xx, http_5xx, http_other, failed_header_rewrites, err_int;
};
inline constexpr size_t proxy_gauges = 2;  // leading members that are gauges
inline constexpr size_t server_gauges = 4;

} // namespace penstock
