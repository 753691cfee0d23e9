// SPDX-License-Identifier: BSD-2-Clause
// What is left to do when a worker has ended, softly or by SIGKILL at any instruction: its totals are
// added to the base, its shares of gauges are taken back, its waiting requests leave their queues.
// Called by the master; other processes go on meanwhile.
#include <fcntl.h>
#include <sched.h>

#include "shared/shm/gauge.h"
#include "shared/shm/queue.h"
#include "shared/shm/service.h"

namespace penstock {

namespace {

void subtract(SharedGauge &gauge, u32 share) {
  if (share) gauge.word.fetch_add((u64{1} << 32) - share);
}

void add_totals(Counter *base, Counter *from, size_t gauges, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (from[i].value == 0) continue;
    if (i >= gauges) base[i] += from[i].value;
    from[i].value = 0;
  }
}

template <class Set> Counter *counters(Set &set) { return reinterpret_cast<Counter *>(&set); }
template <class Set> constexpr size_t count_of = sizeof(Set) / sizeof(Counter);

void repair_totals(void *, RobustStripe &) {} // each total moves by itself: nothing is ever half-built

/// Runs `change` while readers of sums wait.
template <class Fn> void with_totals_locked(ServiceRow &row, RobustStripe &stripe, Fn change) {
  StripeGuard guard(stripe, repair_totals, nullptr);
  if (row.fold_version & 1) row.fold_version++; // who was here before us died
  row.fold_version++;
  change();
  row.fold_version++;
}

} // namespace

void Service::move_totals_to_base(u32 dead) {
  with_totals_locked(*service_, stripes_[stripe_count], [&] {
    for (u32 r = 0, n = server_rows(); r < n; r++)
      add_totals(counters(server_cell(base_slot, r).counters), counters(server_cell(dead, r).counters), server_gauges, count_of<ServerCounters>);
    for (u32 r = 0, n = proxy_rows(); r < n; r++)
      add_totals(counters(proxy_cell(base_slot, r).counters), counters(proxy_cell(dead, r).counters), proxy_gauges, count_of<ProxyCounters>);
    for (u32 r = 0, n = listener_rows(); r < n; r++)
      add_totals(counters(listener_counters(base_slot, r)), counters(listener_counters(dead, r)), proxy_gauges, count_of<ProxyCounters>);
    add_totals(counters(slot(base_slot).process), counters(slot(dead).process), process_gauges, count_of<ProcessCounters>);
  });
}

/// Of every gauge that is certain, the dead worker's share is subtracted; the one that it was changing
/// when it died is counted anew.
void Service::return_gauges(u32 dead) {
  SlotHeader &header = slot(dead);
  u64 doubt = header.gauge_sequence & 1 ? header.gauge_changing.load() : gauge_id(GaugeKind::None, 0);
  auto give_back_all = [&](SharedGauge &gauge, u32 &held, u64 id) {
    u32 share = held;
    set_held(held, 0);
    if (id != doubt) subtract(gauge, share);
  };
  for (u32 r = 0, n = server_rows(); r < n; r++) give_back_all(server(r).served, server_cell(dead, r).held, gauge_id(GaugeKind::Server, r));
  for (u32 r = 0, n = proxy_rows(); r < n; r++) give_back_all(proxy(r).conns, proxy_cell(dead, r).held, gauge_id(GaugeKind::Proxy, r));
  give_back_all(service_->conns, header.held_conns, gauge_id(GaugeKind::Connections, 0));
  give_back_all(service_->ssl_conns, header.held_ssl, gauge_id(GaugeKind::SslConnections, 0));
  header.gauge_sequence = 0; // certain from here on
  if (doubt) count_anew(*this, doubt);
  for (u32 r = 0, n = server_rows(); r < n; r++)
    if (server(r).backend_row != no_row && has_waiters(server(r), proxy(server(r).backend_row))) wake_many(serve_waiters(*this, r));
}

void Service::fold_slot(u32 dead) {
  forget_waiters(*this, dead); // repairs what the dead left locked
  return_gauges(dead);
  move_totals_to_base(dead);
  // The block's pages go back to the system; what is read there again is zero, and the slot is Free.
  slot(dead).state = static_cast<u32>(SlotState::Free);
  fallocate(segment_->fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            static_cast<off_t>(reinterpret_cast<char *>(&slot(dead)) - segment_->base()), static_cast<off_t>(block_layout::bytes));
  after_a_death(*this);
}

void Service::clear_counters(bool totals) {
  for (u32 r = 0, n = server_rows(); r < n; r++) {
    ServerRow &row = server(r);
    row.rate_max = 0, row.sess_max = row.served.count(), row.queue_max = row.queued.load();
    for (auto &longest : row.time_max_ms) longest = 0;
  }
  for (u32 r = 0, n = proxy_rows(); r < n; r++) {
    ProxyRow &row = proxy(r);
    row.conn_max = row.sess_max = row.conns.count();
    row.queue_max = row.total_queued.load();
    row.conn_rate_max = row.sess_rate_max = row.req_rate_max = 0;
    for (auto &longest : row.time_max_ms) longest = 0;
  }
  ServiceRow &all = *service_;
  all.conn_rate_max = all.sess_rate_max = all.ssl_rate_max = 0;
  all.max_conns = all.conns.count(), all.max_ssl_conns = all.ssl_conns.count();
  if (!totals) return;
  // Blocks have a single writer each, so the base takes the negative of all that was counted.
  with_totals_locked(all, stripes_[stripe_count], [&] {
    auto zero = [&](size_t gauges, size_t n, auto counters_of) {
      for (size_t i = gauges; i < n; i++) {
        u64 seen = 0;
        for (u32 s = 0; s < max_slots; s++)
          if (slot_in_use(s)) seen += counters_of(s)[i].get();
        __atomic_store_n(&counters_of(base_slot)[i].value, u64{0} - seen, __ATOMIC_RELAXED);
      }
    };
    for (u32 r = 0, n = server_rows(); r < n; r++) zero(server_gauges, count_of<ServerCounters>, [&](u32 s) { return counters(server_cell(s, r).counters); });
    for (u32 r = 0, n = proxy_rows(); r < n; r++) zero(proxy_gauges, count_of<ProxyCounters>, [&](u32 s) { return counters(proxy_cell(s, r).counters); });
    for (u32 r = 0, n = listener_rows(); r < n; r++) zero(proxy_gauges, count_of<ProxyCounters>, [&](u32 s) { return counters(listener_counters(s, r)); });
    for (u32 r = 0, n = server_rows(); r < n; r++)
      for (auto &mean : server(r).time_mean_us) mean.clear();
    for (u32 r = 0, n = proxy_rows(); r < n; r++)
      for (auto &mean : proxy(r).time_mean_us) mean.clear();
    for (u32 r = 0, n = server_rows(); r < n; r++) server(r).downs = 0, server(r).check.failed = 0, server(r).downtime_s = 0;
    for (u32 r = 0, n = proxy_rows(); r < n; r++) proxy(r).downs = 0, proxy(r).downtime_s = 0;
  });
}

} // namespace penstock
