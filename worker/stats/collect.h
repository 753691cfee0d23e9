// SPDX-License-Identifier: BSD-2-Clause
// Goes through everything that has statistics, one line of `show stat` at a time, in the order that the
// reference has: of each proxy its frontend, its listeners (option socket-stats), its servers, its
// backend. Keeps only a position, so that an answer of any size can be made piece by piece.
#pragma once

#include "worker/stats/fields.h"

namespace penstock {

/// Which lines are wanted: `show stat [<iid>|<name> <type> <sid>] [up] [no-maint]`, `stats scope`.
struct StatFilter {
  i64 iid = -1;               // -1: any
  string_view proxy_name;     // instead of iid; "" any
  u32 types = 7;              // 1 frontends, 2 backends, 4 servers; listeners come with frontends
  i64 sid = -1;
  bool up_only = false, no_maint = false;
  const std::vector<std::string> *scopes = nullptr; // empty or null: all; "." is `own`
  const Proxy *own = nullptr;
  string_view name_part;      // of the page's ;scope=: proxies whose name contains it
};

class StatCursor {
 public:
  StatCursor(const Config &config, const Service &service, StatFilter filter)
      : config_(&config), service_(&service), filter_(std::move(filter)) {}
  /// Fills `out` with the next line's subject; false after the last one.
  bool next(StatSubject &out);
  /// The times that all lines of one answer show.
  void set_time(Tick now, i64 wall_s) { now_ = now, wall_s_ = wall_s; }

 private:
  enum class Part : u8 { Front, Listeners, Servers, Back };
  bool wanted(const Proxy &p) const;
  bool part(const Proxy &p, StatSubject &out);
  bool server(const Proxy &p, StatSubject &out);
  void advance(Part to) { part_ = to, index_ = 0; }

  const Config *config_;
  const Service *service_;
  StatFilter filter_;
  size_t proxy_ = 0, index_ = 0;
  Part part_ = Part::Front;
  Tick now_ = 0;
  i64 wall_s_ = 0;
};

/// Sums over the servers of a backend.
BackendTotals backend_totals(const Proxy &p, const Service &service);

} // namespace penstock
