// SPDX-License-Identifier: BSD-2-Clause
// Gives the objects of a configuration their rows and writes into the rows what it says. Where a row is
// known from an earlier configuration that said the same, what operators set at run time stays.
#include "shared/model/config.h"
#include "shared/shm/server_state.h"
#include "shared/shm/service.h"

namespace penstock {

namespace {

/// Bits of ServerRow::known.
enum Known : u32 { known_at_all = 1, known_disabled = 2 };

void describe_server(Service &service, const Server &s) {
  ServerRow &row = service.server(s.row);
  const ServerOptions &o = *s.options;
  bool first = !row.known;
  bool was_disabled = row.known & known_disabled;
  row.known = known_at_all | (o.disabled ? known_disabled : 0u);
  row.backend_row = s.proxy->back_row;
  if (first || row.configured_weight != o.weight) row.weight = row.configured_weight = o.weight;
  if (first || row.configured_maxconn != o.maxconn) row.maxconn = row.configured_maxconn = o.maxconn;
  row.minconn = o.minconn;
  row.maxqueue = o.maxqueue;
  if (o.disabled && (first || !was_disabled)) row.admin |= admin_config_maint; // enabled by hand since: stays so
  if (!o.disabled) row.admin &= ~u32{admin_config_maint};
  if (first) {
    row.last_change = monotonic_ms();
    row.check.health = o.rise + o.fall - 1; // up until a check says otherwise
  }
  if (!o.check && !o.agent_check && !s.tracked) row.op_state = static_cast<u8>(OpState::Running); // nobody would raise it again
  row.effective_weight = effective_weight(s, row, monotonic_ms());
}

void describe_proxy(Service &service, u32 r, const Proxy &p, u32 maxconn) {
  ProxyRow &row = service.proxy(r);
  bool first = !row.known;
  row.known = 1;
  if (first || row.configured_maxconn != maxconn) row.maxconn = maxconn, row.configured_maxconn = maxconn;
  if (p.fullconn) row.fullconn = p.fullconn;
  if (first) row.last_change = monotonic_ms();
  row.state = p.disabled ? 1 : 0;
}

/// `fullconn` where it is not given: a tenth of what the frontends that lead here may take (manual, "fullconn").
void default_fullconn(Service &service, const Config &config) {
  for (const auto &backend : config.proxies) {
    if (!backend->is_backend || backend->fullconn) continue;
    u64 sum = 0;
    for (const auto &front : config.proxies) {
      if (!front->is_frontend) continue;
      bool leads_here = front.get() == backend.get() || front->default_target == backend.get();
      for (const UseBackend &rule : front->use_backend) leads_here |= rule.target == backend.get();
      if (leads_here) sum += front->maxconn.value_or(config.global.maxconn);
    }
    service.proxy(backend->back_row).fullconn = static_cast<u32>(sum > 10 ? sum / 10 : 1);
  }
}

} // namespace

bool Service::assign_rows(Config &config, std::string &error) {
  bool complete = true;
  auto give = [&](u32 &row, RowKind kind, const std::string &identity) { complete &= (row = row_of(kind, identity)) != no_row; };
  bool some_minconn = false;
  for (auto &p : config.proxies) {
    if (p->is_frontend) give(p->front_row, RowKind::Frontend, p->name);
    if (p->is_backend) give(p->back_row, RowKind::Backend, p->name);
    for (auto &s : p->servers) give(s->row, RowKind::Server, p->name + "/" + s->name), some_minconn |= s->options->minconn != 0;
    for (auto &b : p->binds) give(b->row, RowKind::Listener, p->name + "/" + b->name + "/" + b->address.text());
  }
  for (auto &b : config.global.stats_sockets) give(b->row, RowKind::Listener, "GLOBAL/" + b->name + "/" + b->address.text());
  if (!complete) {
    error = "no more room in shared memory for servers, proxies or listeners";
    return false;
  }
  row().maxconn = config.global.maxconn;
  row().maxconnrate = config.global.maxconnrate;
  row().maxsessrate = config.global.maxsessrate;
  row().maxsslrate = config.global.maxsslrate;
  for (auto &p : config.proxies) {
    if (p->is_frontend) describe_proxy(*this, p->front_row, *p, p->maxconn.value_or(config.global.maxconn));
    if (p->is_backend) describe_proxy(*this, p->back_row, *p, 0);
    for (auto &s : p->servers) describe_server(*this, *s);
    if (!p->is_backend) continue;
    choose_serving(*this, *p);
    proxy(p->back_row).epoch++;
  }
  if (some_minconn) default_fullconn(*this, config);
  return true;
}

} // namespace penstock
