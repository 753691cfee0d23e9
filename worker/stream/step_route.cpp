// SPDX-License-Identifier: BSD-2-Clause
// Step::Route: use_backend rules and default_backend choose where the request goes.
#include "shared/expr/run.h"
#include "worker/log/access.h"
#include "worker/stream/account.h"
#include "worker/stream/flow.h"

namespace penstock {

namespace {

/// The backend that the first matching use_backend names; a dynamic name that nobody bears does not match.
const Proxy *chosen_by_rule(Stream &s) {
  const Proxy &front = s.frontend();
  if (front.use_backend.empty()) return nullptr;
  runtime->scratch.reset();
  EvalContext ctx = s.context(s.is_http() ? Phase::Request : Phase::RequestContent, front, true);
  for (const UseBackend &rule : front.use_backend) {
    if (rule.condition.present && evaluate(ctx, rule.condition) != Truth::Yes) continue;
    if (rule.target != nullptr) return rule.target;
    if (const Proxy *p = runtime->config->backend(format(ctx, rule.name))) return p;
  }
  return nullptr;
}

} // namespace

Next step_route(Stream &s) {
  StreamFlow &f = s.flow();
  const Proxy &front = s.frontend();
  log_stream_start(s);
  const Proxy *chosen = chosen_by_rule(s);
  if (chosen == nullptr) chosen = front.default_target;
  if (chosen == nullptr && front.is_backend) chosen = &front;
  if (chosen == nullptr) return fail(s, FaultKind::NoServer, Side::Server, At::Connect, s.is_http() ? 503 : 0);
  s.set_backend(*chosen);
  f.mode = std::max(front.conn_mode, chosen->conn_mode);
  f.retries_left = s.retries_allowed >= 0 ? s.retries_allowed : chosen->retries;
  ProxyState &back = back_state(s);
  back.farm->enter();
  f.entered_backend = true;
  back.back_counters->sessions++, back.back_counters->cur_sessions++;
  count_rate(back.back->session_rate, back.back->sess_rate_max, now());
  note_last_session(back.back->last_session);
  if (s.is_http()) back.back_counters->http_req_total++;
  return go(chosen == &front ? Step::Pick : Step::BackContent);
}

} // namespace penstock
