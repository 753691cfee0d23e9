// SPDX-License-Identifier: BSD-2-Clause
// Step::Exchange: sends the request and waits for the head of the response, while the request's body flows.
// Interim responses pass through. Failures here decide between another try and an answer of our own.
#include "worker/cli/error_note.h"
#include "worker/stream/attempt.h"
#include "worker/stream/deadlines.h"
#include "worker/stream/flow.h"
#include "worker/stream/hop.h"
#include "worker/stream/prepare.h"
#include "worker/stream/track.h"

namespace penstock {

namespace {

/// With retry-on beyond connection failures the body is kept while it is sent, up to a buffer's size.
void begin_replay(Stream &s) {
  StreamFlow &f = s.flow();
  constexpr u32 by_response = ~u32{retry_conn_failure};
  if ((s.backend().retry_on & by_response) == 0 || f.retries_left <= 0 || s.disable_l7_retry) return;
  if (s.client().framing().kind == BodyKind::None) return;
  f.replay_on = true;
  f.replay = {s.arena().chars(runtime->buffers.bufsize()), 0, runtime->buffers.bufsize()};
  f.up.keep_copy(&f.replay);
}

bool send_request(Stream &s) {
  StreamFlow &f = s.flow();
  Endpoint &server = *s.server_side();
  bool first = !f.prepared;
  if (first) prepare_request(s), f.prepared = true;
  const H1Framing &framing = s.client().framing();
  server.expect_response_to(s.request().method());
  if (!server.send_head(s.request(), {framing.kind, framing.length})) return false;
  f.request_sent = true;
  f.replayed = 0;
  if (first) {
    f.up.start(s.client(), server);
    f.up.drop_trailers(s.frontend().has(Opt::HttpDropRequestTrailers));
    f.up.allow_splice(true);
    begin_replay(s);
  } else {
    f.up.redirect(server);
  }
  return true;
}

/// Sends again what an earlier attempt had sent of the body. False: not all of it yet.
bool replay_body(Stream &s) {
  StreamFlow &f = s.flow();
  while (f.replayed < f.replay.size) {
    size_t n = s.server_side()->send({f.replay.bytes + f.replayed, f.replay.size - f.replayed}, true);
    if (n == 0) return false;
    f.replayed += static_cast<u32>(n);
  }
  return true;
}

/// 100, 103 …: to the client if it can take them, then the real head follows.
void pass_interim(Stream &s) {
  Endpoint &server = *s.server_side();
  if (s.request().version() >= 11) {
    s.client().send_head(server.message(), {BodyKind::None, 0});
    s.client().flush();
  }
  back_state(s).back_counters->http_1xx++;
  server.next_head();
}

/// All that was taken from the client can be sent again.
bool nothing_lost(const StreamFlow &f) { return f.up.bytes() == 0 || (f.replay_on && !f.replay.overflowed); }

Next server_gone(Stream &s) {
  StreamFlow &f = s.flow();
  Endpoint &server = *s.server_side();
  bool silent = !server.anything_received();
  // A reused connection that the server closed meanwhile says nothing about the request (RFC 9112, 9.3.1).
  Method m = s.request().method();
  bool idempotent = m != Method::Post && m != Method::Patch && m != Method::Connect && m != Method::Other;
  if (f.reused && silent && idempotent && nothing_lost(f)) {
    f.fresh_only = true;
    drop_link(s, false);
    return go(Step::Connect);
  }
  ServerState &state = *server_state(s);
  report_server_error(s, true);
  if (f.retries_left > 0 && may_retry(s, silent ? retry_empty_response : retry_junk_response)) return try_again(s, false);
  state.counters->err_resp++, back_state(s).back_counters->err_resp++;
  count_tracked_failure(s);
  return fail(s, FaultKind::ServerAbort, Side::Server, At::Headers, 502);
}

Next bad_response(Stream &s) {
  ServerState &state = *server_state(s);
  report_server_error(s, true);
  if (s.flow().retries_left > 0 && may_retry(s, retry_junk_response)) return try_again(s, false);
  state.counters->err_resp++, back_state(s).back_counters->err_resp++;
  count_tracked_failure(s);
  return fail(s, FaultKind::BadResponse, Side::Proxy, At::Headers, 502);
}

Next server_too_slow(Stream &s) {
  report_server_error(s, true);
  if (s.flow().retries_left > 0 && may_retry(s, retry_response_timeout)) return try_again(s, false);
  server_state(s)->counters->err_resp++, back_state(s).back_counters->err_resp++;
  count_tracked_failure(s);
  return fail(s, FaultKind::ServerTimeout, Side::Server, At::Headers, 504);
}

/// Before or after it had sent its whole request: one that breaks its request off gets no answer, one whose
/// content is no HTTP is told.
Next client_failed(Stream &s, bool timeout) {
  front_state(s).front_counters->client_aborts++;
  back_state(s).back_counters->client_aborts++, server_state(s)->counters->client_aborts++;
  At at = s.flow().up.over() && !s.flow().up.source_failed() ? At::Headers : At::Data;
  if (timeout) return fail(s, FaultKind::ClientTimeout, Side::Client, At::Headers, 408);
  bool is_there = at == At::Headers || s.client().fault() == EndpointFault::BadMessage;
  return fail(s, FaultKind::ClientAbort, Side::Client, at, is_there ? 400 : 0);
}

} // namespace

bool may_retry(Stream &s, u32 word) {
  StreamFlow &f = s.flow();
  if (!(s.backend().retry_on & word) || s.disable_l7_retry || f.response_started) return false;
  return nothing_lost(f);
}

Next step_exchange(Stream &s) {
  StreamFlow &f = s.flow();
  if (!f.request_sent) {
    if (!send_request(s)) return fail(s, FaultKind::Internal, Side::Proxy, At::Connect, 500);
  }
  Endpoint &server = *s.server_side();
  bool moved = (!f.retrying || replay_body(s)) && f.up.run();
  u64 before = server.bytes_in();
  server.pull();
  while (server.head_ready() && server.message().status() < 200 && server.message().status() != 101) {
    pass_interim(s);
    server.pull();
  }
  if (server.head_ready()) {
    // A tunnel that nobody asked for would carry the next requests unseen (RFC 9110, 15.2.2).
    if (server.message().status() == 101 && !s.client().framing().upgrade) return bad_response(s);
    f.client_deadline = f.server_deadline = never;
    return go(Step::Response);
  }
  if (const HeadResult *bad = server.bad_head()) {
    if (Connection *from = server.connection()) note_unreadable(s, true, *bad, from->input());
    return bad_response(s);
  }
  if (server.fault() != EndpointFault::None) return server_gone(s);
  if (f.up.state() == PumpState::Broken && f.up.source_failed()) return client_failed(s, false);
  bool gave_up = s.client().peer_gone() && (s.backend().has(Opt::Abortonclose) || s.client().fault() == EndpointFault::Reset);
  if (gave_up) return client_failed(s, false);
  update_deadlines(s, moved, server.bytes_in() != before);
  if (expired(f.server_deadline)) return server_too_slow(s);
  if (expired(f.client_deadline)) return client_failed(s, true);
  if (f.up.blocked() == PumpBlock::Budget) again(s);
  return wait(Step::Exchange);
}

} // namespace penstock
