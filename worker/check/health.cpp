// SPDX-License-Identifier: BSD-2-Clause
#include "worker/check/health.h"

#include <algorithm>

#include "shared/shm/server_state.h"
#include "worker/log/events.h"

namespace penstock {

static u32 full_health(const ServerOptions &o) { return o.rise + o.fall - 1; }

static CheckFindings findings(const Server &s, const CheckResult &r, bool passed, bool agent, u32 health) {
  CheckFindings f;
  f.status = r.status;
  f.passed = passed;
  f.conditionally = r.status == CheckStatus::L7OkConditional;
  f.agent = agent;
  f.code = r.code;
  f.info = r.info;
  f.duration_ms = r.duration_ms;
  f.health = health;
  f.rise = s.options->rise;
  f.fall = s.options->fall;
  return f;
}

void Health::initialise(const Server &s) {
  ServerRow &row = states_.row(s);
  const ServerOptions &o = *s.options;
  u8 initial = static_cast<u8>(CheckStatus::Initializing), none = 0;
  if (row.check.status.load() == 0) row.check.enabled = 1; // shared memory starts as zeroes
  if (row.agent.status.load() == 0) row.agent.enabled = 1;
  // A new server is taken for up, but its first failure brings it down (manual, "check").
  if (o.check && row.check.status.compare_exchange_strong(none, initial)) row.check.health = op_state(row) == OpState::Stopped ? 0 : o.rise;
  none = 0;
  if (o.agent_check && row.agent.status.compare_exchange_strong(none, initial)) row.agent.health = o.rise;
  // rise and fall may have changed with a reload: what was up stays up
  if (row.check.health.load() > full_health(o)) row.check.health = full_health(o);
}

void Health::count(const Server &s, bool passed, const CheckResult &r, Tick now) {
  const ServerOptions &o = *s.options;
  CheckReport &rep = states_.row(s).check;
  u32 before = rep.health.load(std::memory_order_relaxed), health = before;
  bool was_up = before >= o.rise;
  if (passed) {
    health = std::min(before + 1, full_health(o));
    if (health >= o.rise && before <= o.rise) health = full_health(o); // up, or confirmed: it takes `fall` failures now
  } else if (before > 0) {
    health = before - 1;
    if (health < o.rise) health = 0; // down: it takes `rise` successes
    if (was_up) rep.failed++;
  }
  rep.health.store(health, std::memory_order_relaxed);
  bool news = health != before || rep.status.load(std::memory_order_relaxed) != static_cast<u8>(r.status);
  if (s.proxy->has(Opt::LogHealthChecks) && news) log_check(s, findings(s, r, passed, false, health));
  if (health < o.rise) return move(s, OpState::Stopped, r, false, now);
  move(s, r.status == CheckStatus::L7OkConditional ? OpState::Stopping : OpState::Running, r, false, now);
}

void Health::health_result(const Server &s, const CheckResult &r, Tick now) { count(s, r.passed(), r, now); }

void Health::agent_result(const Server &s, bool up, const CheckResult &r, Tick now) {
  ServerRow &row = states_.row(s);
  row.agent.health = up ? s.options->rise : 0;
  if (!up) return move(s, OpState::Stopped, r, true, now);
  bool healthy = !s.options->check || row.check.health.load(std::memory_order_relaxed) >= s.options->rise;
  if (healthy) move(s, OpState::Running, r, true, now);
}

void Health::move(const Server &s, OpState to, const CheckResult &why, bool agent, Tick now) {
  ServerRow &row = states_.row(s);
  bool agent_says_down = s.options->agent_check && row.agent.health.load(std::memory_order_relaxed) == 0;
  if (to != OpState::Stopped && agent_says_down) return; // only the agent takes back what it said
  bool changed = to == OpState::Stopped    ? states_.set_down(s, now)
                 : to == OpState::Stopping ? states_.set_stopping(s, now)
                 : op_state(row) == OpState::Starting ? false
                                                      : states_.set_up(s, now);
  if (!changed) return;
  ServerEvent event = to == OpState::Stopped ? ServerEvent::Down : to == OpState::Stopping ? ServerEvent::Stopping : ServerEvent::Up;
  // with log-health-checks the line before has told the reason
  bool told = s.proxy->has(Opt::LogHealthChecks) && !agent;
  std::string cause = told ? std::string() : ", " + check_reason(findings(s, why, to != OpState::Stopped, agent, row.check.health.load()));
  tell(s, event, cause, false);
  for (const Server *t : states_.trackers(s)) tell(*t, event, {}, true);
}

void Health::tell(const Server &s, ServerEvent event, string_view cause, bool via) {
  ServerCount usable = count_usable(service_, *s.proxy);
  const ServerRow &row = states_.row(s);
  ServerEventFigures figures;
  figures.active = usable.active;
  figures.backup = usable.backup;
  figures.sessions = row.served.count();
  figures.queued = row.queued.load(std::memory_order_relaxed);
  log_server_event(s, event, cause, via, figures);
  bool leaves = event == ServerEvent::Down || event == ServerEvent::Stopping || event == ServerEvent::Maintenance || event == ServerEvent::Drain;
  if (leaves && usable.active + usable.backup == 0) log_backend_empty(*s.proxy);
}

void Health::maintain(const Server &s, Tick now) {
  if (states_.maintain(s, now)) tell_all(s, ServerEvent::Maintenance);
}

void Health::drain(const Server &s, Tick now) {
  if (states_.drain(s, now)) tell_all(s, ServerEvent::Drain);
}

void Health::make_ready(const Server &s, Tick now) {
  bool maintained = in_maintenance(states_.row(s));
  if (states_.make_ready(s, now)) tell_all(s, maintained ? ServerEvent::Ready : ServerEvent::DrainEnd);
}

void Health::tell_all(const Server &s, ServerEvent event) {
  tell(s, event, {}, false);
  for (const Server *t : states_.trackers(s)) tell(*t, event, {}, true);
}

void Health::observed_errors(const Server &s, Tick now) {
  CheckResult r;
  r.status = CheckStatus::Observed;
  r.info = "Detected " + std::to_string(s.options->error_limit) + " consecutive errors";
  CheckReport &rep = states_.row(s).check;
  switch (s.options->on_error) {
    case OnError::Fastinter: return; // the checker hurries by itself
    case OnError::FailCheck: return count(s, false, r, now);
    case OnError::SuddenDeath: // one more failure is fatal
      if (rep.health.load() > s.options->rise) rep.health = s.options->rise;
      return count(s, false, r, now);
    case OnError::MarkDown:
      rep.health = 0;
      return move(s, OpState::Stopped, r, false, now);
  }
}

} // namespace penstock
