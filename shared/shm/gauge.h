// SPDX-License-Identifier: BSD-2-Clause
// Taking and giving back shares of shared gauges (a server's slots, a frontend's connections) so that
// a worker killed at any instruction can be undone exactly. A change is announced in the slot's header
// (odd sequence, which gauge), noted in the slot's own cell, then made in the shared word; so at most
// one gauge per dead worker is in doubt, and that one is counted anew from all cells (fold.cpp).
#pragma once

#include "shared/shm/service.h"

namespace penstock {

enum class GaugeKind : u32 { None, Server, Proxy, Connections, SslConnections };
constexpr u64 gauge_id(GaugeKind kind, u32 row) { return u64{static_cast<u32>(kind)} << 32 | row; }

/// A gauge as one worker changes it.
struct GaugeShare {
  SlotHeader &slot;
  SharedGauge &gauge;
  u32 &held;
  u64 id;
};
inline GaugeShare server_share(const Service &s, u32 slot, u32 row) {
  return {s.slot(slot), s.server(row).served, s.server_cell(slot, row).held, gauge_id(GaugeKind::Server, row)};
}
inline GaugeShare proxy_share(const Service &s, u32 slot, u32 row) {
  return {s.slot(slot), s.proxy(row).conns, s.proxy_cell(slot, row).held, gauge_id(GaugeKind::Proxy, row)};
}
inline GaugeShare connections_share(const Service &s, u32 slot) {
  return {s.slot(slot), s.row().conns, s.slot(slot).held_conns, gauge_id(GaugeKind::Connections, 0)};
}
inline GaugeShare ssl_connections_share(const Service &s, u32 slot) {
  return {s.slot(slot), s.row().ssl_conns, s.slot(slot).held_ssl, gauge_id(GaugeKind::SslConnections, 0)};
}

/// Announces a change for a scope.
class GaugeChange : Pinned {
 public:
  explicit GaugeChange(const GaugeShare &share) : slot_(share.slot), sequence_(slot_.gauge_sequence.load(std::memory_order_relaxed)) {
    slot_.gauge_changing.store(share.id, std::memory_order_release);
    slot_.gauge_sequence.store(sequence_ + 1, std::memory_order_release);
  }
  ~GaugeChange() { slot_.gauge_sequence.store(sequence_ + 2, std::memory_order_release); }

 private:
  SlotHeader &slot_;
  u64 sequence_;
};
inline void set_held(u32 &held, u32 value) { __atomic_store_n(&held, value, __ATOMIC_RELEASE); }
inline constexpr u64 gauge_up = (u64{1} << 32) + 1, gauge_down = (u64{1} << 32) - 1;

/// One more; the count after it.
inline u32 take(const GaugeShare &s) {
  GaugeChange announced(s);
  set_held(s.held, s.held + 1);
  return static_cast<u32>(s.gauge.word.fetch_add(gauge_up)) + 1;
}
/// One more if that stays within `limit` (0: none): the count after it, or 0 when it is full.
inline u32 take_within(const GaugeShare &s, u32 limit) {
  if (limit == 0) return take(s);
  u64 seen = s.gauge.word.load(std::memory_order_relaxed);
  if (static_cast<u32>(seen) >= limit) return 0;
  GaugeChange announced(s);
  set_held(s.held, s.held + 1);
  do {
    if (static_cast<u32>(seen) >= limit) {
      set_held(s.held, s.held - 1);
      return 0;
    }
  } while (!s.gauge.word.compare_exchange_weak(seen, seen + gauge_up));
  return static_cast<u32>(seen) + 1;
}
/// One more if nobody has changed the gauge since `seen` was read.
inline bool take_unchanged(const GaugeShare &s, u64 seen) {
  GaugeChange announced(s);
  set_held(s.held, s.held + 1);
  if (s.gauge.word.compare_exchange_strong(seen, seen + gauge_up)) return true;
  set_held(s.held, s.held - 1);
  return false;
}
/// One less; the count after it.
inline u32 give_back(const GaugeShare &s) {
  GaugeChange announced(s);
  u32 left = static_cast<u32>(s.gauge.word.fetch_add(gauge_down)) - 1;
  set_held(s.held, s.held - 1);
  return left;
}

} // namespace penstock
