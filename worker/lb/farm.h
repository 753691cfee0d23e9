// SPDX-License-Identifier: BSD-2-Clause
// A backend's servers as one worker uses them: which one a request goes to, its slot there, its place in
// line when there is none. One Farm per backend and worker, made at its first request; what is decided
// is exact over all workers because positions, loads, limits and queues live in shared memory.
//
//   pick()     -> Chosen: a slot is held until release()
//              -> Wait:   every slot is taken: join(); when woken, accept() says which server, and holds its slot
//              -> NoServer
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "shared/base/address.h"
#include "shared/expr/eval.h"
#include "shared/http/message.h"
#include "shared/model/proxy.h"
#include "shared/shm/gauge.h"
#include "shared/shm/queue.h"
#include "shared/shm/server_state.h"
#include "worker/lb/hash_ring.h"

namespace penstock {

/// What balancing looks at. Everything may be left out; an algorithm without its key falls back to round robin.
struct PickRequest {
  EvalContext *context = nullptr;       // balance hash EXPR, rdp-cookie, mode tcp
  const HttpMessage *request = nullptr; // null in mode tcp
  const Address *client = nullptr;      // balance source
  string_view body = {};                // what is there of it, for url_param check_post; bytes, for rdp-cookie
  const Server *wanted = nullptr;       // by persistence or use-server
  bool forced = false;                  // force-persist, option persist: even when it is down
  const Server *avoid = nullptr;        // the one that has just failed, on a redispatch
  u64 random = 0;                       // a random number, for balance random
};

enum class PickOutcome : u8 { Chosen, Wait, NoServer };
struct PickResult {
  PickOutcome outcome = PickOutcome::NoServer;
  const Server *server = nullptr; // with Wait: in whose queue, or null for the backend's
};

struct QueuePlace { u32 server = 0, backend = 0; };

class Farm : Pinned {
 public:
  Farm(const Service &service, u32 slot, const Proxy &backend, WaiterPool &waiters);

  PickResult pick(const PickRequest &request);
  /// With `dispatch` or `option transparent`: the wanted server, else there.
  PickResult pick_or_direct(const PickRequest &request);

  /// Gives a slot back and serves whoever waits for it.
  void release(const Server &server);

  // ------------------------------------------------------------------ waiting
  struct Priority {
    i32 priority_class = 0, offset_ms = 0; // set-priority-class, set-priority-offset
  };
  /// A place in the queue of `server` (null: the backend's); no_row when there is no more room in memory.
  /// `place` tells how many are before it (log: srv_queue, backend_queue).
  u32 join(const Server *server, Priority priority, WaiterOwner owner, i64 now_us, QueuePlace *place = nullptr);
  /// After waking: the server whose slot is now held, or null: choose again (the place in line is gone).
  const Server *accept(u32 waiter);
  /// Gives up waiting (timeout, client gone). A slot that was granted meanwhile goes to the next in line.
  void leave(u32 waiter);

  // ------------------------------------------------------------------ sessions on the backend, for fullconn and `show stat`
  void enter();
  void exit();

  // ------------------------------------------------------------------ looking
  const Proxy &backend() const { return backend_; }
  ServerRow &row(const Server &s) const { return service_.server(s.row); }
  ServerCounters &counters(const Server &s) const { return service_.server_cell(slot_, s.row).counters; }
  ProxyCounters &counters() const { return service_.proxy_cell(slot_, backend_.back_row).counters; }
  ProxyRow &backend_row() const { return backend_row_; }
  /// Whether persistence may send there.
  bool accepts_persistent(const Server &s) const;
  /// Whether any server gets new requests now.
  bool has_usable();
  const Server *server_of_row(u32 row) const;
  /// Servers that stopped running since the last call, for on-marked-down; cheap when nothing changed.
  template <class Fn> void each_new_down(Fn fn) {
    refresh();
    for (u32 m : went_down_) fn(*members_[m].server);
    went_down_.clear();
  }
  /// The same for those that came up again.
  template <class Fn> void each_new_up(Fn fn) {
    refresh();
    for (u32 m : came_up_) fn(*members_[m].server);
    came_up_.clear();
  }

 private:
  struct Member {
    const Server *server;
    ServerRow *row;
    u32 weight = 0;       // in this schedule; 0: not in it
    bool running = true;
  };
  using Choose = PickResult (Farm::*)(const PickRequest &);
  struct Algorithm;
  static const Algorithm algorithms[];

  void refresh() {
    if (backend_row_.epoch.load(std::memory_order_acquire) != epoch_) [[unlikely]] rebuild();
  }
  void rebuild();
  PickResult pick_wanted(const PickRequest &request);
  PickResult round_robin(const PickRequest &request);
  PickResult least_connections(const PickRequest &request);
  PickResult first_free(const PickRequest &request);
  PickResult random_draws(const PickRequest &request);
  PickResult by_hash(const PickRequest &request);
  PickResult wait_or_take_any(const PickRequest &request);
  u32 within_balance_factor(u32 hash, const PickRequest &request) const;
  static Choose algorithm_of(BalanceAlgorithm name);
  bool hashes_by_map() const;
  bool uses_ring() const;
  void note_taken(ServerRow &r, u32 now_served) const;

  bool is_avoided(u32 member, const PickRequest &request) const { return members_[member].server == request.avoid && candidates_.size() > 1; }
  bool try_take(const Server &s);
  u64 load_of(const Member &m) const { return m.row->served.count() + u64{m.row->queued.load(std::memory_order_relaxed)}; }
  PickResult chosen(u32 member) const { return {PickOutcome::Chosen, members_[member].server}; }

  const Service &service_;
  u32 slot_;
  const Proxy &backend_;
  ProxyRow &backend_row_;
  WaiterPool &waiters_;
  Choose choose_;
  u64 epoch_ = ~u64{0};
  std::vector<Member> members_;
  std::vector<u32> candidates_;   // members that balancing may choose, in the order of the configuration
  std::vector<u32> by_id_;        // the same by server id, for balance first
  std::vector<u32> schedule_;     // round robin: a member per position
  std::vector<u32> went_down_, came_up_;
  bool candidates_are_backup_ = false;
  HashRing ring_;
};

} // namespace penstock
