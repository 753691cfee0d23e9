// SPDX-License-Identifier: BSD-2-Clause
// Step::Reply: sends an answer of our own: error pages, deny, return, redirects, statistics.
#include "shared/expr/run.h"
#include "worker/stream/account.h"
#include "worker/stream/deadlines.h"
#include "worker/stream/flow.h"
#include "worker/stream/hop.h"
#include "worker/stream/reply.h"

namespace penstock {

namespace {

/// What is there of the request's body has no reader: it must go before the next request. True: all of it went.
bool discard_body(Stream &s) {
  Endpoint &c = s.client();
  for (int rounds = 0; rounds < 8; rounds++) {
    Incoming in = c.peek();
    c.consume(in.bytes.size());
    if (in.end) return true;
    if (in.bytes.empty()) return false;
  }
  return false;
}

void after_rules(Stream &s) {
  Next ignored = wait(Step::Reply);
  StreamFlow &f = s.flow();
  for (const Proxy *p : {&s.backend(), &s.frontend()}) {
    f.rule_index = 0;
    if (!p->http_after.empty()) run_rule_list(s, p->http_after, Phase::AfterResponse, *p, true, ignored);
    if (&s.backend() == &s.frontend()) break;
  }
}

bool keeps_alive(Stream &s) {
  StreamFlow &f = s.flow();
  if (s.answer.close || s.answer.raw || f.must_close_client || runtime->stopping || !s.has_request()) return false;
  return s.client().framing().keep_alive && f.mode != HttpConnMode::Close && discard_body(s);
}

/// Sends the head; the body follows in send_body().
bool start_answer(Stream &s) {
  StreamFlow &f = s.flow();
  Answer &a = s.answer;
  complete_answer(s);
  bool keep = keeps_alive(s);
  f.must_close_client = !keep;
  if (a.raw) return true;
  s.show_own_response();
  HttpMessage &m = s.response();
  u8 version = s.has_request() ? s.request().version() : 11;
  OutgoingBody body{a.source == nullptr ? BodyKind::Length : version >= 11 ? BodyKind::Chunked : BodyKind::UntilClose, a.body.size()};
  if (s.has_request() && s.request().method() == Method::Head) {
    body.kind = BodyKind::None;
    a.body = {};
    delete a.source;
    a.source = nullptr;
  } else if (body.kind == BodyKind::Chunked) {
    m.add(Header::TransferEncoding, "chunked");
  } else if (body.kind == BodyKind::UntilClose) {
    f.must_close_client = true;
  }
  say_persistence(m, !f.must_close_client, version);
  if (!s.backend().http_after.empty() || !s.frontend().http_after.empty()) after_rules(s);
  return s.client().send_head(m, body);
}

/// Gives false while the client cannot take more.
bool send_body(Stream &s) {
  StreamFlow &f = s.flow();
  Answer &a = s.answer;
  while (a.source != nullptr) {
    if (f.answer_buffer == nullptr) f.answer_buffer = runtime->buffers.take();
    Buffer &b = *f.answer_buffer;
    if (b.empty()) {
      size_t n = a.source->next(b.data(), b.capacity);
      if (n == 0) break;
      b.tail = static_cast<u32>(n);
    }
    size_t sent = s.client().send(b.content(), false);
    b.consume(static_cast<u32>(sent));
    if (!b.empty()) return false;
  }
  while (f.answer_sent < a.body.size()) {
    size_t n = s.client().send(a.body.substr(f.answer_sent), true);
    if (n == 0) return false;
    f.answer_sent += n;
  }
  return s.client().finish() && s.client().flushed();
}

} // namespace

void send_continue(Stream &s) {
  HttpMessage m;
  m.make_response(100, "Continue");
  s.client().send_head(m, {BodyKind::None, 0});
  s.client().flush();
}

Next step_reply(Stream &s) {
  StreamFlow &f = s.flow();
  if (!f.response_started) {
    drop_link(s, false);
    end_attempt(s);
    f.response_started = true;
    f.client_deadline = f.server_deadline = f.step_deadline = never;
    if (!start_answer(s)) {
      f.must_close_client = true;
      return go(Step::Finish);
    }
    s.facts.status = s.answer.raw ? s.answer.status : s.response().status();
    if (s.answer.intercepted && &s.backend() == &s.frontend()) front_state(s).front_counters->intercepted++;
  }
  u64 before = s.client().bytes_out();
  bool done = send_body(s);
  if (done || s.client().send_failed()) {
    if (!done) f.must_close_client = true;
    return go(Step::Finish);
  }
  if (f.client_deadline == never || s.client().bytes_out() != before) f.client_deadline = after(now(), s.frontend().timeout.client);
  if (!expired(f.client_deadline)) return wait(Step::Reply);
  f.must_close_client = true;
  return go(Step::Finish);
}

} // namespace penstock
