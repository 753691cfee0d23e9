// SPDX-License-Identifier: BSD-2-Clause
#include "worker/log/state_dump.h"

#include <string>

#include "worker/control.h"
#include "worker/log/sinks.h"

namespace penstock {

namespace {

std::string text(u64 n) { return std::to_string(n); }

void dump_server(const Service &service, const Server &s) {
  const ServerRow &row = service.server(s.row);
  log_line(*s.proxy, LogLevel::Notice,
           "SIGHUP: Server " + s.proxy->name + "/" + s.name + " is " + (is_running(row) ? "UP" : "DOWN") + ". Conn: " + text(row.served.count()) + " act, " +
               text(row.queued.load()) + " pend, " + text(service.sum_server(s.row).sessions.get()) + " tot.");
}

std::string availability(const Service &service, const Proxy &p) {
  if (!p.is_backend || p.servers.empty()) return "has no servers";
  ServerCount usable = count_usable(service, p);
  if (usable.active) return "has " + text(usable.active) + " active servers and " + text(usable.backup) + " backup servers available";
  return usable.backup ? "is running on backup servers !" : "has no server available !";
}

void dump_proxy(const Service &service, const Proxy &p) {
  log_line(p, LogLevel::Notice, "SIGHUP received, dumping servers states for proxy " + p.name + ".");
  for (const auto &s : p.servers) dump_server(service, *s);
  u64 front = 0, back = 0, front_total = 0, back_total = 0, waiting = 0, unassigned = 0;
  if (p.is_frontend) front = service.proxy(p.front_row).conns.count(), front_total = service.sum_proxy(p.front_row).sessions.get();
  if (p.is_backend) {
    const ProxyRow &row = service.proxy(p.back_row);
    back = row.conns.count(), back_total = service.sum_proxy(p.back_row).sessions.get();
    waiting = row.total_queued.load(), unassigned = row.queued.load();
  }
  std::string state = availability(service, p);
  log_line(p, LogLevel::Notice,
           "SIGHUP: Proxy " + p.name + " " + state + (state.ends_with('!') ? "" : ".") + " Conn: act(FE+BE): " + text(front) + "+" + text(back) + ", " + text(waiting) +
               " pend (" + text(unassigned) + " unass), tot(FE+BE): " + text(front_total) + "+" + text(back_total) + ".");
}

} // namespace

void dump_states(Control &control) {
  for (const auto &p : control.config->proxies)
    if (!p->disabled) dump_proxy(*control.service, *p);
}

} // namespace penstock
