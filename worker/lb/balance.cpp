// SPDX-License-Identifier: BSD-2-Clause
// The balancing algorithms (manual, "balance"). Each returns a server whose slot it has taken, or says
// where to wait. What they compare is shared by all workers: positions, loads, queues.
#include <algorithm>

#include "shared/base/hash.h"
#include "worker/lb/farm.h"
#include "worker/lb/hash_key.h"

namespace penstock {

struct Farm::Algorithm {
  BalanceAlgorithm name;
  Choose choose;
};
constexpr Farm::Algorithm Farm::algorithms[] = {
    {BalanceAlgorithm::RoundRobin, &Farm::round_robin}, {BalanceAlgorithm::StaticRr, &Farm::round_robin},
    {BalanceAlgorithm::LeastConn, &Farm::least_connections}, {BalanceAlgorithm::First, &Farm::first_free},
    {BalanceAlgorithm::Source, &Farm::by_hash}, {BalanceAlgorithm::Uri, &Farm::by_hash},
    {BalanceAlgorithm::UrlParam, &Farm::by_hash}, {BalanceAlgorithm::Hdr, &Farm::by_hash},
    {BalanceAlgorithm::Random, &Farm::random_draws}, {BalanceAlgorithm::RdpCookie, &Farm::by_hash},
    {BalanceAlgorithm::Hash, &Farm::by_hash}, {BalanceAlgorithm::Sticky, &Farm::round_robin},
    {BalanceAlgorithm::None, &Farm::round_robin},
};

Farm::Choose Farm::algorithm_of(BalanceAlgorithm name) {
  for (const Algorithm &a : algorithms)
    if (a.name == name) return a.choose;
  return &Farm::round_robin;
}

/// Whether hashing goes by the static map, or by the ring.
bool Farm::hashes_by_map() const { return choose_ == &Farm::by_hash && backend_.balance.hash == HashKind::MapBased; }
bool Farm::uses_ring() const { return choose_ == &Farm::random_draws || (choose_ == &Farm::by_hash && !hashes_by_map()); }

PickResult Farm::pick(const PickRequest &request) {
  refresh();
  if (request.wanted) {
    PickResult result = pick_wanted(request);
    if (result.outcome != PickOutcome::NoServer) return result;
  }
  if (candidates_.empty()) return {};
  if (backend_row_.queued.load() != 0) return {PickOutcome::Wait, nullptr}; // behind those who came before
  return (this->*choose_)(request);
}

PickResult Farm::pick_or_direct(const PickRequest &request) {
  refresh();
  if (request.wanted) {
    PickResult result = pick_wanted(request);
    if (result.outcome != PickOutcome::NoServer) return result;
  }
  const Server &direct = *backend_.direct;
  take(server_share(service_, slot_, direct.row));
  return {PickOutcome::Chosen, &direct};
}

/// Persistence or use-server name the server: it gets the request while it runs (or is forced), now or
/// through its queue; not when that is at its `maxqueue`.
PickResult Farm::pick_wanted(const PickRequest &request) {
  const Server &s = *request.wanted;
  ServerRow &r = row(s);
  if (!is_running(r) && !request.forced) return {};
  if (try_take(s)) return {PickOutcome::Chosen, &s};
  u32 maxqueue = r.maxqueue.load(std::memory_order_relaxed);
  if (maxqueue && r.queued.load() >= maxqueue) return {};
  return {PickOutcome::Wait, &s};
}

/// Positions are drawn from shared memory, so that all workers together serve the schedule in order. A
/// server that is full costs a position, as if it had been served.
PickResult Farm::round_robin(const PickRequest &request) {
  std::atomic<u32> &position = candidates_are_backup_ ? backend_row_.rr_backup_position : backend_row_.rr_position;
  for (size_t draws = 0; draws < 2 * candidates_.size(); draws++) {
    u32 m = schedule_[position.fetch_add(1, std::memory_order_relaxed) % schedule_.size()];
    if (!is_avoided(m, request) && try_take(*members_[m].server)) return chosen(m);
  }
  return wait_or_take_any(request);
}

/// Nobody was free when looked at one by one: any that is by now, else the backend's queue.
PickResult Farm::wait_or_take_any(const PickRequest &request) {
  for (u32 m : candidates_)
    if (!is_avoided(m, request) && try_take(*members_[m].server)) return chosen(m);
  return {PickOutcome::Wait, nullptr};
}

/// The smallest load per weight; equals take turns. The choice counts only if the server's load is still
/// what it was compared by.
PickResult Farm::least_connections(const PickRequest &request) {
  u32 n = static_cast<u32>(candidates_.size());
  u32 start = backend_row_.rr_position.fetch_add(1, std::memory_order_relaxed) % n;
  for (int attempt = 0; attempt < 64; attempt++) {
    u32 best = no_row;
    u64 best_load = 0, best_word = 0;
    for (u32 i = 0; i < n; i++) {
      u32 m = candidates_[start + i < n ? start + i : start + i - n];
      Member &member = members_[m];
      u64 word = member.row->served.word.load(std::memory_order_acquire);
      u32 served = static_cast<u32>(word), queued = member.row->queued.load(std::memory_order_relaxed);
      u32 limit = slot_limit(*member.row, backend_row_);
      if (is_avoided(m, request) || (limit && (served >= limit || queued))) continue;
      u64 load = u64{served} + queued;
      if (best != no_row && load * members_[best].weight >= best_load * member.weight) continue;
      best = m, best_load = load, best_word = word;
      if (load == 0) break; // nobody has less to do: with many servers few are looked at
    }
    if (best == no_row) return {PickOutcome::Wait, nullptr};
    if (!take_unchanged(server_share(service_, slot_, members_[best].server->row), best_word)) continue;
    note_taken(*members_[best].row, static_cast<u32>(best_word) + 1);
    return chosen(best);
  }
  return wait_or_take_any(request);
}

/// The lowest id that has a free slot.
PickResult Farm::first_free(const PickRequest &request) {
  for (u32 m : by_id_)
    if (!is_avoided(m, request) && try_take(*members_[m].server)) return chosen(m);
  return {PickOutcome::Wait, nullptr};
}

/// The least loaded of some drawn at random (by weight).
PickResult Farm::random_draws(const PickRequest &request) {
  u64 random = request.random;
  u32 best = no_row;
  u64 best_load = 0;
  for (u32 draw = 0; draw < std::max<u32>(1, backend_.balance.draws); draw++) {
    random = random * 6364136223846793005 + 1442695040888963407;
    u32 m = within_balance_factor(static_cast<u32>(random >> 32), request);
    if (m == no_row) continue;
    u64 load = load_of(members_[m]);
    if (best != no_row && load * members_[best].weight >= best_load * members_[m].weight) continue;
    best = m, best_load = load;
  }
  if (best != no_row && try_take(*members_[best].server)) return chosen(best);
  return wait_or_take_any(request);
}

/// The server that the key's hash designates, now or through its queue.
PickResult Farm::by_hash(const PickRequest &request) {
  u32 hash = 0;
  if (!hash_key(backend_.balance, request, hash)) return round_robin(request);
  u32 m = within_balance_factor(hash, request);
  if (m == no_row) return wait_or_take_any(request);
  const Server &s = *members_[m].server;
  if (try_take(s)) return chosen(m);
  u32 maxqueue = members_[m].row->maxqueue.load(std::memory_order_relaxed);
  if (maxqueue && members_[m].row->queued.load() >= maxqueue) return wait_or_take_any(request);
  return {PickOutcome::Wait, &s};
}

/// The hash's member of the ring or map, or the next that is not avoided and, with `hash-balance-factor`,
/// not loaded beyond that percentage of its share of all requests in the backend.
u32 Farm::within_balance_factor(u32 hash, const PickRequest &request) const {
  u32 factor = backend_.balance.balance_factor, found = no_row, first = no_row;
  u64 total_load = 0, total_weight = 0;
  if (factor) {
    for (u32 m : candidates_) total_load += load_of(members_[m]), total_weight += members_[m].weight;
  }
  ring_.walk(hash, [&](u32 m) {
    if (is_avoided(m, request)) return false;
    if (first == no_row) first = m;
    if (factor) {
      // May have ceil((total + 1) * share * factor) requests, the new one included.
      u64 room = ((total_load + 1) * members_[m].weight * factor + total_weight * 100 - 1) / (total_weight * 100);
      if (load_of(members_[m]) + 1 > room) return false;
    }
    found = m;
    return true;
  });
  return found != no_row ? found : first;
}

} // namespace penstock
