// SPDX-License-Identifier: BSD-2-Clause
#include "shared/shm/queue.h"

#include <sched.h>

#include "shared/shm/gauge.h"

namespace penstock {

namespace {

/// Waiter rows by one number over all slots.
struct Rows {
  const Service &service;
  Waiter &operator[](u32 id) const { return service.waiter(id / waiters_per_slot, id % waiters_per_slot); }
};
constexpr u32 waiter_id(u32 slot, u32 index) { return slot * waiters_per_slot + index; }

bool before(const Waiter &a, const Waiter &b) {
  if (a.priority_class != b.priority_class) return a.priority_class < b.priority_class;
  if (a.when_us != b.when_us) return a.when_us < b.when_us;
  return a.order < b.order;
}

// ----------------------------------------------------------------------------------- the tree: a treap

void insert(Rows rows, u32 &root, u32 id) {
  Waiter &w = rows[id];
  u32 *link = &root;
  while (*link != no_row && rows[*link].priority >= w.priority) link = before(w, rows[*link]) ? &rows[*link].left : &rows[*link].right;
  u32 rest = *link, *smaller = &w.left, *larger = &w.right;
  while (rest != no_row) {
    Waiter &r = rows[rest];
    if (before(r, w)) {
      *smaller = rest, smaller = &r.right, rest = r.right;
    } else {
      *larger = rest, larger = &r.left, rest = r.left;
    }
  }
  *smaller = *larger = no_row;
  *link = id;
}

bool remove(Rows rows, u32 &root, u32 id) {
  Waiter &w = rows[id];
  u32 *link = &root;
  while (*link != id) {
    if (*link == no_row) return false;
    link = before(w, rows[*link]) ? &rows[*link].left : &rows[*link].right;
  }
  u32 a = w.left, b = w.right;
  while (a != no_row && b != no_row) {
    if (rows[a].priority > rows[b].priority) {
      *link = a, link = &rows[a].right, a = *link;
    } else {
      *link = b, link = &rows[b].left, b = *link;
    }
  }
  *link = a != no_row ? a : b;
  return true;
}

u32 first(Rows rows, u32 root) {
  if (root == no_row) return no_row;
  while (rows[root].left != no_row) root = rows[root].left;
  return root;
}

// --------------------------------------------------------------------------- queues, under their stripe

u32 &root_of(const Service &s, const Waiter &w) { return w.server_row != no_row ? s.server(w.server_row).queue_root : s.proxy(w.backend_row).queue_root; }

void count_waiting(const Service &s, const Waiter &w, u32 by) {
  ProxyRow &backend = s.proxy(w.backend_row);
  std::atomic<u32> &queued = w.server_row != no_row ? s.server(w.server_row).queued : backend.queued;
  u32 now = queued.fetch_add(by) + by;
  u32 total = backend.total_queued.fetch_add(by) + by;
  if (w.server_row != no_row) raise_to(s.server(w.server_row).queue_max, now);
  raise_to(backend.queue_max, total);
}

void put_in_line(const Service &s, u32 id) {
  Waiter &w = Rows{s}[id];
  insert(Rows{s}, root_of(s, w), id);
  count_waiting(s, w, 1);
}

void take_out_of_line(const Service &s, u32 id) {
  Waiter &w = Rows{s}[id];
  if (remove(Rows{s}, root_of(s, w), id)) count_waiting(s, w, ~u32{0});
}

/// Onto the list that its worker looks at; returns the worker's bit when it must be signalled.
u64 push_woken(const Service &s, u32 id) {
  u32 slot = id / waiters_per_slot;
  SlotHeader &header = s.slot(slot);
  Waiter &w = Rows{s}[id];
  u32 head = header.woken.load(std::memory_order_relaxed);
  do w.next_woken = head;
  while (!header.woken.compare_exchange_weak(head, id % waiters_per_slot));
  return header.signalled.exchange(1) ? 0 : u64{1} << slot;
}

template <class Fn> void each_waiter(const Service &s, Fn fn) {
  for (u32 slot = 0; slot < max_slots; slot++) {
    if (!s.slot_in_use(slot)) continue;
    for (u32 i = 0, n = s.slot(slot).waiters_used; i < n; i++) fn(waiter_id(slot, i), s.waiter(slot, i));
  }
}

bool is(const Waiter &w, WaiterState state) { return w.state.load(std::memory_order_relaxed) == static_cast<u32>(state); }
void become(Waiter &w, WaiterState state) { w.state.store(static_cast<u32>(state), std::memory_order_release); }

bool gauge_cells(const Service &s, GaugeKind kind, u32 row, u64 &sum) {
  sum = 0;
  for (u32 slot = 0; slot < max_slots; slot++) {
    if (!s.slot_in_use(slot)) continue;
    switch (kind) {
      case GaugeKind::Server: sum += s.server_cell(slot, row).held; break;
      case GaugeKind::Proxy: sum += s.proxy_cell(slot, row).held; break;
      case GaugeKind::Connections: sum += s.slot(slot).held_conns; break;
      case GaugeKind::SslConnections: sum += s.slot(slot).held_ssl; break;
      case GaugeKind::None: return false;
    }
    if (kind != GaugeKind::Server) continue;
    for (u32 i = 0, n = s.slot(slot).waiters_used; i < n; i++) {
      Waiter &w = s.waiter(slot, i);
      sum += is(w, WaiterState::Granted) && w.granted_row == row;
    }
  }
  return true;
}

/// The sum of what living slots hold, put into the gauge if no worker touched anything while it was
/// taken: sequences of all slots and the gauge's version tell. Another dead worker in the middle of the
/// same gauge makes this give up; that worker's own fold comes and succeeds.
void count_locked(const Service &s, u64 gauge) {
  GaugeKind kind = static_cast<GaugeKind>(gauge >> 32);
  u32 row = static_cast<u32>(gauge);
  std::atomic<u64> &word = kind == GaugeKind::Server  ? s.server(row).served.word
                           : kind == GaugeKind::Proxy ? s.proxy(row).conns.word
                           : kind == GaugeKind::Connections ? s.row().conns.word
                                                            : s.row().ssl_conns.word;
  u64 sequences[max_slots];
  for (int attempt = 0; attempt < 10'000; attempt++) {
    if (attempt > 100) sched_yield();
    u64 seen = word.load(), sum;
    bool quiet = true;
    for (u32 slot = 0; slot < max_slots; slot++) {
      sequences[slot] = s.slot_in_use(slot) ? s.slot(slot).gauge_sequence.load() : 0;
      quiet &= !(sequences[slot] & 1) || s.slot(slot).gauge_changing.load() != gauge;
    }
    if (!quiet || !gauge_cells(s, kind, row, sum)) continue;
    std::atomic_thread_fence(std::memory_order_acquire);
    for (u32 slot = 0; slot < max_slots; slot++)
      if (s.slot_in_use(slot)) quiet &= s.slot(slot).gauge_sequence.load() == sequences[slot];
    u64 want = ((seen >> 32) + 1) << 32 | sum;
    if (quiet && word.compare_exchange_strong(seen, want)) return;
  }
}

/// The stripe's holder died while it changed something: its queues are built anew from the waiters
/// themselves, the slots of its servers counted anew, and everybody looks whether he was granted one.
void repair_stripe(void *context, RobustStripe &stripe) {
  const Service &s = *static_cast<const Service *>(context);
  auto mine = [&](u32 backend) { return backend != no_row && &s.queue_stripe(backend) == &stripe; };
  for (u32 r = 0, n = s.server_rows(); r < n; r++)
    if (mine(s.server(r).backend_row)) s.server(r).queue_root = no_row, s.server(r).queued = 0;
  for (u32 r = 0, n = s.proxy_rows(); r < n; r++)
    if (mine(r)) s.proxy(r).queue_root = no_row, s.proxy(r).queued = 0, s.proxy(r).total_queued = 0;
  each_waiter(s, [&](u32 id, Waiter &w) {
    if (is(w, WaiterState::Waiting) && mine(w.backend_row)) put_in_line(s, id);
  });
  for (u32 r = 0, n = s.server_rows(); r < n; r++)
    if (mine(s.server(r).backend_row)) count_locked(s, gauge_id(GaugeKind::Server, r));
  after_a_death(s);
}

struct QueueGuard : StripeGuard {
  QueueGuard(const Service &s, u32 backend) : StripeGuard(s.queue_stripe(backend), repair_stripe, const_cast<Service *>(&s)) {}
};

/// The slot that was free is counted for it from now on.
u64 grant(const Service &s, u32 id, u32 server_row) {
  Waiter &w = Rows{s}[id];
  take_out_of_line(s, id);
  w.granted_row = server_row;
  become(w, WaiterState::Granted);
  return push_woken(s, id);
}

u64 serve_locked(const Service &s, u32 server_row) {
  ServerRow &server = s.server(server_row);
  ProxyRow &backend = s.proxy(server.backend_row);
  Rows rows{s};
  u64 wake = 0;
  if (!is_running(server)) return wake;
  for (;;) {
    u32 own = first(rows, server.queue_root), any = server.takes_part ? first(rows, backend.queue_root) : no_row;
    u32 next = own == no_row ? any : any == no_row || before(rows[own], rows[any]) ? own : any;
    if (next == no_row) return wake;
    u32 limit = slot_limit(server, backend);
    StripeChange change(s.queue_stripe(server.backend_row));
    u64 seen = server.served.word.load();
    do {
      if (limit && static_cast<u32>(seen) >= limit) return wake;
    } while (!server.served.word.compare_exchange_weak(seen, seen + gauge_up));
    wake |= grant(s, next, server_row);
  }
}

u64 kick_all(const Service &s, u32 backend_row, u32 &root) {
  u64 wake = 0;
  for (u32 id; (id = first(Rows{s}, root)) != no_row;) {
    StripeChange change(s.queue_stripe(backend_row));
    take_out_of_line(s, id);
    become(Rows{s}[id], WaiterState::Kicked);
    wake |= push_woken(s, id);
  }
  return wake;
}

} // namespace

u32 slot_limit(const ServerRow &server, const ProxyRow &backend) {
  u32 maxconn = server.maxconn.load(std::memory_order_relaxed), minconn = server.minconn.load(std::memory_order_relaxed);
  u32 fullconn = backend.fullconn.load(std::memory_order_relaxed);
  if (minconn == 0 || minconn >= maxconn || fullconn == 0) return maxconn;
  u64 load = backend.conns.count();
  if (load >= fullconn) return maxconn;
  u32 share = static_cast<u32>(load * maxconn / fullconn);
  return share > minconn ? share : minconn;
}

u64 serve_waiters(const Service &s, u32 server_row) {
  QueueGuard guard(s, s.server(server_row).backend_row);
  return serve_locked(s, server_row);
}

u64 kick_waiters(const Service &s, u32 server_row) {
  ServerRow &server = s.server(server_row);
  QueueGuard guard(s, server.backend_row);
  return kick_all(s, server.backend_row, server.queue_root);
}

u64 kick_backend_waiters(const Service &s, u32 backend_row) {
  QueueGuard guard(s, backend_row);
  return kick_all(s, backend_row, s.proxy(backend_row).queue_root);
}

// ------------------------------------------------------------------------------------------- after deaths

void forget_waiters(const Service &s, u32 dead) {
  SlotHeader &header = s.slot(dead);
  u64 doubt = header.gauge_sequence & 1 ? header.gauge_changing.load() : 0;
  for (u32 i = 0, n = header.waiters_used; i < n; i++) {
    Waiter &w = s.waiter(dead, i);
    if (is(w, WaiterState::Free)) continue;
    QueueGuard guard(s, w.backend_row);
    StripeChange change(s.queue_stripe(w.backend_row));
    if (is(w, WaiterState::Waiting)) take_out_of_line(s, waiter_id(dead, i));
    bool granted = is(w, WaiterState::Granted);
    become(w, WaiterState::Free);
    // The gauge in doubt is counted from the cells afterwards.
    if (granted && gauge_id(GaugeKind::Server, w.granted_row) != doubt) s.server(w.granted_row).served.word.fetch_add(gauge_down);
  }
  // A stripe that the dead held without having a waiter there.
  for (u32 i = 0; i < stripe_count; i++) QueueGuard guard(s, i);
}

void count_anew(const Service &s, u64 gauge) {
  if (static_cast<GaugeKind>(gauge >> 32) != GaugeKind::Server) return count_locked(s, gauge);
  QueueGuard guard(s, s.server(static_cast<u32>(gauge)).backend_row); // nobody grants meanwhile
  count_locked(s, gauge);
}

void after_a_death(const Service &s) {
  for (u32 slot = 0; slot < max_slots; slot++)
    if (s.slot_in_use(slot)) s.slot(slot).rescan = 1;
  s.wake_all();
}

// ------------------------------------------------------------------------------------------ WaiterPool

u32 WaiterPool::join(const Request &request) {
  u32 w;
  if (!free_.empty()) {
    w = free_.back();
    free_.pop_back();
  } else {
    if (private_.size() >= waiters_per_slot) return no_row;
    w = static_cast<u32>(private_.size());
    private_.emplace_back();
  }
  Waiter &r = row(w);
  SlotHeader &header = service_.slot(slot_);
  if (header.waiters_used.load(std::memory_order_relaxed) <= w) header.waiters_used.store(w + 1, std::memory_order_release);
  private_[w] = {true, false};
  r.backend_row = request.backend_row;
  r.server_row = request.server_row;
  r.left = r.right = no_row;
  r.priority_class = request.priority_class;
  r.when_us = request.now_us + i64{request.priority_offset_ms} * 1000;
  r.stream_index = request.owner.stream_index;
  r.stream_generation = request.owner.stream_generation;
  QueueGuard guard(service_, request.backend_row);
  StripeChange change(service_.queue_stripe(request.backend_row));
  r.order = service_.row().queue_order.fetch_add(1) + 1;
  r.priority = static_cast<u32>(r.order * 0x9e3779b97f4a7c15 >> 32);
  become(r, WaiterState::Waiting);
  put_in_line(service_, waiter_id(slot_, w));
  return w;
}

/// `may_be_listed`: it was granted or kicked and not collected yet.
void WaiterPool::give_up(u32 w, bool may_be_listed) {
  private_[w].in_line = false;
  if (!may_be_listed || private_[w].told) free_.push_back(w);
}

bool WaiterPool::leave(u32 w, u32 &granted) {
  Waiter &r = row(w);
  {
    QueueGuard guard(service_, r.backend_row);
    if (is(r, WaiterState::Waiting)) {
      StripeChange change(service_.queue_stripe(r.backend_row));
      take_out_of_line(service_, waiter_id(slot_, w));
      become(r, WaiterState::Free);
    }
  }
  if (is(r, WaiterState::Granted)) {
    granted = take(w);
    return true;
  }
  bool kicked = is(r, WaiterState::Kicked);
  become(r, WaiterState::Free);
  give_up(w, kicked);
  return false;
}

u32 WaiterPool::take(u32 w) {
  Waiter &r = row(w);
  u32 server = r.granted_row;
  {
    GaugeShare share = server_share(service_, slot_, server);
    GaugeChange announced(share);
    set_held(share.held, share.held + 1);
    become(r, WaiterState::Free);
  }
  give_up(w, true);
  return server;
}

void WaiterPool::drain_woken() {
  for (u32 w = service_.slot(slot_).woken.exchange(no_row); w != no_row; w = row(w).next_woken) {
    private_[w].told = true;
    if (private_[w].in_line)
      found_.push_back(w);
    else
      free_.push_back(w);
  }
}

/// Somebody died, perhaps between granting and putting the waiter on our list. Having held its stripe, we
/// know that nobody is about to list it any more; what is granted and not listed then was lost.
void WaiterPool::rescan() {
  service_.slot(slot_).rescan.store(0);
  auto decided = [](const Waiter &r) { return is(r, WaiterState::Granted) || is(r, WaiterState::Kicked); };
  std::vector<u32> candidates;
  for (u32 w = 0; w < private_.size(); w++) {
    if (!private_[w].in_line || private_[w].told) continue;
    QueueGuard guard(service_, row(w).backend_row);
    if (decided(row(w))) candidates.push_back(w);
  }
  drain_woken();
  for (u32 w : candidates) {
    if (private_[w].told || !private_[w].in_line) continue;
    private_[w].told = true;
    found_.push_back(w);
  }
}

} // namespace penstock
