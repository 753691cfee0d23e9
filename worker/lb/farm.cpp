// SPDX-License-Identifier: BSD-2-Clause
// The farm itself: which servers take part, slots and places in line. The algorithms are in balance.cpp.
#include "worker/lb/farm.h"

#include <algorithm>

#include "worker/lb/schedule.h"

namespace penstock {

Farm::Farm(const Service &service, u32 slot, const Proxy &backend, WaiterPool &waiters)
    : service_(service), slot_(slot), backend_(backend), backend_row_(service.proxy(backend.back_row)), waiters_(waiters),
      choose_(algorithm_of(backend.balance.algorithm)) {
  members_.reserve(backend.servers.size());
  for (const auto &s : backend.servers) {
    ServerRow &r = service.server(s->row);
    members_.push_back({s.get(), &r, 0, is_running(r)});
  }
}

/// Something changed: who is usable, or a weight.
void Farm::rebuild() {
  epoch_ = backend_row_.epoch.load(std::memory_order_acquire);
  for (u32 m = 0; m < members_.size(); m++) {
    bool runs = is_running(*members_[m].row);
    if (members_[m].running && !runs) went_down_.push_back(m);
    if (!members_[m].running && runs) came_up_.push_back(m);
    members_[m].running = runs;
  }
  candidates_.clear();
  for (u32 m = 0; m < members_.size(); m++)
    if (members_[m].row->takes_part.load(std::memory_order_relaxed)) candidates_.push_back(m);
  candidates_are_backup_ = !candidates_.empty() && members_[candidates_.front()].server->options->backup;
  bool is_static = backend_.balance.algorithm == BalanceAlgorithm::StaticRr || hashes_by_map();
  std::vector<u32> weights(members_.size(), 0);
  std::vector<HashRing::Entry> entries;
  for (u32 m : candidates_) {
    Member &member = members_[m];
    // A static algorithm uses the configured weight, and no slow start.
    member.weight = is_static ? member.row->configured_weight * weight_scale : member.row->effective_weight.load(std::memory_order_relaxed);
    weights[m] = member.weight;
    entries.push_back({m, member.server->id, member.weight});
  }
  if (backend_.balance.algorithm == BalanceAlgorithm::StaticRr) {
    ring_.build_map(entries);
    schedule_.assign(ring_.map().begin(), ring_.map().end());
  } else {
    build_schedule(weights, schedule_);
  }
  by_id_ = candidates_;
  std::stable_sort(by_id_.begin(), by_id_.end(), [&](u32 a, u32 b) { return members_[a].server->id < members_[b].server->id; });
  if (hashes_by_map())
    ring_.build_map(entries);
  else if (uses_ring())
    ring_.build_points(entries);
}

bool Farm::has_usable() {
  refresh();
  return !candidates_.empty();
}

bool Farm::accepts_persistent(const Server &s) const { return is_running(row(s)); }

const Server *Farm::server_of_row(u32 r) const {
  for (const Member &m : members_)
    if (m.server->row == r) return m.server;
  return nullptr;
}

// ---------------------------------------------------------------------------------------------- slots

bool Farm::try_take(const Server &s) {
  ServerRow &r = row(s);
  u32 limit = slot_limit(r, backend_row_);
  if (limit && r.queued.load() != 0) return false; // others were here before
  u32 now = take_within(server_share(service_, slot_, s.row), limit);
  if (now == 0) return false;
  note_taken(r, now);
  return true;
}

void Farm::note_taken(ServerRow &r, u32 now_served) const { raise_to(r.sess_max, now_served); }

void Farm::release(const Server &s) {
  ServerRow &r = row(s);
  give_back(server_share(service_, slot_, s.row));
  if (has_waiters(r, backend_row_)) [[unlikely]]
    service_.wake_many(serve_waiters(service_, s.row));
}

void Farm::enter() {
  u32 now = take(proxy_share(service_, slot_, backend_.back_row));
  raise_to(backend_row_.sess_max, now);
}
void Farm::exit() { give_back(proxy_share(service_, slot_, backend_.back_row)); }

// -------------------------------------------------------------------------------------------- waiting

u32 Farm::join(const Server *server, Priority priority, WaiterOwner owner, i64 now_us, QueuePlace *place) {
  if (place) *place = {server ? row(*server).queued.load() : 0, backend_row_.queued.load()};
  u32 w = waiters_.join({backend_.back_row, server ? server->row : no_row, priority.priority_class, priority.offset_ms, now_us, owner});
  if (w == no_row) return w;
  // A slot may have become free before we were in line.
  u64 wake = 0;
  if (server)
    wake = serve_waiters(service_, server->row);
  else
    for (u32 m : candidates_) wake |= serve_waiters(service_, members_[m].server->row);
  service_.wake_many(wake);
  return w;
}

const Server *Farm::accept(u32 waiter) {
  if (waiters_.state(waiter) == WaiterState::Granted) {
    const Server *s = server_of_row(waiters_.take(waiter));
    if (s) note_taken(row(*s), row(*s).served.count());
    return s;
  }
  leave(waiter);
  return nullptr;
}

void Farm::leave(u32 waiter) {
  u32 granted;
  if (!waiters_.leave(waiter, granted)) return;
  if (const Server *s = server_of_row(granted)) release(*s);
}

} // namespace penstock
