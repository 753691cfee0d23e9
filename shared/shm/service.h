// SPDX-License-Identifier: BSD-2-Clause
// All shared memory of one penstock service, as its processes see it: made by the master at its
// first start, inherited by every fork and over every re-execution. Rows are found by index; an
// object's index is given to its identity ("frontend www", "server app/s1") once and for the life of
// the service, so that counters, health and admin state go on over reloads without any copying.
//
//   segment:  service row | stripes | directory | server rows | proxy rows | block of slot 0, 1, … 63 | base
//   block:    slot header | a cell per server | per proxy | per listener | waiters
//
// Only the master calls what gives rows and slots; a worker writes into its own block and, through
// gauge.h and queue.h, into what is shared; everybody may read.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "shared/shm/robust_lock.h"
#include "shared/shm/rows.h"
#include "shared/shm/segment.h"

namespace penstock {

struct Config;

inline constexpr u32 stripe_count = 256;

/// Where the parts of a slot's block lie; each begins a page.
namespace block_layout {
constexpr size_t paged(size_t bytes) { return (bytes + 4095) & ~size_t{4095}; }
inline constexpr size_t server_cells = paged(sizeof(SlotHeader));
inline constexpr size_t proxy_cells = server_cells + paged(sizeof(ServerCell) * max_server_rows);
inline constexpr size_t listener_cells = proxy_cells + paged(sizeof(ProxyCell) * max_proxy_rows);
inline constexpr size_t waiters = listener_cells + paged(sizeof(ProxyCounters) * max_listener_rows);
inline constexpr size_t bytes = waiters + paged(sizeof(Waiter) * waiters_per_slot);
} // namespace block_layout

class Service : Pinned {
 public:
  // ------------------------------------------------------------------ master: life
  /// A new service. Null, and why in `error`, when the system has no memory or descriptors for it.
  static std::unique_ptr<Service> create(std::string &error);
  /// The service of the image executed before; `fds` as descriptors() gave them. Null when its layout is another.
  static std::unique_ptr<Service> attach(const std::vector<int> &fds, std::string &error);
  ~Service();
  /// What to hand over: the memory, then the wake-up descriptor of each slot. All are close-on-exec.
  std::vector<int> descriptors() const;

  // ------------------------------------------------------------------ master: rows and slots
  /// The row of an identity, given at first sight; no_row when there are no more. Not for hot paths.
  u32 row_of(RowKind kind, string_view identity);
  /// Gives every proxy, server and bind line of `config` its row and writes what it says into them. What was
  /// set at run time (admin state, weight, maxconn) stays where the configuration says the same as before.
  bool assign_rows(Config &config, std::string &error);

  u32 next_generation() { return row().generation.fetch_add(1) + 1; }
  /// Before forking a worker; nothing when all are taken.
  std::optional<u32> claim_slot(u32 generation, u32 index);
  /// When a worker has ended, however: its totals go to the base, its gauges and slots are taken back, its
  /// waiting requests forgotten, requests that waited for its slots served. The slot is free afterwards.
  void fold_slot(u32 slot);

  // ------------------------------------------------------------------ finding
  ServiceRow &row() const { return *service_; }
  ServerRow &server(u32 r) const { return servers_[r]; }
  ProxyRow &proxy(u32 r) const { return proxies_[r]; }
  SlotHeader &slot(u32 s) const { return *block<SlotHeader>(s, 0); }
  ServerCell &server_cell(u32 s, u32 r) const { return block<ServerCell>(s, block_layout::server_cells)[r]; }
  ProxyCell &proxy_cell(u32 s, u32 r) const { return block<ProxyCell>(s, block_layout::proxy_cells)[r]; }
  ProxyCounters &listener_counters(u32 s, u32 r) const { return block<ProxyCounters>(s, block_layout::listener_cells)[r]; }
  Waiter &waiter(u32 s, u32 index) const { return block<Waiter>(s, block_layout::waiters)[index]; }
  RobustStripe &queue_stripe(u32 backend_row) const { return stripes_[backend_row % stripe_count]; }
  u32 server_rows() const { return service_->server_rows.load(std::memory_order_acquire); }
  u32 proxy_rows() const { return service_->proxy_rows.load(std::memory_order_acquire); }
  u32 listener_rows() const { return service_->listener_rows.load(std::memory_order_acquire); }
  bool slot_in_use(u32 s) const { return slot(s).state.load(std::memory_order_acquire) != static_cast<u32>(SlotState::Free); }

  // ------------------------------------------------------------------ reading sums
  ServerCounters sum_server(u32 r) const;
  ProxyCounters sum_proxy(u32 r) const;
  ProxyCounters sum_listener(u32 r) const;
  ProcessCounters sum_process() const;
  /// `clear counters` (maxima only) and `clear counters all`. Gauges stay what they are.
  void clear_counters(bool totals);

  // ------------------------------------------------------------------ waking workers
  /// Readable when the slot's worker has something to look at: woken waiters or a changed server.
  int wake_fd(u32 s) const { return wake_fds_[s]; }
  void wake(u32 s) const;
  /// Those of a bit mask of slots.
  void wake_many(u64 slots) const;
  /// A server's state changed: every worker looks at it in its next turn.
  void wake_all() const;


  static constexpr u32 base_slot = max_slots; // totals of the workers that are gone

 private:
  Service() = default;
  bool lay_out(std::unique_ptr<Segment> segment);
  void read_directory();
  template <class T> T *block(u32 s, size_t at) const { return reinterpret_cast<T *>(blocks_ + s * block_layout::bytes + at); }
  template <class Set, class Get> Set sum(Get cell) const;
  template <class Fn> void change_totals(Fn change);
  void move_totals_to_base(u32 slot);
  void return_gauges(u32 slot);

  std::unique_ptr<Segment> segment_;
  ServiceRow *service_ = nullptr;
  RobustStripe *stripes_ = nullptr; // the last one guards the totals
  char *directory_ = nullptr;
  ServerRow *servers_ = nullptr;
  ProxyRow *proxies_ = nullptr;
  char *blocks_ = nullptr;
  std::vector<int> wake_fds_;
  std::unordered_map<std::string, u32> rows_; // the master's index of the directory
};

} // namespace penstock
