// SPDX-License-Identifier: BSD-2-Clause
// Step::Finish: the end of every stream, good or bad: the server's connection goes back or away, its slot
// to the next in line; counts, log line, and on with the client's connection. Also the verbs by which
// steps end things early.
#include "worker/log/access.h"
#include "worker/stream/account.h"
#include "worker/stream/attempt.h"
#include "worker/stream/flow.h"

namespace penstock {

ProxyState &front_state(Stream &s) { return runtime->of(s.frontend()); }
ProxyState &back_state(Stream &s) { return runtime->of(s.backend()); }
ServerState *server_state(Stream &s) { return s.server() != nullptr ? &runtime->of(*s.server()) : nullptr; }

Next fail(Stream &s, FaultKind kind, Side side, At at, u16 status) {
  StreamFlow &f = s.flow();
  if (!s.facts.fault) s.facts.fault = {kind, side, at, false, status};
  if (side == Side::Client) f.must_close_client = true;
  if (!s.is_http() || status == 0 || f.response_started || !s.client().is_open()) {
    f.must_close_client = true;
    s.facts.status = s.facts.status != 0 ? s.facts.status : status;
    return go(Step::Finish);
  }
  s.answer.status = status;
  return go(Step::Reply);
}

Next answer_with(Stream &s, u16 status) {
  s.answer.status = status;
  if (!s.facts.fault) s.facts.fault = {FaultKind::Local, Side::Proxy, At::Request};
  return go(Step::Reply);
}

void drop_link(Stream &s, bool with_reset) {
  StreamFlow &f = s.flow();
  if (f.link == nullptr) return;
  s.set_server_side(nullptr);
  if (s.has_response() && !f.response_started) s.set_response(nullptr);
  f.server_endpoint->endpoint.detach();
  runtime->endpoint_pool.give(*f.server_endpoint);
  f.server_endpoint = nullptr;
  f.link->end(with_reset || s.backend().has(Opt::Nolinger));
  f.link = nullptr;
  f.retrying = f.request_sent || f.retrying;
  f.request_sent = false;
}

/// After a whole response: the connection may carry another request.
static void keep_link(Stream &s) {
  StreamFlow &f = s.flow();
  ServerConnection &link = *f.link;
  s.set_server_side(nullptr);
  f.server_endpoint->endpoint.detach();
  runtime->endpoint_pool.give(*f.server_endpoint);
  f.server_endpoint = nullptr;
  f.link = nullptr;
  link.user = nullptr;
  bool own = link.is_private || s.backend().reuse == HttpReuse::Never;
  bool kept = own ? !f.must_close_client && f.session->keep(link) : link.server.idle.give(link);
  if (!kept) link.end();
}

static bool link_reusable(Stream &s) {
  StreamFlow &f = s.flow();
  if (f.link == nullptr || !s.is_http() || f.tunnel || f.mode != HttpConnMode::KeepAlive || s.facts.fault) return false;
  if (f.down.state() != PumpState::Shut || f.up.state() != PumpState::Shut) return false;
  Endpoint &e = *s.server_side();
  Connection &c = f.link->connection;
  if (!e.framing().keep_alive || e.framing().kind == BodyKind::UntilClose || runtime->hard_stop) return false;
  return c.input().empty() && !c.may_fill() && !c.hung_up() && c.flushed();
}

void end_attempt(Stream &s) {
  StreamFlow &f = s.flow();
  if (f.waiter != no_row) {
    back_state(s).farm->leave(f.waiter);
    f.waiter = no_row;
  }
  if (f.server_counted) {
    ServerState &server = runtime->of(*f.slot_server);
    server.counters->cur_sessions--;
    f.server_counted = false;
  }
  if (f.slot_server != nullptr) {
    back_state(s).farm->release(*f.slot_server);
    f.slot_server = nullptr;
  }
}

/// Means and maxima of what it took.
static void count_times(Stream &s) {
  const StreamTimes &t = s.facts.times;
  if (t.connected_us == 0 || s.server() == nullptr) return;
  u64 queue = static_cast<u64>(t.slot_us - t.queued_us), connect = static_cast<u64>(t.connected_us - t.slot_us);
  u64 response = t.response_us != 0 ? static_cast<u64>(t.response_us - t.connected_us) : 0, total = static_cast<u64>(t.end_us - t.first_byte_us);
  const u64 times[] = {queue, connect, response, total}; // by TimeKind
  ProxyRow &back = *back_state(s).back;
  ServerRow &server = *server_state(s)->row;
  for (size_t k = 0; k < static_cast<size_t>(TimeKind::count_); k++) {
    back.time_mean_us[k].add(times[k]), server.time_mean_us[k].add(times[k]);
    u32 ms = static_cast<u32>(times[k] / 1000);
    for (std::atomic<u32> *most : {&back.time_max_ms[k], &server.time_max_ms[k]})
      if (ms > most->load(std::memory_order_relaxed)) raise_to(*most, ms);
  }
}

static void leave_backend(Stream &s) {
  StreamFlow &f = s.flow();
  if (!f.entered_backend) return;
  f.entered_backend = false;
  ProxyState &back = back_state(s);
  back.back_counters->cur_sessions--;
  back.farm->exit();
}

Next step_finish(Stream &s) {
  StreamFlow &f = s.flow();
  s.facts.times.end_us = now_us();
  count_bytes(s);
  count_final_status(s);
  s.facts.bytes_read = s.client().bytes_out();
  s.facts.bytes_uploaded = s.client().bytes_in();
  count_times(s);
  s.facts.cookie_client = f.persist.client, s.facts.cookie_server = f.persist.server_letter;
  if (s.server() != nullptr && s.is_http()) f.session->last_server = s.server(), f.session->last_backend = &s.backend();
  end_attempt(s);
  leave_backend(s);
  log_stream(s); // its counts of connections are without this stream; the server's connection is still known
  if (link_reusable(s)) keep_link(s);
  else drop_link(s, false);
  return go(Step::Dead);
}

void end_stream(PooledStream &s) {
  StreamFlow &f = s.own;
  CarrierSession &session = *f.session;
  Endpoint &client = s.client();
  bool reuse = s.is_http() && !f.must_close_client && !f.tunnel && client.receive_done() && client.is_open();
  runtime->buffers.drop(f.answer_buffer);
  s.release();
  session.stream_ended(s, client, reuse);
}

} // namespace penstock
