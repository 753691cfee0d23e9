// SPDX-License-Identifier: BSD-2-Clause
#include "worker/stats/collect.h"

#include <algorithm>

#include "shared/base/text.h"
#include "shared/model/check_status.h"

namespace penstock {

namespace {

bool check_passed(const ServerRow &row) {
  auto status = static_cast<CheckStatus>(row.check.status.load(std::memory_order_relaxed));
  return status == CheckStatus::L4Ok || status == CheckStatus::L6Ok || status == CheckStatus::L7Ok ||
         status == CheckStatus::L7OkConditional || status == CheckStatus::ProcessOk;
}

/// The weight that counts now: less than the full one during slow start.
u32 current_weight(const ServerRow &row) {
  bool starting = static_cast<OpState>(row.op_state.load(std::memory_order_relaxed)) == OpState::Starting;
  if (!starting) return row.weight.load(std::memory_order_relaxed);
  return (row.effective_weight.load(std::memory_order_relaxed) + weight_scale - 1) / weight_scale;
}

} // namespace

BackendTotals backend_totals(const Proxy &p, const Service &service) {
  BackendTotals t;
  u32 backup_weight = 0, backup_user = 0, active_user = 0;
  for (auto &server : p.servers) {
    if (server->row == no_row) continue;
    const ServerRow &row = service.server(server->row);
    t.servers++;
    bool usable = server_usable(row);
    u32 user = row.weight.load(std::memory_order_relaxed);
    if (usable) t.up++;
    if (server->options->check && check_passed(row)) t.checked_up++;
    if (!usable || user == 0) continue;
    u32 weight = current_weight(row);
    if (server->options->backup) {
      t.backup++;
      // Only the first backup serves unless they all may.
      if (t.backup == 1 || p.has(Opt::Allbackups)) backup_weight += weight, backup_user += user;
    } else {
      t.active++;
      t.weight += weight;
      active_user += user;
    }
  }
  t.user_weight = t.active ? active_user : backup_user;
  if (t.active == 0) t.weight = backup_weight;
  return t;
}

bool StatCursor::wanted(const Proxy &p) const {
  if (filter_.iid >= 0 && p.id != static_cast<u64>(filter_.iid)) return false;
  if (!filter_.proxy_name.empty() && p.name != filter_.proxy_name) return false;
  if (!filter_.name_part.empty() && p.name.find(filter_.name_part) == std::string::npos) return false;
  if (!filter_.scopes || filter_.scopes->empty()) return true;
  return std::any_of(filter_.scopes->begin(), filter_.scopes->end(),
                     [&](const std::string &s) { return s == "." ? &p == filter_.own : s == p.name; });
}

bool StatCursor::server(const Proxy &p, StatSubject &out) {
  while (index_ < p.servers.size()) {
    const Server &server = *p.servers[index_++];
    if (server.row == no_row || (filter_.sid >= 0 && server.id != static_cast<u64>(filter_.sid))) continue;
    const ServerRow &row = service_->server(server.row);
    if (filter_.no_maint && row.admin.load(std::memory_order_relaxed) & admin_any_maint) continue;
    if (filter_.up_only && !server_usable(row)) continue;
    out.object = StatObject::Server;
    out.server = &server;
    out.row = &row;
    out.s = service_->sum_server(server.row);
    return true;
  }
  return false;
}

bool StatCursor::part(const Proxy &p, StatSubject &out) {
  switch (part_) {
    case Part::Front:
      advance(Part::Listeners);
      if (!p.is_frontend || !(filter_.types & 1) || filter_.sid > 0 || p.front_row == no_row) break;
      out.object = StatObject::Frontend;
      out.front = &service_->proxy(p.front_row);
      out.p = service_->sum_proxy(p.front_row);
      out.maxconn = out.front->maxconn.load(std::memory_order_relaxed);
      return true;
    case Part::Listeners:
      if (p.is_frontend && p.has(Opt::SocketStats) && filter_.types & 4) {
        while (index_ < p.binds.size()) {
          const Bind &bind = *p.binds[index_++];
          u32 number = bind.id ? bind.id : static_cast<u32>(index_);
          if (bind.row == no_row || (filter_.sid >= 0 && number != static_cast<u64>(filter_.sid))) continue;
          out.object = StatObject::Listener;
          out.bind = &bind;
          out.bind_number = static_cast<u32>(index_);
          out.front = p.front_row == no_row ? nullptr : &service_->proxy(p.front_row);
          out.p = service_->sum_listener(bind.row);
          return true;
        }
      }
      advance(Part::Servers);
      break;
    case Part::Servers:
      if (p.is_backend && filter_.types & 4 && server(p, out)) return true;
      advance(Part::Back);
      break;
    case Part::Back:
      advance(Part::Front);
      proxy_++;
      if (!p.is_backend || !(filter_.types & 2) || filter_.sid > 0 || p.back_row == no_row) break;
      out.object = StatObject::Backend;
      out.front = &service_->proxy(p.back_row);
      out.p = service_->sum_proxy(p.back_row);
      out.totals = backend_totals(p, *service_);
      out.fullconn = out.front->fullconn.load(std::memory_order_relaxed);
      return true;
  }
  return false;
}

bool StatCursor::next(StatSubject &out) {
  while (proxy_ < config_->proxies.size()) {
    const Proxy &p = *config_->proxies[proxy_];
    if (!wanted(p)) {
      proxy_++;
      continue;
    }
    out.proxy = &p;
    out.now = now_;
    out.wall_s = wall_s_;
    if (part(p, out)) return true;
  }
  return false;
}

} // namespace penstock
