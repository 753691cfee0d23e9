// SPDX-License-Identifier: BSD-2-Clause
// Step::Pick and Step::Queue: persistence, use-server and balancing choose a server and take one of its
// slots; without a free one the request waits its turn in the host-wide queue.
#include "shared/expr/run.h"
#include "worker/stream/account.h"
#include "worker/stream/error_page.h"
#include "worker/stream/flow.h"
#include "worker/stream/stick.h"

namespace penstock {

namespace {

const Server *server_by_name(const Proxy &backend, string_view name) {
  for (const auto &s : backend.servers)
    if (s->name == name) return s.get();
  return nullptr;
}

const Server *server_by_rule(Stream &s, EvalContext &ctx) {
  for (const UseServer &rule : s.backend().use_server) {
    if (rule.condition.present && evaluate(ctx, rule.condition) != Truth::Yes) continue;
    if (rule.target != nullptr) return rule.target;
    if (const Server *named = server_by_name(s.backend(), format(ctx, rule.name))) return named;
  }
  return nullptr;
}

/// force-persist and ignore-persist: 1, -1, or 0 when no line matches.
int persistence_rule(Stream &s, EvalContext &ctx) {
  for (const PersistRule &rule : s.backend().persist_rules)
    if (evaluate(ctx, rule.condition) == Truth::Yes) return rule.force ? 1 : -1;
  return 0;
}

/// Whom the request is bound to before balancing has a say.
void find_wanted(Stream &s, EvalContext &ctx) {
  StreamFlow &f = s.flow();
  const Proxy &backend = s.backend();
  int rule = backend.persist_rules.empty() ? 0 : persistence_rule(s, ctx);
  f.wanted_forced = rule > 0 || backend.has(Opt::Persist);
  if (Persistence *p = back_state(s).persistence.get(); p != nullptr && s.is_http()) {
    f.persist = p->read_request(s.request(), runtime->loop.wall_now_us() / 1'000'000, f.wanted_forced);
    if (rule < 0) f.persist.overruled();
    f.wanted = f.persist.server;
  }
  if (!backend.stick_rules.empty()) {
    const Server *known = find_stick_server(s, ctx, f.wanted == nullptr && rule >= 0);
    if (known != nullptr) f.wanted = known;
  }
  if (!backend.use_server.empty()) {
    if (const Server *by_rule = server_by_rule(s, ctx)) f.persist.overruled(), f.wanted = by_rule;
  }
  const Server *last = f.session->last_backend == &backend && backend.has(Opt::PreferLastServer) ? f.session->last_server : nullptr;
  if (f.wanted == nullptr && last != nullptr && runtime->of(*last).row->queued.load(std::memory_order_relaxed) <= backend.max_keep_alive_queue) f.wanted = last;
}

u64 next_random() {
  static u64 state = static_cast<u64>(runtime->loop.now_us()) * 0x9E3779B97F4A7C15u + runtime->slot + 1;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}

Next queue_up(Stream &s, Farm &farm, const Server *server) {
  StreamFlow &f = s.flow();
  PooledStream &me = static_cast<PooledStream &>(s);
  QueuePlace place;
  f.waiter = farm.join(server, {s.priority_class, s.priority_offset_ms}, {me.pool_index, me.pool_generation}, now_us(), &place);
  if (f.waiter == no_row) return fail(s, FaultKind::ResourceExhausted, Side::Resource, At::Queue, 503);
  s.facts.times.queued_us = now_us();
  s.facts.srv_queue = place.server, s.facts.back_queue = place.backend;
  const Timeouts &t = s.backend().timeout;
  Millis limit = s.timeout_queue != 0 ? s.timeout_queue : t.queue != eternity ? t.queue : t.connect;
  f.step_deadline = after(now(), limit);
  return wait(Step::Queue);
}

/// The server option `redir`: the client is told to ask it directly.
Next send_there(Stream &s, const Server &server) {
  std::string location = server.options->redir + std::string(s.request().target());
  s.begin_own_response();
  build_error_redirect(302, location, s.response());
  s.answer.status = 302;
  s.answer.ready = true;
  if (!s.facts.fault) s.facts.fault = {FaultKind::Redirected, Side::Proxy, At::None};
  return go(Step::Reply);
}

Next slot_taken(Stream &s, const Server &server) {
  StreamFlow &f = s.flow();
  s.set_server(&server);
  f.slot_server = &server;
  s.facts.times.slot_us = now_us();
  if (s.facts.times.queued_us == 0) s.facts.times.queued_us = now_us();
  ServerState &state = runtime->of(server);
  state.counters->cur_sessions++, state.counters->selected++;
  count_rate(state.row->session_rate, state.row->rate_max, now());
  note_last_session(state.row->last_session);
  f.server_counted = true;
  back_state(s).back_counters->selected++;
  if (!server.options->redir.empty() && s.is_http() && (s.request().method() == Method::Get || s.request().method() == Method::Head)) return send_there(s, server);
  return go(Step::Connect);
}

} // namespace

Next step_pick(Stream &s) {
  StreamFlow &f = s.flow();
  ProxyState &back = back_state(s);
  Farm &farm = *back.farm;
  runtime->scratch.reset();
  EvalContext ctx = s.context(s.is_http() ? Phase::Request : Phase::RequestContent, s.backend(), true);
  if (f.attempts == 0) find_wanted(s, ctx);
  PickRequest request{.context = &ctx, .client = &s.session().source(), .wanted = f.wanted, .forced = f.wanted_forced, .avoid = f.avoid, .random = next_random()};
  if (s.is_http()) request.request = &s.request();
  if (!s.is_http() || s.backend().balance.check_post) request.body = s.client().peek().bytes;
  PickResult r = s.backend().direct ? farm.pick_or_direct(request) : farm.pick(request);
  if (r.outcome == PickOutcome::Chosen) return slot_taken(s, *r.server);
  if (r.outcome == PickOutcome::Wait) return go(queue_up(s, farm, r.server).step);
  back.back_counters->err_conn++;
  return fail(s, FaultKind::NoServer, Side::Server, At::Connect, 503);
}

Next step_queue(Stream &s) {
  StreamFlow &f = s.flow();
  Farm &farm = *back_state(s).farm;
  if (f.waiter == no_row) return go(Step::Pick);
  WaiterState state = runtime->waiters.state(f.waiter);
  if (state == WaiterState::Granted || state == WaiterState::Kicked) {
    f.step_deadline = never;
    const Server *server = farm.accept(f.waiter);
    f.waiter = no_row;
    return server != nullptr ? slot_taken(s, *server) : go(Step::Pick);
  }
  bool gone = s.client().peer_gone() && (s.backend().has(Opt::Abortonclose) || s.client().fault() == EndpointFault::Reset);
  if (!gone && !expired(f.step_deadline)) return wait(Step::Queue);
  farm.leave(f.waiter);
  f.waiter = no_row;
  f.step_deadline = never;
  if (gone) return fail(s, FaultKind::ClientAbort, Side::Client, At::Queue, 400);
  return fail(s, FaultKind::QueueTimeout, Side::Server, At::Queue, 503);
}

} // namespace penstock
