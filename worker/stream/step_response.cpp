// SPDX-License-Identifier: BSD-2-Clause
// Step::Response: what happens between the server's head and the first byte to the client: another try
// where retry-on names the status, response rules, persistence, framing for the client's version.
#include <algorithm>

#include "shared/expr/run.h"
#include "worker/log/access.h"
#include "worker/stream/account.h"
#include "worker/stream/attempt.h"
#include "worker/stream/capture.h"
#include "worker/stream/flow.h"
#include "worker/stream/hop.h"
#include "worker/stream/prepare.h"
#include "worker/stream/stick.h"
#include "worker/stream/track.h"

namespace penstock {

namespace {

struct RetryStatus { u16 status; u32 word; };
constexpr RetryStatus retry_statuses[] = {
    {401, retry_status_401}, {403, retry_status_403}, {404, retry_status_404}, {408, retry_status_408}, {421, retry_status_421},
    {425, retry_status_425}, {429, retry_status_429}, {500, retry_status_500}, {501, retry_status_501}, {502, retry_status_502},
    {503, retry_status_503}, {504, retry_status_504},
};

bool retried_by_status(Stream &s, u16 status) {
  if (status < 400 || s.flow().retries_left <= 0) return false;
  for (const RetryStatus &r : retry_statuses)
    if (r.status == status) return may_retry(s, r.word);
  return false;
}

/// NTLM and Negotiate authenticate the connection, not the request: it may carry no other client's.
bool authenticates_connection(const HttpMessage &m) {
  if (m.status() != 401 && m.status() != 407) return false;
  for (Header h : {Header::WwwAuthenticate, Header::ProxyAuthenticate}) {
    string_view v = m.get(h);
    if (v.starts_with("Negotiate") || v.starts_with("NTLM")) return true;
  }
  return false;
}

void note_response(Stream &s) {
  StreamFlow &f = s.flow();
  Endpoint &server = *s.server_side();
  s.facts.times.response_us = now_us();
  s.set_response(&server.message());
  s.facts.status = server.message().status();
  count_server_status(s, s.facts.status);
  bool failed = s.facts.status >= 500 && s.facts.status != 501 && s.facts.status != 505;
  failed ? report_server_error(s, true) : report_server_success(s, true);
  if (is_tracked(s)) count_tracked_status(s, s.facts.status);
  if (authenticates_connection(server.message())) f.link->is_private = true;
  hide_persistence(server.message());
  capture_response_head(s);
}

/// The rule sets of a response in their order; `front`: the frontend's, which run only when it is not the backend.
struct Stage {
  RuleList Proxy::*rules;
  Phase phase;
  bool front;
  bool http;
};
constexpr Stage before_changes[] = {
    {&Proxy::tcp_response, Phase::Response, false, false},
    {&Proxy::http_response, Phase::Response, false, true},
    {&Proxy::http_response, Phase::Response, true, true},
};
constexpr Stage after_changes[] = {
    {&Proxy::http_after, Phase::AfterResponse, false, true},
    {&Proxy::http_after, Phase::AfterResponse, true, true},
};

const Proxy *proxy_of(Stream &s, const Stage &stage) {
  if (stage.front) return &s.backend() != &s.frontend() ? &s.frontend() : nullptr;
  return &s.backend();
}

template <size_t N> RulesSay run_stages(Stream &s, const Stage (&stages)[N], Next &next) {
  StreamFlow &f = s.flow();
  for (; f.rule_stage - 1u < N; f.rule_stage++, f.rule_index = 0) {
    const Stage &stage = stages[f.rule_stage - 1];
    const Proxy *p = proxy_of(s, stage);
    if (p == nullptr || (p->*stage.rules).empty() || (stage.http && !s.is_http())) continue;
    bool final = stage.http || f.inspect_until == never || expired(f.inspect_until);
    RulesSay say = run_rule_list(s, p->*stage.rules, stage.phase, *p, final, next);
    if (say != RulesSay::Go) return say;
  }
  return RulesSay::Go;
}

Next begin_relay(Stream &s) {
  StreamFlow &f = s.flow();
  f.rule_stage = 0, f.rule_index = 0;
  f.step_deadline = never;
  f.down.start(*s.server_side(), s.client());
  f.down.drop_trailers(s.backend().has(Opt::HttpDropResponseTrailers));
  f.down.allow_splice(true);
  f.response_started = true;
  return go(Step::Relay);
}

/// Content rules on bare bytes of the server (tcp-response content in mode tcp).
Next tcp_response(Stream &s) {
  StreamFlow &f = s.flow();
  f.tunnel = true;
  if (s.backend().tcp_response.empty()) return begin_relay(s);
  f.up.run();
  Endpoint &server = *s.server_side();
  if (f.rule_stage == 0) {
    f.rule_stage = 1, f.rule_index = 0;
    f.inspect_until = after(now(), s.backend().tcp_response_inspect_delay);
    server.want(runtime->buffers.bufsize());
  }
  server.pull();
  Incoming in = server.peek();
  if (in.bytes.empty() && !in.end && !in.broken) return wait(Step::Response); // rules wait for a first byte
  if (f.inspect_until != never && (in.end || in.broken)) f.inspect_until = now();
  Next next = wait(Step::Response);
  RulesSay say = run_stages(s, before_changes, next);
  f.step_deadline = f.inspect_until;
  if (say == RulesSay::Wait) return wait(Step::Response);
  server.want(0);
  if (say != RulesSay::Go) return next;
  if (!s.backend().stick_rules.empty()) store_stick_response(s);
  return begin_relay(s);
}

bool opens_tunnel(Stream &s) {
  u16 status = s.response().status();
  return status == 101 || (s.request().method() == Method::Connect && status >= 200 && status < 300);
}

Next send_response_head(Stream &s) {
  StreamFlow &f = s.flow();
  bool tunnel = opens_tunnel(s);
  OutgoingBody body = tunnel ? OutgoingBody{BodyKind::Tunnel, 0} : f.response_body;
  if (!s.client().send_head(s.response(), body)) {
    s.client().flush();
    if (!s.client().flushed()) return wait(Step::Response);
    front_state(s).front_counters->failed_header_rewrites++;
    return fail(s, FaultKind::Internal, Side::Proxy, At::Headers, 500);
  }
  if (log_early(s)) {
    s.client().flush(); // the line tells the head's bytes
    s.facts.bytes_read = s.client().bytes_out();
    log_stream(s);
  }
  if (tunnel) {
    s.client().become_bytes();
    s.server_side()->become_bytes();
    f.up.reset();
    f.up.start(s.client(), *s.server_side());
    f.up.allow_splice(true);
    f.tunnel = f.must_close_client = true;
  }
  return begin_relay(s);
}

} // namespace

Next step_response(Stream &s) {
  if (!s.is_http()) return tcp_response(s);
  StreamFlow &f = s.flow();
  constexpr u8 last_before = 1 + std::size(before_changes), in_after = 16;
  if (f.rule_stage == 0) {
    u16 status = s.server_side()->message().status();
    if (retried_by_status(s, status)) return try_again(s, false);
    note_response(s);
    f.rule_stage = 1, f.rule_index = 0;
  }
  f.up.run();
  Next next = go(Step::Relay);
  if (f.rule_stage <= last_before) {
    RulesSay say = run_stages(s, before_changes, next);
    if (say == RulesSay::Wait) return wait(Step::Response);
    if (say == RulesSay::Stop) return next;
    if (!s.backend().stick_rules.empty()) store_stick_response(s);
    if (!prepare_response(s)) return fail(s, FaultKind::Denied, Side::Proxy, At::Headers, 502);
    f.rule_stage = in_after, f.rule_index = 0;
  }
  if (s.backend().http_after.empty() && s.frontend().http_after.empty()) return send_response_head(s);
  f.rule_stage = static_cast<u8>(f.rule_stage - in_after + 1);
  RulesSay say = run_stages(s, after_changes, next);
  f.rule_stage = static_cast<u8>(f.rule_stage + in_after - 1);
  if (say == RulesSay::Wait) return wait(Step::Response);
  return say == RulesSay::Stop ? next : send_response_head(s);
}

} // namespace penstock
