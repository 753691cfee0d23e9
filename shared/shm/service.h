// SPDX-License-Identifier: BSD-2-Clause
// All shared memory of one penstock service, as its processes see it: made by the master at its
// first start, inherited by every fork and over every re-execution. Rows are found by index; an
// object's index is given to its identity ("frontend www", "server app/s1") once and for the life of
// the service, so that counters, health and admin state go on over reloads without any copying.
#pragma once

#include <atomic>

#include "shared/base/time.h"
#include "shared/shm/counters.h"

namespace penstock {

inline constexpr u32 max_slots = 64;      // worker slots over all living generations
inline constexpr u32 no_row = ~u32{0};

enum class RowKind : u8 { Frontend, Backend, Server, Listener };

/// Why a server is not served, or how (manual, management guide, "set server"). Bits of admin.
enum AdminBits : u32 {
  admin_forced_maint = 1 << 0,   // set server … state maint
  admin_inherited_maint = 1 << 1, // of a tracked server
  admin_config_maint = 1 << 2,   // the word `disabled`
  admin_forced_drain = 1 << 3,
  admin_inherited_drain = 1 << 4,
  admin_resolution_maint = 1 << 5,
  admin_any_maint = 0x27,
  admin_any_drain = 0x18,
};
enum class OpState : u8 { Stopped, Starting /* slow start */, Running, Stopping /* 404 from disable-on-404 */ };

/// What the last health or agent check of a server found. Written by control alone; `info` may be torn
/// while it is rewritten, which a reader of statistics can bear (it always ends in a NUL).
struct CheckReport {
  std::atomic<u8> status{0};       // CheckStatus (shared/model/check_status.h)
  std::atomic<u8> running{0};      // one is under way: shown as "* L7OK"
  std::atomic<u8> enabled{1};      // `enable|disable health|agent`
  std::atomic<u8> reserved{0};
  std::atomic<u16> code{0};        // layer 5-7 code; 0: none
  std::atomic<u16> reserved2{0};
  std::atomic<u32> duration_ms{0};
  std::atomic<u32> health{0};      // 0 … rise+fall-1; the server is up from `rise` on
  std::atomic<u32> failed{0};      // checks that failed while up
  char info[72] = {};              // what it said, e.g. "Connection refused"
};

/// Everything about a server that all processes share. Writers: control (health), CLI, workers (slots).
struct alignas(64) ServerRow {
  std::atomic<u32> admin{0};
  std::atomic<u8> op_state{static_cast<u8>(OpState::Running)};
  std::atomic<u8> flags{0};
  std::atomic<u32> weight{1};          // configured or set by `set weight`, 0-256
  std::atomic<u32> effective_weight{0}; // in 1/16ths, after slow start; 0 = not eligible
  std::atomic<u32> maxconn{0};         // 0: none. `set maxconn server` changes it
  std::atomic<u32> served{0};          // connections that hold a slot now, over all workers
  std::atomic<u32> queued{0};
  std::atomic<i64> last_change{0};     // Tick of the last up/down
  std::atomic<u32> downs{0}, consecutive_errors{0};
  std::atomic<u64> downtime_s{0};
  std::atomic<i64> last_session{0};    // wall seconds
  std::atomic<u64> address_version{0}; // bumped when `set server addr` or DNS changed it; see server_state.h
  CheckReport check, agent;
  u32 held[max_slots] = {};            // `served` by slot: a dead worker's share is subtracted from served
};

struct alignas(64) ProxyRow {
  std::atomic<u64> epoch{0};        // bumped by whatever changes who is eligible: workers rebuild their schedule
  std::atomic<u32> rr_position{0};  // round robin over all workers
  std::atomic<u32> maxconn{0};      // `set maxconn frontend`
  std::atomic<u32> conns{0};        // frontend: connections now, over all workers; backend: served
  std::atomic<u32> queued{0};
  std::atomic<u8> state{0};         // 0 enabled, 1 disabled, 2 stopped
  std::atomic<u64> sessions_rate_bits{0};
  std::atomic<i64> last_change{0};
  std::atomic<u64> downtime_s{0}, downs{0};
  std::atomic<u32> conn_max{0}, sess_max{0}, queue_max{0};
  u32 held[max_slots] = {};
};

} // namespace penstock
