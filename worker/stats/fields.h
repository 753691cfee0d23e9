// SPDX-License-Identifier: BSD-2-Clause
// The statistics of frontends, backends, servers and listeners: one row per figure, in the order and
// with the names of the management guide (9.1), its tags (9.2) and the function that reads it. CSV, typed
// and JSON dumps, the page and the Prometheus exporter are loops over these rows.
#pragma once

#include <span>
#include <string>

#include "shared/model/config.h"
#include "shared/shm/counters.h"
#include "shared/shm/service.h"

namespace penstock {

/// What a line of `show stat` is about; the numbers are those of its "type" column.
enum class StatObject : u8 { Frontend, Backend, Server, Listener };
enum StatOn : u8 { on_f = 1, on_b = 2, on_s = 4, on_l = 8, on_fb = 3, on_bs = 6, on_fl = 9, on_fbs = 7, on_fbl = 11, on_sl = 12, on_all = 15 };

struct StatValue {
  enum Type : u8 { Empty, U32, S32, U64, S64, Str } type = Empty;
  u64 num = 0;
  string_view str; // lives as long as the subject, until its next text
  static StatValue none() { return {}; }
  static StatValue u32_of(u64 n) { return {U32, n, {}}; }
  static StatValue s32_of(i64 n) { return {S32, static_cast<u64>(n), {}}; }
  static StatValue u64_of(u64 n) { return {U64, n, {}}; }
  static StatValue text(string_view s) { return {Str, 0, s}; }
};
string_view type_word(StatValue::Type t); // "u32", …

/// The sums over the servers of a backend that its line shows.
struct BackendTotals {
  u32 active = 0, backup = 0, weight = 0, user_weight = 0, up = 0, checked_up = 0, checked = 0, servers = 0;
};

/// One line: the object, its counters summed over all workers, its shared row.
struct StatSubject {
  StatObject object = StatObject::Frontend;
  const Proxy *proxy = nullptr;
  const Server *server = nullptr;
  const Bind *bind = nullptr;
  u32 bind_number = 0;
  ProxyCounters p;   // frontend, backend, listener
  ServerCounters s;  // server
  const ProxyRow *front = nullptr; // frontend, backend, listener
  const ServerRow *row = nullptr;
  BackendTotals totals;
  Tick now = 0;
  i64 wall_s = 0;
  u32 maxconn = 0, fullconn = 0;
  std::string scratch; // of values that are composed
};

/// Origin, nature and scope as 9.2 names them: "MGP" is a metric, a gauge, of the process.
struct StatField {
  string_view name;
  u8 on = 0; // StatOn
  char tags[4] = {};
  string_view summary;
  StatValue (*get)(StatSubject &) = nullptr;
};
std::span<const StatField> stat_fields();

/// "UP", "DOWN 1/2", "MAINT (via be/s1)", "no check", …: the status column of a server.
string_view server_status(const Server &server, const ServerRow &row, std::string &scratch);
/// Whether new connections may be sent to it.
bool server_usable(const ServerRow &row);
string_view balance_name(BalanceAlgorithm a);
string_view mode_name(Mode m);

} // namespace penstock
