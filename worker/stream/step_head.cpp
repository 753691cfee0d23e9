// SPDX-License-Identifier: BSD-2-Clause
// Step::Head: waits for a request's head (mode http), notes what logs need of it, and answers what needs
// neither rules nor servers: unreadable requests, monitor-uri.
#include "shared/expr/run.h"
#include "worker/cli/error_note.h"
#include "worker/net/connection.h"
#include "worker/stream/account.h"
#include "worker/stream/capture.h"
#include "worker/stream/flow.h"
#include "worker/stream/hop.h"
#include "worker/stream/track.h"

namespace penstock {

namespace {

void note_request(Stream &s) {
  StreamFacts &f = s.facts;
  const HttpMessage &m = s.request();
  f.times.request_us = now_us();
  f.times.request_wall_us = runtime->loop.wall_now_us();
  f.method = s.arena().copy(m.method_text());
  f.uri = s.arena().copy(m.target().substr(0, runtime->config->global.tune.http_logurilen));
  f.http_version = m.version() == 10 ? "HTTP/1.0" : m.version() == 11 ? "HTTP/1.1" : "HTTP/2.0";
  s.set_request_seen();
  f.counter = static_cast<u32>(++runtime->request_count);
  ProxyState &p = front_state(s);
  p.front_counters->http_req_total++;
  count_rate(p.front->request_rate, p.front->req_rate_max, now());
  runtime->process->requests++;
}

/// There never was a whole request: its time stays -1 in the log.
void note_bad_request(Stream &s) {
  s.facts.times.request_wall_us = runtime->loop.wall_now_us();
  ProxyState &p = front_state(s);
  p.front_counters->http_req_total++;
  p.front_counters->err_req++;
  count_tracked_request(s);
}

bool monitor_fails(Stream &s) {
  runtime->scratch.reset();
  EvalContext ctx = s.context(Phase::Request, s.frontend(), true);
  for (const auto &condition : s.frontend().monitor_fail)
    if (evaluate(ctx, *condition) == Truth::Yes) return true;
  return false;
}

Next head_failed(Stream &s) {
  Endpoint &c = s.client();
  if (const HeadResult *bad = c.bad_head()) {
    note_bad_request(s);
    count_tracked_error(s);
    if (Connection *from = c.connection()) note_unreadable(s, false, *bad, from->input());
    s.flow().must_close_client = true;
    return fail(s, FaultKind::BadRequest, Side::Proxy, At::Request, bad->refuse_with);
  }
  // The client went away in the middle.
  note_bad_request(s);
  count_tracked_error(s);
  if (!c.anything_received() && s.session().request_count() == 1) s.facts.times.first_byte_us = s.facts.times.accept_us;
  s.facts.status = 400; // for the log: nobody is there to hear it
  return fail(s, FaultKind::ClientAbort, Side::Client, At::Request, 0);
}

Next wait_for_head(Stream &s) {
  StreamFlow &f = s.flow();
  const Timeouts &t = s.frontend().timeout;
  if (f.step_deadline == never) {
    Millis limit = t.http_request != eternity ? t.http_request : t.client;
    i64 since_us = s.session().request_count() == 1 ? s.session().accept_us() : s.facts.times.first_byte_us;
    f.step_deadline = limit == eternity ? never : since_us / 1000 + limit;
  }
  if (!expired(f.step_deadline)) return wait(Step::Head);
  note_bad_request(s);
  return fail(s, FaultKind::ClientTimeout, Side::Client, At::Request, 408);
}

/// unique-id-format: one text for rules, logs and servers.
void make_unique_id(Stream &s) {
  runtime->scratch.reset();
  EvalContext ctx = s.context(Phase::Request, s.frontend(), true);
  s.facts.unique_id = s.arena().copy(format(ctx, *s.frontend().unique_id_format));
}

} // namespace

Next step_head(Stream &s) {
  if (!s.is_http()) return go(Step::Content);
  Endpoint &c = s.client();
  c.pull();
  if (!c.head_ready()) {
    if (c.bad_head() != nullptr || c.fault() != EndpointFault::None) return head_failed(s);
    return wait_for_head(s);
  }
  s.flow().step_deadline = never;
  note_request(s);
  const Proxy &p = s.frontend();
  hide_persistence(s.request());
  capture_request_head(s);
  if (p.unique_id_format != nullptr) make_unique_id(s);
  if (!p.monitor_uri.empty() && s.request().target() == p.monitor_uri) {
    s.answer.intercepted = true;
    return answer_with(s, monitor_fails(s) ? 503 : 200);
  }
  return go(Step::Content);
}

void stream_request_timeout(PooledStream &s) {
  s.own.step_deadline = now();
  s.facts.times.first_byte_us = s.facts.times.accept_us; // what it was waited for
  s.run();
}

} // namespace penstock
