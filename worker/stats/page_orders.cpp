// SPDX-License-Identifier: BSD-2-Clause
#include "worker/stats/page_orders.h"

#include <memory>

#include "shared/base/text.h"
#include "shared/shm/server_state.h"
#include "worker/check/health.h"

namespace penstock {

namespace {

struct Order {
  Service &service;
  ServerStates &states;
  Health health;
  Tick now;
};

/// Each gives whether something changed.
bool ready(Order &o, const Server &s) {
  u32 before = o.states.row(s).admin.load();
  o.health.make_ready(s, o.now);
  return before != o.states.row(s).admin.load();
}
bool drain(Order &o, const Server &s) {
  u32 before = o.states.row(s).admin.load();
  o.health.drain(s, o.now);
  return before != o.states.row(s).admin.load();
}
bool maintain(Order &o, const Server &s) {
  u32 before = o.states.row(s).admin.load();
  o.health.maintain(s, o.now);
  return before != o.states.row(s).admin.load();
}
bool switch_checks(Order &o, const Server &s, bool on) {
  if (!s.options->check) return false;
  return o.states.row(s).check.enabled.exchange(on) != on;
}
bool checks_on(Order &o, const Server &s) { return switch_checks(o, s, true); }
bool checks_off(Order &o, const Server &s) { return switch_checks(o, s, false); }
bool force(Order &o, const Server &s, bool (ServerStates::*change)(const Server &, Tick), bool healthy, ServerEvent event) {
  if (s.tracked || !s.options->check) return false;
  o.states.row(s).check.health = healthy ? s.options->rise + s.options->fall - 1 : 0;
  if (!(o.states.*change)(s, o.now)) return false;
  ServerCount usable = count_usable(o.service, *s.proxy);
  const ServerRow &row = o.states.row(s);
  log_server_event(s, event, ", changed from Web interface", false, {usable.active, usable.backup, row.served.count(), 0, row.queued.load()});
  if (event == ServerEvent::Down && usable.active + usable.backup == 0) log_backend_empty(*s.proxy);
  return true;
}
bool up(Order &o, const Server &s) { return force(o, s, &ServerStates::set_up, true, ServerEvent::Up); }
bool stopping(Order &o, const Server &s) { return force(o, s, &ServerStates::set_stopping, true, ServerEvent::Stopping); }
bool down(Order &o, const Server &s) { return force(o, s, &ServerStates::set_down, false, ServerEvent::Down); }

struct ActionRow {
  string_view word;
  bool (*act)(Order &, const Server &);
};
/// The words that scripts post; the last four are old names.
constexpr ActionRow actions[] = {
    {"ready", ready}, {"drain", drain}, {"maint", maintain}, {"ehlth", checks_on}, {"dhlth", checks_off},
    {"hrunn", up}, {"hnolb", stopping}, {"hdown", down},
    {"enable", ready}, {"disable", maintain}, {"start", ready}, {"stop", drain},
};

const Proxy *backend(const Config &config, string_view name) {
  std::optional<u64> id = name.starts_with('#') ? parse_u64(name.substr(1)) : std::nullopt;
  if (!id) return config.backend(name);
  for (auto &p : config.proxies)
    if (p->is_backend && p->id == *id) return p.get();
  return nullptr;
}

} // namespace

PageOutcome carry_out(const PageOrder &order, const Config &config, Service &service, Tick now) {
  static std::unique_ptr<ServerStates> states; // of this process; made when the first order comes
  const Proxy *p = backend(config, order.backend);
  const ActionRow *action = nullptr;
  for (const ActionRow &a : actions)
    if (a.word == order.action) action = &a;
  if (!p || !action) return PageOutcome::Bad;
  if (!states) states = std::make_unique<ServerStates>(service, config);
  Order o{service, *states, Health(service, *states), now};
  size_t changed = 0;
  for (const std::string &name : order.servers)
    for (auto &s : p->servers)
      if (s->name == name && s->row != no_row) changed += action->act(o, *s);
  if (changed == 0) return PageOutcome::Nothing;
  return changed == order.servers.size() ? PageOutcome::Done : PageOutcome::Part;
}

} // namespace penstock
