// SPDX-License-Identifier: BSD-2-Clause
// Changing what a server is: admin state, health, weight, limits, address. Called by the control process
// (checks, runtime socket) and by workers (observe); every change is complete for the whole host when
// the call returns: it is in the row, the backend's epoch has moved, waiting requests have been served
// or told to choose again, and workers were woken to look.
#pragma once

#include <unordered_map>
#include <vector>

#include "shared/model/config.h"
#include "shared/shm/service.h"

namespace penstock {

/// The weight that balancing uses now, in units of weight_scale: 0 when the server gets no new traffic, less
/// than its weight during slow start (manual, "slowstart").
u32 effective_weight(const Server &server, const ServerRow &row, Tick now);

/// Writes into the rows who takes part in balancing: every usable server that is no backup; without any,
/// the first usable backup, or all of them (`option allbackups`). For whoever changes weights or states.
void choose_serving(const Service &service, const Proxy &backend);

/// The words that the statistics page and `show stat` use: UP, DOWN, MAINT, DRAIN, NOLB, "no check", …
string_view server_status_word(const Server &server, const ServerRow &row);

/// The servers of a configuration with their rows; knows who tracks whom.
class ServerStates : Pinned {
 public:
  ServerStates(Service &service, const Config &config);

  ServerRow &row(const Server &s) const { return service_.server(s.row); }

  // ---------------------------------------------------------------- health (checks, observe, on-error)
  /// Down: no new traffic; waiting requests choose again if the backend redispatches. False if it was down.
  bool set_down(const Server &s, Tick now);
  /// Up again, through slow start where configured. False if it was up.
  bool set_up(const Server &s, Tick now);
  /// disable-on-404: up, for persistent traffic only. False if it was so.
  bool set_stopping(const Server &s, Tick now);

  // ---------------------------------------------------------------- by hand (runtime socket, statistics page, agent)
  /// Adds and removes bits of `admin`; trackers inherit. True if something changed.
  bool change_admin(const Server &s, u32 set, u32 clear, Tick now);
  bool maintain(const Server &s, Tick now) { return change_admin(s, admin_forced_maint, admin_forced_drain, now); }
  bool drain(const Server &s, Tick now) { return change_admin(s, admin_forced_drain, admin_forced_maint | admin_config_maint, now); }
  bool make_ready(const Server &s, Tick now) { return change_admin(s, 0, admin_forced_drain | admin_forced_maint | admin_config_maint, now); }
  /// 0-256.
  void set_weight(const Server &s, u32 weight, Tick now);
  void set_maxconn(const Server &s, u32 maxconn);
  void set_address(const Server &s, const Address &address);

  /// Steps of slow start; when the next one is due (`never`: nobody is starting). Control calls it.
  Tick advance_slow_starts(Tick now);
  /// After a reload or start: rebuilds what follows from the rows.
  void refresh_all(Tick now);

  const std::vector<const Server *> &trackers(const Server &s) const;

 private:
  bool change_op(const Server &s, OpState to, Tick now);
  void apply(const Server &s, Tick now, bool was_running);
  void note_backend_change(const Proxy &p, Tick now);

  Service &service_;
  const Config &config_;
  std::unordered_map<const Server *, std::vector<const Server *>> trackers_;
  std::vector<const Server *> starting_;
};

/// The address to connect to: the one set at run time, else the configured one.
bool runtime_address(const ServerRow &row, Address &out);
void write_address(SharedAddress &shared, const Address &address);
/// False: never set.
bool read_address(const SharedAddress &shared, Address &out);

/// Usable servers (not counting backups unless none else is usable): what `act`, `bck` and `nbsrv` count.
struct ServerCount { u32 active = 0, backup = 0; };
ServerCount count_usable(const Service &service, const Proxy &backend);

} // namespace penstock
