// SPDX-License-Identifier: BSD-2-Clause
// Step::Connect: an idle connection where http-reuse allows one, else a new one; and what follows when it
// cannot be had: a retry on the same server after a pause, redispatch to another, or failure.
#include <algorithm>

#include "worker/net/connect.h"
#include "worker/stream/attempt.h"
#include "worker/stream/flow.h"
#include "worker/stream/stick.h"

namespace penstock {

namespace {

/// Before a server that refused is asked again (manual, "retries").
constexpr Millis turn_around = 1000;

Millis connect_timeout(Stream &s) {
  return s.timeout_connect != 0 ? s.timeout_connect : s.backend().timeout.connect;
}

void attach(Stream &s, ServerConnection &link) {
  StreamFlow &f = s.flow();
  f.link = &link;
  link.user = &s;
  f.server_endpoint = &runtime->endpoint_pool.take();
  H1Endpoint &e = f.server_endpoint->endpoint;
  if (s.is_http()) e.attach(link.connection, H1Endpoint::Role::Server, back_state(s).response_limits);
  else e.attach_bytes(link.connection, H1Endpoint::Role::Server);
  s.set_server_side(&e);
}

ServerConnection *take_reusable(Stream &s) {
  StreamFlow &f = s.flow();
  if (!s.is_http() || f.fresh_only || f.mode != HttpConnMode::KeepAlive) return nullptr;
  ServerState &server = runtime->of(*s.server());
  u64 key = connection_key(s);
  if (ServerConnection *c = f.session->take_kept(server, key)) return c;
  if (connection_is_private(*s.server())) return nullptr;
  return server.idle.take(s.backend().reuse, s.session().request_count() == 1, key);
}

Next connected(Stream &s) {
  StreamFlow &f = s.flow();
  f.step_deadline = never;
  s.facts.times.connected_us = now_us();
  f.link->uses++;
  report_server_success(s, false);
  if (f.stick != nullptr) store_stick_request(s);
  if (s.is_http()) return go(Step::Exchange);
  f.up.start(s.client(), *s.server_side());
  return go(Step::Response);
}

Next begin_connection(Stream &s) {
  StreamFlow &f = s.flow();
  ServerState &server = runtime->of(*s.server());
  f.attempts++;
  server.counters->sessions++;
  if (ServerConnection *c = take_reusable(s)) {
    f.reused = true;
    server.counters->reused++, back_state(s).back_counters->reused++;
    attach(s, *c);
    return connected(s);
  }
  f.reused = false;
  server.counters->connect_attempts++, back_state(s).back_counters->connect_attempts++;
  ConnectFailure why;
  ServerConnection *c = open_server_connection(s, why);
  if (c == nullptr) {
    if (why == ConnectFailure::Refused) return attempt_failed(s, FaultKind::ConnectRefused);
    server.counters->err_conn++, back_state(s).back_counters->err_conn++;
    return fail(s, FaultKind::ResourceExhausted, Side::Resource, At::Connect, 503);
  }
  attach(s, *c);
  if (!c->connection.connecting()) return connected(s);
  f.step_deadline = after(now(), connect_timeout(s));
  return wait(Step::Connect);
}

bool client_gave_up(Stream &s) {
  Endpoint &c = s.client();
  if (c.fault() == EndpointFault::Reset) return true;
  return c.peer_gone() && s.backend().has(Opt::Abortonclose);
}

} // namespace

Next step_connect(Stream &s) {
  StreamFlow &f = s.flow();
  if (client_gave_up(s)) return fail(s, FaultKind::ClientAbort, Side::Client, At::Connect, 400);
  if (f.link == nullptr) {
    if (f.step_deadline != never && !expired(f.step_deadline)) return wait(Step::Connect); // turn-around
    f.step_deadline = never;
    return begin_connection(s);
  }
  Connection &c = f.link->connection;
  if (c.failed() != 0) return attempt_failed(s, FaultKind::ConnectRefused);
  if (!c.connecting()) return connected(s);
  if (expired(f.step_deadline)) return attempt_failed(s, FaultKind::ConnectTimeout);
  return wait(Step::Connect);
}

// --------------------------------------------------------------------------------------------- failures

/// option redispatch N: on every Nth retry, or counted from the last one where negative (manual).
static bool redispatch_now(Stream &s) {
  if (!s.backend().has(Opt::Redispatch)) return false;
  StreamFlow &f = s.flow();
  i32 interval = s.backend().redispatch_interval;
  if (interval > 0) return f.attempts % interval == 0;
  return f.retries_left == (interval == 0 ? 0 : -interval - 1);
}

Next try_again(Stream &s, bool same_server_pause) {
  StreamFlow &f = s.flow();
  f.retries_left--;
  s.facts.retries++;
  ServerState &server = runtime->of(*s.server());
  drop_link(s, false);
  if (!redispatch_now(s)) {
    server.counters->retries++, back_state(s).back_counters->retries++;
  } else {
    server.counters->redispatches++, back_state(s).back_counters->redispatches++;
    s.facts.redispatched = true;
    f.avoid = s.server();
    f.wanted = nullptr;
    end_attempt(s);
    return go(Step::Pick);
  }
  if (same_server_pause) {
    Millis limit = connect_timeout(s);
    f.step_deadline = now() + (limit == eternity ? turn_around : std::min(limit, turn_around));
    return wait(Step::Connect);
  }
  return go(Step::Connect);
}

Next attempt_failed(Stream &s, FaultKind kind) {
  StreamFlow &f = s.flow();
  f.step_deadline = never;
  report_server_error(s, false);
  if (f.retries_left > 0 && (s.backend().retry_on & retry_conn_failure)) return try_again(s, kind == FaultKind::ConnectRefused);
  ServerState &server = runtime->of(*s.server());
  server.counters->err_conn++, back_state(s).back_counters->err_conn++;
  drop_link(s, false);
  return fail(s, kind, Side::Server, At::Connect, 503);
}

} // namespace penstock
