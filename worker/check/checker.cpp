// SPDX-License-Identifier: BSD-2-Clause
#include "worker/check/checker.h"

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "shared/base/text.h"
#include "shared/shm/server_state.h"
#include "shared/shm/service.h"
#include "worker/check/agent.h"
#include "worker/check/external.h"
#include "worker/check/health.h"
#include "worker/check/runner.h"

namespace penstock {

namespace {

/// The answer of an agent is its first line, or all that it says before it closes.
Expectation agent_line(string_view in, bool closed, size_t &taken) {
  size_t eol = in.find_first_of("\r\n");
  if (eol == string_view::npos && !closed) return in.size() > 1024 ? Expectation::fail(CheckStatus::L7Response, "line too long") : Expectation::need_more();
  taken = in.size();
  if (in.empty()) return Expectation::fail(CheckStatus::L7Response, "no answer");
  return Expectation::ok(std::string(in.substr(0, eol)));
}

std::unique_ptr<CheckPlan> agent_plan(const ServerOptions &o) {
  auto plan = std::make_unique<CheckPlan>();
  plan->kind = CheckKind::Spop; // any named protocol: its messages name no steps
  plan->steps.push_back(PlanStep::of(CheckStep::Connect));
  PlanStep send; // of nothing, perhaps: the runtime socket may change that
  send.kind = CheckStep::Send;
  send.bytes = o.agent_send;
  plan->steps.push_back(std::move(send));
  PlanStep expect;
  expect.kind = CheckStep::Expect;
  expect.probe = agent_line;
  plan->steps.push_back(std::move(expect));
  return plan;
}

/// The interval until the next check: fast while the server changes its mind, slow while it is down.
Millis interval(const ServerOptions &o, u32 health) {
  u32 full = o.rise + o.fall - 1;
  if (health == 0) return o.downinter ? o.downinter : o.inter;
  if (health < full) return o.fastinter ? o.fastinter : o.inter;
  return o.inter;
}

} // namespace

struct Checker::Impl {
  struct Job : Timer { // one server's health check, or its agent's
    Job(Impl &owner, const Server &s, const CheckPlan &plan, bool is_agent)
        : impl(owner), server(s), agent(is_agent),
          run(owner.loop, plan, s, {owner.config.global.tune.vars_check_max, owner.config.global.pp2_never_send_local}) {
      on_expire = [](Timer &t) { static_cast<Job &>(t).begin(); };
      run.owner = this;
      run.on_done = [](CheckRun &r, void *o) { static_cast<Job *>(o)->done(r.result); };
    }
    void begin();
    void start();
    void done(const CheckResult &r);
    void schedule();
    CheckTarget target() const;
    std::string state_text() const;
    ServerRow &row() const { return impl.service.server(server.row); }
    CheckReport &report() const { return agent ? row().agent : row().check; }

    Impl &impl;
    const Server &server;
    bool agent;
    CheckRun run;
    std::unique_ptr<ExternalRun> external;
  };
  struct Sweep : Timer { Impl *impl = nullptr; };

  Impl(Loop &l, const Config &c, Service &s, ServerStates &st) : loop(l), config(c), service(s), states(st), health(s, st) {}

  void add(const Server &s);
  const CheckPlan &plan_of(const CheckSettings *settings);
  void apply_agent(Job &job, const CheckResult &r);
  void sweep_observed();
  u32 random() { // xorshift: only spreads checks in time
    seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
    return seed;
  }

  Loop &loop;
  const Config &config;
  Service &service;
  ServerStates &states;
  Health health;
  std::map<const CheckSettings *, std::unique_ptr<CheckPlan>> plans;
  std::vector<std::unique_ptr<CheckPlan>> agent_plans;
  std::vector<std::unique_ptr<Job>> jobs;
  std::vector<const Server *> observed;
  Sweep sweep;
  u32 under_way = 0;
  std::deque<Job *> waiting; // for their turn (tune.max-checks-per-thread)
  u32 seed = 2463534242u;
};

const CheckPlan &Checker::Impl::plan_of(const CheckSettings *settings) {
  auto &plan = plans[settings];
  if (!plan) plan = make_plan(settings);
  return *plan;
}

void Checker::Impl::add(const Server &s) {
  const ServerOptions &o = *s.options;
  health.initialise(s);
  if (o.observe != ObserveMode::None && o.check) observed.push_back(&s);
  if (o.check && s.tracked == nullptr) {
    auto job = std::make_unique<Job>(*this, s, plan_of(s.proxy->check.get()), false);
    if (s.proxy->check && s.proxy->check->kind == CheckKind::External) {
      job->external = std::make_unique<ExternalRun>(loop, s, *s.proxy->check, config.global.external_check_preserve_env);
      job->external->owner = job.get();
      job->external->on_done = [](ExternalRun &r, void *owner) { static_cast<Job *>(owner)->done(r.result); };
    }
    jobs.push_back(std::move(job));
  }
  if (o.agent_check) {
    agent_plans.push_back(agent_plan(o));
    jobs.push_back(std::make_unique<Job>(*this, s, *agent_plans.back(), true));
  }
}

CheckTarget Checker::Impl::Job::target() const {
  const ServerOptions &o = *server.options;
  CheckTarget t;
  if (!runtime_address(row(), t.address)) t.address = server.address;
  const ServerRow &r = row();
  Address other = agent ? o.agent_addr : o.check_addr;
  if (Address set; read_address(agent ? r.agent_address : r.check_address, set)) {
    set.port = other.port;
    other = set;
  }
  u16 port = agent ? o.agent_port : o.check_port;
  if (u32 set = (agent ? r.agent_port : r.check_port).load(std::memory_order_relaxed)) port = static_cast<u16>(set);
  if (other) {
    u16 keep = t.address.port;
    t.address = other;
    if (t.address.is_inet() && t.address.port == 0) t.address.port = keep;
  }
  if (port) t.address.port = port;
  // A check of the service's own port speaks as its clients do, behind a PROXY header.
  if (!agent) t.send_proxy = o.check_send_proxy || (!other && !port && (o.send_proxy || o.send_proxy_v2));
  return t;
}

/// What `http-check send-state` tells the server about itself (manual, same keyword).
std::string Checker::Impl::Job::state_text() const {
  const ServerOptions &o = *server.options;
  const ServerRow &r = row();
  u32 health = r.check.health.load(std::memory_order_relaxed);
  bool up = op_state(r) != OpState::Stopped;
  std::string state = std::string(up ? op_state(r) == OpState::Stopping ? "NOLB" : "UP" : "DOWN");
  if (up && health + 1 < o.rise + o.fall) state += " " + std::to_string(health - std::min(health, o.rise) + 1) + "/" + std::to_string(o.fall);
  if (!up && health) state += " " + std::to_string(health) + "/" + std::to_string(o.rise);
  u64 total = 0, mine = r.effective_weight.load(std::memory_order_relaxed) / weight_scale;
  for (const auto &s : server.proxy->servers) total += impl.service.server(s->row).effective_weight.load(std::memory_order_relaxed) / weight_scale;
  ServerCount n = count_usable(impl.service, *server.proxy);
  return state + "; name=" + server.proxy->name + "/" + server.name + "; node=" + impl.config.global.node + "; weight=" + std::to_string(mine) + "/" +
         std::to_string(total) + "; scur=" + std::to_string(r.served.count()) + "/" + std::to_string(impl.service.proxy(server.proxy->back_row).conns.count()) +
         "; qcur=" + std::to_string(r.queued.load(std::memory_order_relaxed)) + (n.active == 0 && n.backup ? "; backup=1" : "");
}

void Checker::Impl::Job::begin() {
  if (run.running() || (external && external->running())) return;
  bool asleep = !agent && in_maintenance(row()); // an agent may end a maintenance, so it is asked
  if (asleep || !report().enabled.load(std::memory_order_relaxed)) return schedule();
  u32 limit = impl.config.global.tune.max_checks_per_thread;
  if (limit != 0 && impl.under_way >= limit) return impl.waiting.push_back(this);
  start();
}

void Checker::Impl::Job::start() {
  const ServerOptions &o = *server.options;
  impl.under_way++;
  report().running.store(1, std::memory_order_relaxed);
  const Proxy &p = *server.proxy;
  Millis every = agent && o.agent_inter ? o.agent_inter : o.inter;
  Millis connect = every, total = every;
  if (p.timeout.check != eternity) {
    total = p.timeout.check;
    if (p.timeout.connect != eternity) connect = std::min(connect, p.timeout.connect);
  }
  CheckTarget to = target();
  if (external) return external->start(to.address, row().served.count(), total);
  if (p.check && p.check->send_state && !agent) run.send_state = state_text();
  if (agent && row().agent_send_set.load(std::memory_order_relaxed)) run.send_instead = row().agent_send;
  run.start(to, connect, total);
}

void Checker::Impl::Job::done(const CheckResult &r) {
  CheckReport &rep = report();
  rep.running.store(0, std::memory_order_relaxed);
  impl.under_way--;
  // Health compares with the result before, so it comes first.
  if (!agent && !in_maintenance(row())) impl.health.health_result(server, r, impl.loop.now());
  rep.status.store(static_cast<u8>(r.status), std::memory_order_relaxed);
  rep.code.store(r.code, std::memory_order_relaxed);
  rep.duration_ms.store(r.duration_ms, std::memory_order_relaxed);
  size_t n = std::min(r.info.size(), sizeof rep.info - 1);
  std::copy_n(r.info.data(), n, rep.info);
  rep.info[n] = 0;
  if (agent) impl.apply_agent(*this, r);
  schedule();
  if (impl.waiting.empty()) return;
  Job *next = impl.waiting.front();
  impl.waiting.pop_front();
  next->start();
}

void Checker::Impl::Job::schedule() {
  const ServerOptions &o = *server.options;
  Millis delay = agent && o.agent_inter ? o.agent_inter : interval(o, report().health.load(std::memory_order_relaxed));
  if (u32 spread = impl.config.global.spread_checks) { // percent, both ways
    i64 range = delay * spread / 100;
    if (range) delay += static_cast<i64>(impl.random() % static_cast<u64>(2 * range + 1)) - range;
  }
  impl.loop.set_timer(*this, impl.loop.now() + std::max<Millis>(delay, 1));
}

void Checker::Impl::apply_agent(Job &job, const CheckResult &r) {
  if (!r.passed()) return; // an agent that does not answer says nothing
  const Server &s = job.server;
  AgentReport a = parse_agent_report(r.info);
  if (!a.understood) return;
  Tick now = loop.now();
  if (a.admin == AgentReport::Maint) health.maintain(s, now);
  if (a.admin == AgentReport::Drain) health.drain(s, now);
  if (a.admin == AgentReport::Ready) health.make_ready(s, now);
  if (a.weight) states.set_weight(s, *a.weight, now);
  if (a.weight_percent) states.set_weight(s, std::min(256u, s.options->weight * *a.weight_percent / 100), now);
  if (a.maxconn) states.set_maxconn(s, *a.maxconn);
  if (a.operation == AgentReport::Silent) return;
  CheckResult told = r;
  told.info = a.description;
  bool up = a.operation == AgentReport::Up;
  told.status = up ? CheckStatus::L7Ok : a.operation == AgentReport::Fail ? CheckStatus::L7Status : CheckStatus::L7Response;
  health.agent_result(s, up, told, now);
}

/// Workers count the errors that traffic meets; here is decided what too many of them mean.
void Checker::Impl::sweep_observed() {
  for (const Server *s : observed) {
    std::atomic<u32> &errors = service.server(s->row).consecutive_errors;
    if (errors.load(std::memory_order_relaxed) < s->options->error_limit) continue;
    errors.store(0, std::memory_order_relaxed);
    if (in_maintenance(service.server(s->row))) continue;
    health.observed_errors(*s, loop.now());
    if (s->options->on_error != OnError::Fastinter) continue;
    for (auto &job : jobs)
      if (&job->server == s && !job->agent) loop.set_timer(*job, loop.now() + (s->options->fastinter ? s->options->fastinter : s->options->inter));
  }
  loop.set_timer(sweep, loop.now() + 100);
}

Checker::Checker(Loop &loop, const Config &config, Service &service, ServerStates &states)
    : impl_(std::make_unique<Impl>(loop, config, service, states)) {}
Checker::~Checker() { stop(); }

void Checker::start() {
  Impl &i = *impl_;
  for (const auto &p : i.config.proxies) {
    if (!p->is_backend || p->disabled) continue;
    for (const auto &s : p->servers) i.add(*s);
  }
  if (i.jobs.empty()) return;
  // The first checks are spread over the shortest interval, so that ten thousand do not start at once.
  Millis shortest = INT64_MAX;
  for (const auto &job : i.jobs) {
    const ServerOptions &o = *job->server.options;
    shortest = std::min(shortest, job->agent && o.agent_inter ? o.agent_inter : o.inter);
  }
  if (i.config.global.max_spread_checks) shortest = std::min(shortest, i.config.global.max_spread_checks);
  for (size_t n = 0; n < i.jobs.size(); n++)
    i.loop.set_timer(*i.jobs[n], i.loop.now() + shortest * static_cast<i64>(n) / static_cast<i64>(i.jobs.size()));
  if (i.observed.empty()) return;
  i.sweep.impl = &i;
  i.sweep.on_expire = [](Timer &t) { static_cast<Impl::Sweep &>(t).impl->sweep_observed(); };
  i.loop.set_timer(i.sweep, i.loop.now() + 100);
}

void Checker::stop() {
  for (auto &job : impl_->jobs) {
    impl_->loop.cancel(*job);
    job->run.cancel();
    if (job->external) job->external->cancel();
  }
  impl_->loop.cancel(impl_->sweep);
  impl_->waiting.clear();
  impl_->jobs.clear();
}

} // namespace penstock
