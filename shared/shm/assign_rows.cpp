// SPDX-License-Identifier: BSD-2-Clause
// Gives the objects of a configuration their rows and writes into the rows what it says. Where a row is
// known from an earlier configuration that said the same, what operators set at run time stays.
#include <algorithm>

#include "shared/model/config.h"
#include "shared/shm/server_state.h"
#include "shared/shm/service.h"

namespace penstock {

namespace {

/// Bits of ServerRow::known.
enum Known : u32 { known_at_all = 1, known_disabled = 2 };

/// Of all that says where a server and its checks are.
u64 digest_of_addresses(const Server &s) {
  const ServerOptions &o = *s.options;
  u64 h = 0xcbf29ce484222325u;
  auto mix = [&h](string_view text) {
    for (char c : text) h = (h ^ static_cast<u8>(c)) * 0x100000001b3u;
    h = (h ^ 0xff) * 0x100000001b3u;
  };
  for (const Address *a : {&s.address, &o.check_addr, &o.agent_addr}) mix(a->text());
  mix(s.host), mix(o.agent_send);
  for (u32 n : {u32{o.check_port}, u32{o.agent_port}}) mix({reinterpret_cast<const char *>(&n), sizeof n});
  return h;
}

/// What was set at run time holds as long as the configuration says the same as when it was set.
void forget_addresses(ServerRow &row) {
  for (SharedAddress *a : {&row.address, &row.check_address, &row.agent_address}) a->version = 0;
  row.check_port = row.agent_port = row.agent_send_set = 0;
}

void describe_server(Service &service, const Server &s) {
  ServerRow &row = service.server(s.row);
  const ServerOptions &o = *s.options;
  bool first = !row.known;
  bool was_disabled = row.known & known_disabled;
  row.known = known_at_all | (o.disabled ? known_disabled : 0u);
  row.backend_row = s.proxy->back_row;
  if (first || row.configured_weight != o.weight) row.weight = row.configured_weight = o.weight;
  if (first || row.configured_maxconn != o.maxconn) row.maxconn = row.configured_maxconn = o.maxconn;
  u64 addresses = digest_of_addresses(s);
  if (!first && row.configured_addresses != addresses) forget_addresses(row);
  row.configured_addresses = addresses;
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
  std::vector<u64> sums(config.proxies.size());
  std::vector<const Proxy *> counted(config.proxies.size()); // the last frontend that a sum has in it
  for (const auto &front : config.proxies) {
    if (!front->is_frontend) continue;
    auto leads_to = [&](const Proxy *backend) {
      if (backend == nullptr || counted[backend->index] == front.get()) return;
      counted[backend->index] = front.get();
      sums[backend->index] += front->maxconn.value_or(config.global.maxconn);
    };
    if (front->is_backend) leads_to(front.get());
    leads_to(front->default_target);
    for (const UseBackend &rule : front->use_backend) leads_to(rule.target);
  }
  for (const auto &backend : config.proxies)
    if (backend->is_backend && !backend->fullconn) service.proxy(backend->back_row).fullconn = static_cast<u32>(std::max<u64>(1, (sums[backend->index] + 9) / 10));
}

} // namespace

bool Service::assign_rows(Config &config, std::string &error) {
  bool complete = true;
  auto give = [&](u32 &row, RowKind kind, const std::string &identity) { complete &= (row = row_of(kind, identity)) != no_row; };
  for (auto &p : config.proxies) {
    if (p->is_frontend) give(p->front_row, RowKind::Frontend, p->name);
    if (p->is_backend) give(p->back_row, RowKind::Backend, p->name);
    for (auto &s : p->servers) give(s->row, RowKind::Server, p->name + "/" + s->name);
    if (p->direct) give(p->direct->row, RowKind::Server, p->name + "/" + p->direct->name);
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
    if (p->direct) describe_server(*this, *p->direct);
    if (!p->is_backend) continue;
    choose_serving(*this, *p);
    proxy(p->back_row).epoch++;
  }
  default_fullconn(*this, config);
  return true;
}

} // namespace penstock
