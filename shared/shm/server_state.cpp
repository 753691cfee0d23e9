// SPDX-License-Identifier: BSD-2-Clause
#include "shared/shm/server_state.h"

#include <algorithm>
#include <cstring>

#include "shared/shm/queue.h"

namespace penstock {

u32 effective_weight(const Server &server, const ServerRow &row, Tick now) {
  if (!is_running(row) || is_draining(row) || op_state(row) == OpState::Stopping) return 0;
  u32 weight = row.weight.load(std::memory_order_relaxed) * weight_scale;
  Millis ramp = server.options->slowstart;
  if (op_state(row) != OpState::Starting || ramp <= 0 || weight == 0) return weight;
  i64 done = std::clamp<i64>(now - row.starting_since.load(std::memory_order_relaxed), 0, ramp);
  return std::max<u32>(1, static_cast<u32>((weight * done + ramp - 1) / ramp));
}

void choose_serving(const Service &service, const Proxy &backend) {
  ServerCount usable = count_usable(service, backend);
  bool backups = usable.active == 0, first = true;
  for (const auto &s : backend.servers) {
    ServerRow &r = service.server(s->row);
    bool takes_part = r.effective_weight.load(std::memory_order_relaxed) > 0 && s->options->backup == backups;
    if (takes_part && backups) {
      takes_part = first || backend.has(Opt::Allbackups);
      first = false;
    }
    r.takes_part.store(takes_part, std::memory_order_relaxed);
  }
}

string_view server_status_word(const Server &server, const ServerRow &row) {
  if (in_maintenance(row)) return "MAINT";
  if (op_state(row) == OpState::Stopped) return "DOWN";
  if (is_draining(row)) return "DRAIN";
  if (op_state(row) == OpState::Stopping) return "NOLB";
  if (!server.options->check && !server.options->agent_check && !server.tracked) return "no check";
  return "UP";
}

ServerStates::ServerStates(Service &service, const Config &config) : service_(service), config_(config) {
  for (const auto &p : config.proxies)
    for (const auto &s : p->servers)
      if (s->tracked) trackers_[s->tracked].push_back(s.get());
}

const std::vector<const Server *> &ServerStates::trackers(const Server &s) const {
  static const std::vector<const Server *> none;
  auto it = trackers_.find(&s);
  return it == trackers_.end() ? none : it->second;
}

bool ServerStates::set_down(const Server &s, Tick now) { return change_op(s, OpState::Stopped, now); }
bool ServerStates::set_stopping(const Server &s, Tick now) { return change_op(s, OpState::Stopping, now); }
bool ServerStates::set_up(const Server &s, Tick now) {
  OpState state = op_state(row(s));
  if (state == OpState::Running || state == OpState::Starting) return false;
  return change_op(s, s.options->slowstart > 0 && state == OpState::Stopped ? OpState::Starting : OpState::Running, now);
}

bool ServerStates::change_op(const Server &s, OpState to, Tick now) {
  ServerRow &r = row(s);
  OpState from = op_state(r);
  if (from == to) return false;
  bool was_running = is_running(r);
  r.op_state = static_cast<u8>(to);
  if (to == OpState::Starting) r.starting_since = now;
  if (to == OpState::Stopped) r.downs++;
  apply(s, now, was_running);
  for (const Server *t : trackers(s)) change_op(*t, to == OpState::Starting && t->options->slowstart <= 0 ? OpState::Running : to, now);
  return true;
}

bool ServerStates::change_admin(const Server &s, u32 set, u32 clear, Tick now) {
  ServerRow &r = row(s);
  u32 old = r.admin.load(), want = (old & ~clear) | set;
  if (old == want) return false;
  bool was_running = is_running(r);
  r.admin = want;
  // Out of maintenance a server is up until checks say otherwise (manual, "set server state ready").
  if ((old & admin_any_maint) && !(want & admin_any_maint) && !s.tracked && op_state(r) == OpState::Stopped) r.op_state = static_cast<u8>(OpState::Running);
  apply(s, now, was_running);
  for (const Server *t : trackers(s))
    change_admin(*t, (want & admin_any_maint ? admin_inherited_maint : 0u) | (want & admin_any_drain ? admin_inherited_drain : 0u),
                 (want & admin_any_maint ? 0u : admin_inherited_maint) | (want & admin_any_drain ? 0u : admin_inherited_drain), now);
  return true;
}

/// What follows from a changed row.
void ServerStates::apply(const Server &s, Tick now, bool was_running) {
  ServerRow &r = row(s);
  const Proxy &backend = *s.proxy;
  bool runs = is_running(r);
  if (runs != was_running) {
    if (runs) r.downtime_s += static_cast<u64>(std::max<i64>(0, now - r.last_change.load()) / 1000);
    r.last_change = now;
  }
  if (op_state(r) == OpState::Starting && std::find(starting_.begin(), starting_.end(), &s) == starting_.end()) starting_.push_back(&s);
  r.effective_weight = effective_weight(s, r, now);
  note_backend_change(backend, now);
  u64 wake = 0;
  if (runs) {
    wake = serve_waiters(service_, s.row);
  } else if (backend.has(Opt::Redispatch) && !backend.has(Opt::Persist)) {
    wake = kick_waiters(service_, s.row);
  }
  service_.row().change++;
  service_.wake_many(wake);
  service_.wake_all();
}

/// The epoch makes workers rebuild their schedules; a backend is down while no server of it is usable.
void ServerStates::note_backend_change(const Proxy &p, Tick now) {
  ProxyRow &backend = service_.proxy(p.back_row);
  choose_serving(service_, p);
  ServerCount usable = count_usable(service_, p);
  bool up = usable.active + usable.backup > 0 || p.servers.empty();
  bool was_up = backend.state.load() != 2;
  if (up != was_up) {
    if (up)
      backend.downtime_s += static_cast<u64>(std::max<i64>(0, now - backend.last_change.load()) / 1000);
    else
      backend.downs++;
    backend.last_change = now;
    if (backend.state.load() != 1) backend.state = up ? 0 : 2;
  }
  backend.epoch.fetch_add(1, std::memory_order_release);
}

void ServerStates::set_weight(const Server &s, u32 weight, Tick now) {
  row(s).weight = std::min<u32>(weight, 256);
  apply(s, now, is_running(row(s)));
}

void ServerStates::set_maxconn(const Server &s, u32 maxconn) {
  row(s).maxconn = maxconn;
  service_.wake_many(serve_waiters(service_, s.row));
}

void write_address(SharedAddress &shared, const Address &address) {
  u64 version = shared.version.load() | 1;
  shared.version.store(version);
  u64 words[3] = {0, 0, u64{address.family} << 32 | address.port};
  std::memcpy(words, address.ip.bytes.data(), sizeof address.ip.bytes);
  for (int i = 0; i < 3; i++) shared.words[i].store(words[i], std::memory_order_relaxed);
  shared.version.store(version + 1, std::memory_order_release);
}

bool read_address(const SharedAddress &shared, Address &out) {
  u64 words[3];
  for (int attempt = 0;; attempt++) {
    u64 version = shared.version.load(std::memory_order_acquire);
    if (version == 0 || attempt > 10'000) return false; // never set, or the writer died in the middle
    for (int i = 0; i < 3; i++) words[i] = shared.words[i].load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (!(version & 1) && shared.version.load(std::memory_order_relaxed) == version) break;
  }
  out = Address{};
  out.family = static_cast<u16>(words[2] >> 32);
  out.port = static_cast<u16>(words[2]);
  out.ip.family = out.family == AF_INET ? 4 : 6;
  std::memcpy(out.ip.bytes.data(), words, sizeof out.ip.bytes);
  return true;
}

void ServerStates::set_address(const Server &s, const Address &address) {
  write_address(row(s).address, address);
  service_.row().change++;
  service_.wake_all();
}

bool runtime_address(const ServerRow &row, Address &out) { return read_address(row.address, out); }

Tick ServerStates::advance_slow_starts(Tick now) {
  Tick next = never;
  std::erase_if(starting_, [&](const Server *s) {
    ServerRow &r = row(*s);
    if (op_state(r) != OpState::Starting) return true;
    Millis ramp = s->options->slowstart;
    bool done = now - r.starting_since.load() >= ramp;
    if (done) r.op_state = static_cast<u8>(OpState::Running);
    r.effective_weight = effective_weight(*s, r, now);
    note_backend_change(*s->proxy, now);
    if (!done) next = std::min(next, now + std::clamp<Millis>(ramp / 20, 20, 1000));
    return done;
  });
  return next;
}

void ServerStates::refresh_all(Tick now) {
  starting_.clear();
  for (const auto &p : config_.proxies) {
    for (const auto &s : p->servers) {
      ServerRow &r = row(*s);
      if (s->tracked) {
        const ServerRow &t = row(*s->tracked);
        r.op_state = t.op_state.load();
        u32 inherited = (in_maintenance(t) ? admin_inherited_maint : 0u) | (is_draining(t) ? admin_inherited_drain : 0u);
        r.admin = (r.admin.load() & ~u32{admin_inherited_maint | admin_inherited_drain}) | inherited;
      }
      if (op_state(r) == OpState::Starting) starting_.push_back(s.get());
      r.effective_weight = effective_weight(*s, r, now);
    }
    if (p->is_backend) note_backend_change(*p, now);
  }
}

ServerCount count_usable(const Service &service, const Proxy &backend) {
  ServerCount out;
  for (const auto &s : backend.servers) {
    if (service.server(s->row).effective_weight.load(std::memory_order_relaxed) == 0) continue;
    (s->options->backup ? out.backup : out.active)++;
  }
  return out;
}

} // namespace penstock
