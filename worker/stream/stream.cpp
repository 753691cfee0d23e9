// SPDX-License-Identifier: BSD-2-Clause
// Runs the steps of a stream (steps.h) and keeps what surrounds them: its timer, its wake-ups, its place
// in the pool. A stream that hops without end is cut off with its trail told.
#include "worker/stream/stream.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <string>

#include "worker/log/sinks.h"
#include "worker/panic.h"
#include "worker/stream/flow.h"
#include "worker/stream/track.h"
#include "worker/stream/vars.h"

namespace penstock {

Next step_head(Stream &);
Next step_content(Stream &);
Next step_request(Stream &);
Next step_route(Stream &);
Next step_back_content(Stream &);
Next step_back_request(Stream &);
Next step_pick(Stream &);
Next step_queue(Stream &);
Next step_connect(Stream &);
Next step_exchange(Stream &);
Next step_response(Stream &);
Next step_relay(Stream &);
Next step_tarpit(Stream &);
Next step_reply(Stream &);
Next step_finish(Stream &);
static Next step_dead(Stream &) { return wait(Step::Dead); }

const StepFn steps[] = {step_head, step_content, step_request, step_route, step_back_content, step_back_request,
                        step_pick, step_queue, step_connect, step_exchange, step_response, step_relay,
                        step_tarpit, step_reply, step_finish, step_dead};
static_assert(sizeof steps / sizeof *steps == static_cast<size_t>(Step::count_));

string_view step_name(Step s) {
  constexpr std::array<string_view, static_cast<size_t>(Step::count_)> names = {
      "head", "content", "request", "route", "back-content", "back-request", "pick", "queue",
      "connect", "exchange", "response", "relay", "tarpit", "reply", "finish", "dead"};
  return names[static_cast<size_t>(s)];
}

// ------------------------------------------------------------------------------------------------ life

static void on_stream_timer(Timer &t) { static_cast<StreamFlow::StreamTimer &>(t).stream->run(); }
static void on_stream_wake(Deferred &d) { static_cast<StreamFlow::Wake &>(d).stream->run(); }

void PooledStream::init(CarrierSession &session, Endpoint &client) {
  session_ = &session, client_ = &client;
  frontend_ = backend_ = &session.frontend();
  is_http_ = frontend_->mode == Mode::Http;
  id_ = ++runtime->stream_count;
  flow_ = &own;
  own.session = &session, own.alive = true;
  own.timer.stream = own.wake.stream = this;
  own.timer.on_expire = on_stream_timer, own.wake.run = on_stream_wake;
  own.mode = frontend_->conn_mode;
  log_level = session.log_level;
  StreamTimes &t = facts.times;
  bool first = session.request_count() == 1;
  t.accept_us = first ? session.accept_us() : now_us();
  t.accept_wall_us = first ? session.accept_wall_us() : runtime->loop.wall_now_us();
  t.handshake_us = first ? session.handshake_us() : 0;
  t.first_byte_us = now_us();
  next = runtime->streams, prev = nullptr;
  if (next != nullptr) next->prev = this;
  runtime->streams = this;
}

/// Back to how a new one looks, keeping what memory it has.
void PooledStream::release() {
  if (next != nullptr) next->prev = prev;
  (prev != nullptr ? prev->next : runtime->streams) = next;
  runtime->loop.set_timer(own.timer, never);
  if (tracked != nullptr) end_tracking(tracked);
  delete answer.source;
  answer = {};
  facts = {};
  if (vars_bytes != 0) variables_gone(vars_bytes);
  txn_vars = req_vars = res_vars = nullptr;
  vars_bytes = 0;
  request_captures_.clear(), response_captures_.clear();
  tarpit = pause_counting = disable_l7_retry = logged = false;
  timeout_server = timeout_tunnel = timeout_client = timeout_connect = timeout_queue = 0;
  rule_wakeup = never;
  log_level = -2;
  priority_class = priority_offset_ms = 0, retries_allowed = -1;
  if (server_address) server_address = {};
  server_port = 0, bc_mark = bc_tos = -1;
  own_response_.clear();
  arena_.reset();
  session_ = nullptr, server_ = nullptr, client_ = server_side_ = nullptr, response_ = &own_response_;
  backend_chosen_ = is_http_ = request_seen_ = response_seen_ = false;
  step_ = Step::Head, hops_ = 0;
  own.up.reset(), own.down.reset();
  // Timer and wake-up stay: they may still be queued, and then find the stream not alive or reused.
  StreamFlow fresh;
  fresh.timer = own.timer, fresh.wake = own.wake;
  own = fresh;
  runtime->stream_pool.give(*this);
}

PooledStream &begin_stream(CarrierSession &session, Endpoint &client) {
  PooledStream &s = runtime->stream_pool.take();
  s.init(session, client);
  return s;
}

// ------------------------------------------------------------------------------------------- its running

void Stream::wake() {
  if (flow_->alive && !flow_->running) runtime->loop.defer(flow_->wake);
}

void Stream::kill(FaultKind why) {
  flow_->killed = why;
  runtime->loop.defer(flow_->wake);
}

void PooledStream::arm_timer() {
  Tick t = std::min({own.step_deadline, own.client_deadline, own.server_deadline, rule_wakeup});
  if (t != own.timer.deadline) runtime->loop.set_timer(own.timer, t);
}

/// Ended from outside: no answer, both sides closed.
static Next killed(Stream &s) {
  FaultKind why = s.flow().killed;
  s.flow().killed = FaultKind::None;
  At at = s.flow().response_started ? At::Data : s.has_response() ? At::Headers : s.server_side() ? At::Connect : At::Request;
  if (!s.facts.fault) s.facts.fault = {why, Side::Proxy, at};
  s.flow().must_close_client = true;
  s.client().abort(false);
  return go(Step::Finish);
}

void PooledStream::run() {
  if (!own.alive) return;
  own.running = true;
  panic_note_stream(static_cast<u32>(id_));
  if (own.killed != FaultKind::None && step_ != Step::Finish) step_ = killed(*this).step;
  for (unsigned hops = 0;; hops++) {
    if (hops > max_hops) {
      report_endless_stream(*this);
      client_->abort(false);
      step_ = Step::Finish;
      hops = 0;
    }
    panic_note_step(static_cast<u32>(step_));
    Next n = steps[static_cast<size_t>(step_)](*this);
    if (n.step != step_) {
      step_ = n.step;
      note(step_);
      panic_note_trail(static_cast<u8>(step_));
    }
    if (step_ == Step::Dead) break;
    if (n.waits) break;
  }
  panic_note_step(idle_step);
  own.running = false;
  if (step_ == Step::Dead) return end_stream(*this);
  arm_timer();
}

void run_stream(PooledStream &s) { s.run(); }

void report_endless_stream(Stream &s) {
  std::string text = "stream stopped after too many steps without progress:";
  for (u32 i = 0; i < s.trail_length(); i++) text += ' ', text += step_name(s.trail()[(s.trail_end() + i) % Stream::trail_size]);
  log_line(s.frontend(), LogLevel::Alert, text);
  s.flow().must_close_client = true;
  if (!s.facts.fault) s.facts.fault = {FaultKind::Internal, Side::Proxy, At::Data};
}

// ---------------------------------------------------------------------------------------------- captures

static void put_capture(std::vector<string_view> &slots, u32 slot, string_view value, Arena &arena) {
  if (slots.size() <= slot) slots.resize(slot + 1);
  slots[slot] = arena.copy(value);
}
void Stream::capture_request(u32 slot, string_view value) { put_capture(request_captures_, slot, value, arena_); }
void Stream::capture_response(u32 slot, string_view value) { put_capture(response_captures_, slot, value, arena_); }

EvalContext Stream::context(Phase phase, const Proxy &proxy, bool final) {
  return {.scratch = runtime->scratch,
          .session = session_,
          .stream = this,
          .check = nullptr,
          .proxy = &proxy,
          .phase = phase,
          .final = final,
          .need_more = false,
          .response_side = phase == Phase::Response || phase == Phase::AfterResponse};
}

/// Asked from the kernel when somebody wants to know: until the next call.
static const Address &address_of(Endpoint *side, bool peer) {
  static Address known[2];
  Address &out = known[peer];
  out = {};
  Connection *c = side != nullptr ? side->connection() : nullptr;
  sockaddr_storage ss;
  socklen_t size = sizeof ss;
  if (c != nullptr && c->is_open() && (peer ? getpeername : getsockname)(c->fd(), reinterpret_cast<sockaddr *>(&ss), &size) == 0) out = Address::from_sockaddr(reinterpret_cast<sockaddr *>(&ss), size);
  return out;
}
const Address &Stream::server_local() const { return address_of(server_side_, false); }
const Address &Stream::server_peer() const { return address_of(server_side_, true); }

} // namespace penstock
