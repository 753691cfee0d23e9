// SPDX-License-Identifier: BSD-2-Clause
// The rows of shared memory: what all processes of a service know of its servers and proxies, and the
// block of its own that each worker slot has (counters, its share of every gauge, its waiting requests,
// what it is doing). Trivial layouts: indexes and atomics only. service.h finds them.
#pragma once

#include <atomic>

#include "shared/shm/counters.h"
#include "shared/shm/rate.h"
#include "shared/shm/sliding_mean.h"

namespace penstock {

inline constexpr u32 max_slots = 64;      // worker slots over all living generations
inline constexpr u32 no_row = ~u32{0};
inline constexpr u32 max_server_rows = 1 << 18;
inline constexpr u32 max_proxy_rows = 1 << 17;    // frontends and backends
inline constexpr u32 max_listener_rows = 1 << 16;
inline constexpr u32 waiters_per_slot = 1 << 18;

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

/// The units of effective weights: 1/16, so that slow start and `set weight 5%` have steps to take.
inline constexpr u32 weight_scale = 16;

/// A number that every worker changes and whose truth survives their deaths: the low half counts, the
/// high half is a version that every change bumps. Each slot's share is in its own block ("held").
struct SharedGauge {
  std::atomic<u64> word{0};
  u32 count() const { return static_cast<u32>(word.load(std::memory_order_acquire)); }
};

/// An address set at run time (`set server … addr`, DNS). Version 0: the configured one holds; odd: being written.
struct SharedAddress {
  std::atomic<u64> version{0};
  std::atomic<u64> words[3]{}; // bytes of the IP, then family << 32 | port
};

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

/// The longest times of `show stat` (qtime_max …), in ms; raise_to() when a stream ends.
enum class TimeKind : u8 { Queue, Connect, Response, Total, count_ };
using LongestTimes = std::atomic<u32>[static_cast<size_t>(TimeKind::count_)];
/// The means of the same, in µs.
using MeanTimes = SlidingMean[static_cast<size_t>(TimeKind::count_)];

/// Everything about a server that all processes share. Writers: control (health), CLI, workers (slots).
struct alignas(64) ServerRow {
  // Read by every pick, written seldom.
  std::atomic<u32> admin{0};
  std::atomic<u8> op_state{static_cast<u8>(OpState::Running)};
  std::atomic<u8> takes_part{0};       // 1: balancing may choose it, by weight and the rules for backups
  std::atomic<u32> weight{1};          // configured or set by `set weight`, 0-256
  std::atomic<u32> effective_weight{0}; // in units of weight_scale, after slow start; 0: not chosen by balancing
  std::atomic<u32> maxconn{0}, minconn{0}, maxqueue{0}; // 0: none. `set maxconn server` changes the first
  u32 backend_row = no_row;
  u32 configured_weight = 0, configured_maxconn = 0; // as the last configuration said: a reload that keeps them keeps what was set at run time
  u32 known = 0;                       // 1: a configuration has described it before
  SharedAddress address;               // `set server addr`

  // Written by every request.
  alignas(64) SharedGauge served;      // connections that hold a slot now, over all workers
  std::atomic<u32> queued{0};
  u32 queue_root = no_row;             // under the backend's queue stripe
  RateCounter session_rate;
  std::atomic<i64> last_session{0};    // wall seconds
  std::atomic<u32> rate_max{0}, sess_max{0};
  std::atomic<u32> queue_max{0};
  LongestTimes time_max_ms{};
  alignas(64) MeanTimes time_mean_us{};

  // Health: the control process writes, pages and logs read.
  alignas(64) std::atomic<i64> last_change{0};     // Tick of the last up/down
  std::atomic<i64> starting_since{0};  // Tick when slow start began
  std::atomic<u32> downs{0}, consecutive_errors{0};
  std::atomic<u64> downtime_s{0};
  CheckReport check, agent;
  // Where checks go when it was set at run time (`set server … check-addr`), and what agents are told. Control's own.
  SharedAddress check_address, agent_address;
  std::atomic<u32> check_port{0}, agent_port{0}; // 0: as configured
  u64 configured_addresses = 0;                  // a digest: another configuration undoes all that was set
  std::atomic<u32> agent_send_set{0};
  char agent_send[252] = {};                     // ends in a NUL
};

inline OpState op_state(const ServerRow &row) { return static_cast<OpState>(row.op_state.load(std::memory_order_relaxed)); }
inline bool in_maintenance(const ServerRow &row) { return (row.admin.load(std::memory_order_relaxed) & admin_any_maint) != 0; }
/// Whether it was put into drain by hand or by a tracked server.
inline bool is_draining(const ServerRow &row) { return (row.admin.load(std::memory_order_relaxed) & admin_any_drain) != 0; }
/// Whether persistent traffic may still go to it: neither in maintenance nor down.
inline bool is_running(const ServerRow &row) { return op_state(row) != OpState::Stopped && !in_maintenance(row); }

struct alignas(64) ProxyRow {
  std::atomic<u64> epoch{0};        // bumped by whatever changes who is eligible: workers rebuild their schedule
  std::atomic<u32> maxconn{0};      // `set maxconn frontend`
  std::atomic<u8> state{0};         // 0 enabled, 1 disabled, 2 stopped
  std::atomic<u32> fullconn{0};
  std::atomic<u32> configured_maxconn{0};
  u32 known = 0;

  alignas(64) SharedGauge conns;    // frontend: connections now, over all workers; backend: its sessions
  std::atomic<u32> queued{0};       // of the backend's own queue
  u32 queue_root = no_row;
  std::atomic<u32> total_queued{0}; // its own and its servers'
  std::atomic<u32> conn_max{0}, sess_max{0}, queue_max{0}, conn_rate_max{0}, sess_rate_max{0}, req_rate_max{0};
  LongestTimes time_max_ms{};
  alignas(64) MeanTimes time_mean_us{};

  alignas(64) std::atomic<u32> rr_position{0};  // round robin over all workers
  std::atomic<u32> rr_backup_position{0};
  RateCounter session_rate;         // frontend: sessions accepted; backend: requests that came to it

  alignas(64) RateCounter connection_rate, request_rate; // frontends
  std::atomic<i64> last_change{0};
  std::atomic<u64> downtime_s{0}, downs{0};
  std::atomic<i64> last_session{0}; // wall seconds
};

/// A request that waits for a server's slot; see queue.h. Lives in its worker's block; everything but
/// the owner's private free list changes under the stripe of its backend.
enum class WaiterState : u32 { Free, Waiting, Granted, Kicked /* to choose again: its server went away */ };
struct Waiter {
  std::atomic<u32> state{0}; // WaiterState
  u32 backend_row = no_row;
  u32 server_row = no_row;   // of whose queue (no_row: the backend's)
  u32 left = no_row, right = no_row;
  u32 priority = 0;          // of the tree's shape, random
  i32 priority_class = 0;
  u32 next_woken = no_row;   // slot's list of those to wake
  i64 when_us = 0;           // arrival and offset
  u64 order = 0;             // ties: who came first on the host
  u32 stream_index = 0, stream_generation = 0; // whom to wake in the worker
  u32 granted_row = no_row;  // granted: the server to go to
  u32 reserved = 0;
};
static_assert(sizeof(Waiter) == 64);

/// What a slot's worker does with a server or a proxy: only it writes here.
struct ServerCell {
  ServerCounters counters;
  u32 held = 0; // its share of ServerRow::served
};
struct ProxyCell {
  ProxyCounters counters;
  u32 held = 0; // its share of ProxyRow::conns
};

/// Counters of a process for `show info`.
struct ProcessCounters {
  // gauges first
  Counter cur_ssl_conns, pipes_used, pipes_free, run_queue, tasks, idle_permille, jobs, unstoppable_jobs, listeners;
  // totals
  Counter connections, requests, ssl_connections, bytes_in, bytes_out, bytes_spliced, pool_fails, dropped_logs;
  Counter ssl_cache_lookups, ssl_cache_misses, comp_bytes_in, comp_bytes_out, failed_resolutions, warnings, loops, wakeups, accepts_failed, maxconn_reached;
};
inline constexpr size_t process_gauges = 9;

enum class SlotState : u32 { Free, Claimed, Running, Stopping };

/// The first page of a slot's block.
struct SlotHeader {
  std::atomic<u32> state{0}; // SlotState
  std::atomic<i32> pid{0};
  std::atomic<u32> generation{0}, index{0};
  std::atomic<i64> started_ms{0};
  // The one gauge operation that this worker may be in the middle of: odd while it is.
  std::atomic<u64> gauge_sequence{0};
  std::atomic<u64> gauge_changing{0}; // GaugeId
  u32 held_conns = 0, held_ssl = 0;   // its share of the process-wide gauges
  // Waiters granted or kicked, newest first; whoever pushes onto an unsignalled list writes the eventfd.
  alignas(64) std::atomic<u32> woken{no_row};
  std::atomic<u32> signalled{0};
  std::atomic<u32> rescan{0};        // a pusher may have died half-way: look at every waiter
  std::atomic<u32> waiters_used{0};  // rows ever used: where scans end
  alignas(64) ProcessCounters process;
};

/// Process-wide state that belongs to no proxy.
struct ServiceRow {
  std::atomic<u32> generation{0};    // the newest
  std::atomic<u64> fold_version{0};  // odd: totals move from a slot to the base
  std::atomic<u32> server_rows{0}, proxy_rows{0}, listener_rows{0};
  std::atomic<u32> directory_entries{0};
  std::atomic<u64> directory_bytes{0};
  std::atomic<i64> started_wall_s{0}, started_ms{0};
  std::atomic<u64> random_seed{0};   // the same for all: cookies, hashes of dynamic keys
  std::atomic<u64> queue_order{0};
  std::atomic<u64> change{0};        // bumped with every server state change: something for workers to look at
  std::atomic<u32> maxconn{0}, maxconnrate{0}, maxsessrate{0}, maxsslrate{0}; // `set maxconn global`, `set rate-limit`
  alignas(64) SharedGauge conns;     // connections of the whole service
  alignas(64) SharedGauge ssl_conns;
  alignas(64) RateCounter connection_rate, session_rate, ssl_rate;
  std::atomic<u32> conn_rate_max{0}, sess_rate_max{0}, ssl_rate_max{0}, max_conns{0}, max_ssl_conns{0};
};

} // namespace penstock
