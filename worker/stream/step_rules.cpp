// SPDX-License-Identifier: BSD-2-Clause
// Step::Content, Request, BackContent, BackRequest: the rule sets that look at a request, of the
// frontend and then of the backend, and the statistics page. A rule that needs more bytes, or that
// waits for something else, yields: the step waits and runs it again.
#include <iterator>

#include "shared/expr/run.h"
#include "worker/stats/page.h"
#include "worker/stream/flow.h"
#include "worker/stream/forwarding.h"
#include "worker/stream/track.h"

namespace penstock {

namespace {

/// Whether more content can still come that a rule might be waiting for.
bool can_get_more(Stream &s) {
  Endpoint &c = s.client();
  c.pull();
  Incoming in = c.peek();
  return !in.end && !in.broken && in.bytes.size() + 1 < runtime->buffers.bufsize() - runtime->config->global.tune.maxrewrite;
}

/// tcp-request content of `p`.
Next content_rules(Stream &s, const Proxy &p, Step here, Step then) {
  if (p.tcp_request.empty()) return go(then);
  StreamFlow &f = s.flow();
  if (f.rule_stage == 0) {
    f.rule_stage = 1, f.rule_index = 0;
    f.inspect_until = p.tcp_inspect_delay == eternity ? now() : now() + p.tcp_inspect_delay;
  }
  bool final = expired(f.inspect_until);
  if (!final) {
    s.client().want(runtime->buffers.bufsize());
    final = !can_get_more(s);
  }
  Next next = go(then);
  switch (run_rule_list(s, p.tcp_request, Phase::RequestContent, p, final, next)) {
    case RulesSay::Wait:
      f.step_deadline = f.inspect_until;
      return wait(here);
    case RulesSay::Go: break;
    case RulesSay::Stop: break;
  }
  f.step_deadline = f.inspect_until = never;
  f.rule_stage = 0;
  s.client().want(0);
  return next;
}

/// option http-buffer-request, and rules that look at the body: until it is there, or no more fits.
bool body_awaited(Stream &s, const Proxy &p) {
  bool wanted = p.has(Opt::HttpBufferRequest) || (p.needs & needs_req_body) != 0 ||
                (p.balance.algorithm == BalanceAlgorithm::UrlParam && p.balance.check_post) || statistics_need_body(s, p);
  StreamFlow &f = s.flow();
  if (!wanted || s.client().framing().kind == BodyKind::None) return false;
  s.client().want(runtime->buffers.bufsize());
  bool more = can_get_more(s);
  if (more && f.step_deadline == never) {
    const Timeouts &t = s.frontend().timeout;
    f.step_deadline = after(now(), t.http_request != eternity ? t.http_request : t.client);
    if (s.client().framing().expect_continue) send_continue(s);
  }
  if (more && !expired(f.step_deadline)) return true;
  s.client().want(0);
  return false;
}

/// http-request rules of `p`, then its `redirect` lines, which an 'allow' does not skip.
Next request_rules(Stream &s, const Proxy &p, Step here, Step then) {
  StreamFlow &f = s.flow();
  count_tracked_request(s);
  if (f.rule_stage == 0 && body_awaited(s, p)) return wait(here);
  f.step_deadline = never;
  const RuleList *lists[] = {&p.http_request, &p.redirects};
  if (f.rule_stage == 0) f.rule_stage = 1, f.rule_index = 0;
  for (; f.rule_stage <= std::size(lists); f.rule_stage++, f.rule_index = 0) {
    const RuleList &rules = *lists[f.rule_stage - 1];
    if (rules.empty()) continue;
    Next next = go(then);
    RulesSay say = run_rule_list(s, rules, Phase::Request, p, true, next);
    if (say == RulesSay::Wait) return wait(here);
    if (say == RulesSay::Go) continue;
    f.rule_stage = 0;
    return next;
  }
  f.rule_stage = 0;
  if (p.stats != nullptr && p.stats->enabled && serve_statistics(s, p)) {
    if (!s.facts.fault) s.facts.fault = {FaultKind::Local, Side::Proxy, At::Request};
    s.answer.intercepted = true;
    return go(Step::Reply);
  }
  if (!allow_field_names(s.request(), p)) {
    front_state(s).front_counters->denied_req++;
    return fail(s, FaultKind::Denied, Side::Proxy, At::Request, 403);
  }
  return go(then);
}

Next verdict_ends(Stream &s, Verdict v, Phase phase, At at, Next &next) {
  bool response = phase == Phase::Response || phase == Phase::AfterResponse;
  ProxyState &front = front_state(s);
  switch (v) {
    case Verdict::Deny:
      if (s.tarpit && !response) return count_tracked_error(s), next = go(Step::Tarpit);
      if (response) {
        front.front_counters->denied_resp++, back_state(s).back_counters->denied_resp++;
        if (ServerState *server = server_state(s)) server->counters->denied_resp++;
      } else {
        if (s.is_http() && phase == Phase::Request) count_tracked_error(s);
        front.front_counters->denied_req++;
        if (s.backend_chosen()) back_state(s).back_counters->denied_req++;
      }
      return next = fail(s, FaultKind::Denied, Side::Proxy, at, s.is_http() ? s.answer.status != 0 ? s.answer.status : response ? 502 : 403 : 0);
    case Verdict::Reject:
    case Verdict::Drop:
      front.front_counters->denied_req++;
      s.client().abort(false);
      return next = fail(s, FaultKind::Denied, Side::Proxy, at, 0);
    case Verdict::Done:
      if (!s.facts.fault) s.facts.fault = {FaultKind::Local, Side::Proxy, at};
      s.answer.intercepted = true;
      return next = go(Step::Reply);
    default:
      front.front_counters->err_int++;
      return next = fail(s, FaultKind::Internal, Side::Proxy, at, s.is_http() ? 500 : 0);
  }
}

} // namespace

RulesSay run_rule_list(Stream &s, const RuleList &rules, Phase phase, const Proxy &proxy, bool final, Next &next) {
  StreamFlow &f = s.flow();
  runtime->scratch.reset();
  EvalContext ctx = s.context(phase, proxy, final);
  RuleOutcome outcome = run_rules(ctx, rules, f.rule_index);
  f.rule_index = outcome.index;
  if (outcome.verdict == Verdict::Yield) return RulesSay::Wait;
  s.rule_wakeup = never;
  if (outcome.verdict == Verdict::Next || outcome.verdict == Verdict::Stop) return RulesSay::Go;
  At at = phase == Phase::Response || phase == Phase::AfterResponse ? At::Headers : At::Request;
  verdict_ends(s, outcome.verdict, phase, at, next);
  return RulesSay::Stop;
}

Next step_content(Stream &s) {
  return content_rules(s, s.frontend(), Step::Content, s.is_http() ? Step::Request : Step::Route);
}
Next step_request(Stream &s) { return request_rules(s, s.frontend(), Step::Request, Step::Route); }
Next step_back_content(Stream &s) {
  return content_rules(s, s.backend(), Step::BackContent, s.is_http() ? Step::BackRequest : Step::Pick);
}
Next step_back_request(Stream &s) { return request_rules(s, s.backend(), Step::BackRequest, Step::Pick); }

Next step_tarpit(Stream &s) {
  StreamFlow &f = s.flow();
  if (f.step_deadline == never) {
    const Timeouts &t = s.backend().timeout;
    f.step_deadline = after(now(), t.tarpit != eternity ? t.tarpit : t.connect);
    front_state(s).front_counters->denied_req++;
  }
  if (!expired(f.step_deadline) && !s.client().peer_gone()) return wait(Step::Tarpit);
  f.step_deadline = never;
  f.must_close_client = true;
  return fail(s, FaultKind::Tarpit, Side::Proxy, At::Tarpit, s.answer.status != 0 ? s.answer.status : 500);
}

} // namespace penstock
