// SPDX-License-Identifier: BSD-2-Clause
// The host-wide queue (manual: `maxconn`, `maxqueue`, `timeout queue`, `set-priority-*`): requests of
// all workers that wait for a slot, per backend and per server, by priority class, then arrival and
// offset. A tree (treap) of waiter rows per queue, under the backend's stripe. Whoever frees a slot
// grants it to the first in line, whichever worker that belongs to, and wakes that worker.
//
//   Waiting -> Granted   a slot is counted for it in ServerRow::served; the owner calls take()
//   Waiting -> Kicked    its server went away: the owner chooses again
//   any     -> Free      taken, or given up by the owner (leave())
#pragma once

#include <vector>

#include "shared/shm/service.h"

namespace penstock {

/// How many connections the server may have now: `maxconn`, or between `minconn` and it as the backend
/// fills up towards `fullconn`. 0: no limit.
u32 slot_limit(const ServerRow &server, const ProxyRow &backend);

/// Whether somebody waits who could use a slot of this server.
inline bool has_waiters(const ServerRow &server, const ProxyRow &backend) {
  return server.queued.load() != 0 || (backend.queued.load() != 0 && server.takes_part.load());
}

/// Grants free slots of a server to those in line: its own queue's, and the backend's when the server takes
/// part in balancing. The result is a mask of worker slots to wake, outside of any lock.
[[nodiscard]] u64 serve_waiters(const Service &service, u32 server_row);
/// All who wait for this very server are told to choose again.
[[nodiscard]] u64 kick_waiters(const Service &service, u32 server_row);
/// All who wait in the backend's queue are told to choose again.
[[nodiscard]] u64 kick_backend_waiters(const Service &service, u32 backend_row);

/// For fold.cpp: removes a dead worker's waiters; counts a gauge from all its cells; makes survivors look
/// again, since the dead may have granted without waking.
void forget_waiters(const Service &service, u32 dead);
void count_anew(const Service &service, u64 gauge);
void after_a_death(const Service &service);

/// Who waits, and how the worker finds the stream again.
struct WaiterOwner {
  u32 stream_index = 0, stream_generation = 0;
};

/// A worker's side of the queue: its waiter rows. No allocation after the first use of a row.
class WaiterPool : Pinned {
 public:
  WaiterPool(const Service &service, u32 slot) : service_(service), slot_(slot) {}

  struct Request {
    u32 backend_row;
    u32 server_row = no_row; // no_row: any server of the backend
    i32 priority_class = 0;
    i32 priority_offset_ms = 0;
    i64 now_us = 0;
    WaiterOwner owner;
  };
  /// A place in line; no_row when this worker has too many already.
  u32 join(const Request &request);
  /// Gives the place up, whatever its state. True when a slot had been granted: its server is in
  /// `granted`, and the caller now holds that slot.
  bool leave(u32 waiter, u32 &granted);
  /// The slot granted to it becomes the caller's; returns the server's row.
  u32 take(u32 waiter);
  WaiterState state(u32 waiter) const { return static_cast<WaiterState>(row(waiter).state.load(std::memory_order_acquire)); }

  /// Calls fn(waiter, owner) for each that was granted or kicked since. Call when wake_fd is readable.
  template <class Fn> void collect(Fn fn) {
    service_.slot(slot_).signalled.store(0); // before looking: who comes later signals again
    drain_woken();
    if (service_.slot(slot_).rescan.load(std::memory_order_relaxed)) rescan();
    while (!found_.empty()) {
      u32 w = found_.back();
      found_.pop_back();
      if (private_[w].in_line) fn(w, WaiterOwner{row(w).stream_index, row(w).stream_generation});
    }
  }

 private:
  /// A row is used again only when its owner gave it up and it hangs on no list of the woken.
  struct Private {
    bool in_line = false; // an owner waits on it
    bool told = false;    // off the list of the woken
  };
  Waiter &row(u32 w) const { return service_.waiter(slot_, w); }
  void drain_woken();
  void rescan();
  void give_up(u32 w, bool may_be_listed);

  const Service &service_;
  u32 slot_;
  std::vector<Private> private_;
  std::vector<u32> free_, found_;
};

} // namespace penstock
