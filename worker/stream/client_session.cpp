// SPDX-License-Identifier: BSD-2-Clause
// See client_session.h.
#include "worker/stream/account.h"
#include "worker/stream/client_session.h"

#include <sys/socket.h>
#include <unistd.h>

#include "shared/expr/run.h"
#include "worker/log/access.h"
#include "worker/net/listener.h"
#include "worker/net/proxy_header_reader.h"
#include "worker/runtime.h"
#include "worker/stream/flow.h"
#include "worker/stream/track.h"
#include "worker/stream/vars.h"

namespace penstock {

namespace {
/// How long a client may take to hear our last words before we close for good.
constexpr Millis linger_time = 2000;
} // namespace

// ---------------------------------------------------------------------------------------- Session's own

const Address &Session::local() const {
  if (!local_) {
    local_ = std::make_unique<Address>();
    sockaddr_storage ss;
    socklen_t size = sizeof ss;
    if (fd() >= 0 && getsockname(fd(), reinterpret_cast<sockaddr *>(&ss), &size) == 0)
      *local_ = Address::from_sockaddr(reinterpret_cast<sockaddr *>(&ss), size);
    else *local_ = bind_->address;
  }
  return *local_;
}

int Session::fd() const { return connection_ != nullptr ? connection_->fd() : -1; }

// -------------------------------------------------------------------------------------------- beginning

ClientSession::ClientSession(Listener &listener, int fd, const Address &peer) : listener_(&listener) {
  bind_ = &listener.bind();
  frontend_ = listener.state().proxy;
  connection_ = &socket_;
  peer_ = peer;
  id_ = ++runtime->session_count;
  accept_us_ = runtime->loop.now_us(), accept_wall_us_ = runtime->loop.wall_now_us();
  timer_.session = burial_.session = restart_.session = this;
  timer_.on_expire = on_timeout;
  burial_.run = [](Deferred &d) { delete static_cast<Burial &>(d).session; };
  restart_.run = [](Deferred &d) {
    ClientSession &s = *static_cast<Restart &>(d).session;
    if (s.state_ == State::Dead) runtime->loop.bury(s.burial_);
    else on_event(s.socket_, &s);
  };
  socket_.adopt(fd);
  socket_.set_owner(on_event, this);
  next = runtime->sessions;
  if (next != nullptr) next->prev = this;
  runtime->sessions = this;
  runtime->session_total++;
}

ClientSession::~ClientSession() {
  runtime->loop.cancel(timer_);
  if (vars_bytes != 0) variables_gone(vars_bytes);
  delete proxy_header_;
}

ProxyHeader &ClientSession::received_header() {
  if (proxy_header_ == nullptr) proxy_header_ = new ProxyHeader;
  return *proxy_header_;
}

Stream *ClientSession::stream() { return stream_; }

static bool monitored(const Proxy &p, const Address &peer) {
  if (p.monitor_net.empty() || !peer.is_inet()) return false;
  for (const Network &n : p.monitor_net)
    if (n.contains(peer.ip)) return true;
  return false;
}

static void count_accepted(Listener &listener) {
  ProxyState &state = listener.state();
  Tick now = runtime->loop.now();
  state.front_counters->connections++, state.front_counters->cur_conns++;
  count_rate(state.front->connection_rate, state.front->conn_rate_max, now);
  runtime->process->connections++;
  count_rate(runtime->service_row->connection_rate, runtime->service_row->conn_rate_max, now);
  if (ProxyCounters *c = listener.counters()) c->connections++, c->cur_sessions++;
}

static void count_session(Listener &listener) {
  ProxyState &state = listener.state();
  if (ProxyCounters *c = listener.counters()) c->sessions++;
  Tick now = runtime->loop.now();
  state.front_counters->sessions++;
  count_rate(state.front->session_rate, state.front->sess_rate_max, now);
  count_rate(runtime->service_row->session_rate, runtime->service_row->sess_rate_max, now);
}

void ClientSession::accept(Listener &listener, int fd, const Address &peer) {
  auto *s = new ClientSession(listener, fd, peer);
  count_accepted(listener);
  const Proxy &p = s->frontend();
  if (p.mode == Mode::Tcp && monitored(p, peer)) return s->end();
  if (runtime->config->global.reject_privileged_ports_tcp && peer.is_inet() && peer.port < 1024) return s->end(true);
  if (!p.tcp_connection.empty() && !s->run_rules(p.tcp_connection, Phase::Connection)) {
    listener.state().front_counters->denied_conn++;
    return s->end(true); // a reset leaves nothing to remember on either side
  }
  s->socket_.watch(false);
  if (listener.bind().accept_proxy || listener.bind().accept_netscaler_cip || s->expect_proxy_header || s->expect_netscaler_cip) {
    s->state_ = State::ProxyHeader;
    runtime->loop.set_timer(s->timer_, after(runtime->loop.now(), p.timeout.client_hs != eternity ? p.timeout.client_hs : p.timeout.client));
    return;
  }
  s->begin();
}

/// False: the connection is refused.
bool ClientSession::run_rules(const RuleList &rules, Phase phase) {
  runtime->scratch.reset();
  EvalContext ctx{.scratch = runtime->scratch, .session = this, .proxy = frontend_, .phase = phase};
  Verdict v = penstock::run_rules(ctx, rules).verdict;
  return v == Verdict::Next || v == Verdict::Stop || v == Verdict::Done;
}

void ClientSession::begin() {
  ProxyState &state = listener_->state();
  const Proxy &p = frontend();
  if (!p.tcp_session.empty() && !run_rules(p.tcp_session, Phase::SessionStart)) {
    state.front_counters->denied_sess++;
    return end();
  }
  count_session(*listener_);
  if (tracked != nullptr) count_tracked(tracked, DataType::SessCnt, DataType::SessRate);
  if (p.mode == Mode::Http) return wait_for_request(true);
  start_stream();
}

/// What went wrong by HeaderRead, of PROXY protocol and NetScaler headers.
static constexpr ConnectionError header_errors[][2] = {
    {ConnectionError::None, ConnectionError::None},
    {ConnectionError::None, ConnectionError::None},
    {ConnectionError::ProxyHeaderAborted, ConnectionError::CipAborted},
    {ConnectionError::ProxyHeaderTruncated, ConnectionError::CipTruncated},
    {ConnectionError::ProxyHeaderMissing, ConnectionError::CipInvalid},
    {ConnectionError::ProxyHeaderInvalid, ConnectionError::CipInvalid},
    {ConnectionError::ProxyHeaderFamily, ConnectionError::CipFamily},
};

void ClientSession::read_proxy_header() {
  ProxyHeader &header = received_header();
  bool netscaler = bind().accept_netscaler_cip || expect_netscaler_cip;
  HeaderRead r = penstock::read_proxy_header(socket_, netscaler, header);
  if (r == HeaderRead::Wait) return;
  if (r != HeaderRead::Done) {
    log_connection_error(*this, header_errors[static_cast<size_t>(r)][netscaler], socket_.received > 0);
    return end();
  }
  handshake_us_ = runtime->loop.now_us();
  if (!header.local) set_source(header.source), set_destination(header.destination);
  runtime->loop.set_timer(timer_, never);
  state_ = State::Idle;
  begin();
  if (state_ == State::Idle) on_event(socket_, this); // bytes behind the header
}

// ----------------------------------------------------------------------------------------- its requests

void ClientSession::wait_for_request(bool first) {
  state_ = State::Idle;
  socket_.release_buffers();
  const Timeouts &t = frontend().timeout;
  Millis wait = t.client;
  if (t.http_request != eternity) wait = t.http_request;
  if (!first && t.http_keep_alive != eternity) wait = t.http_keep_alive;
  runtime->loop.set_timer(timer_, after(runtime->loop.now(), wait));
}

void ClientSession::on_event(Connection &, void *owner) {
  ClientSession &s = *static_cast<ClientSession *>(owner);
  switch (s.state_) {
    case State::Busy: return static_cast<Stream *>(s.stream_)->wake();
    case State::ProxyHeader: return s.read_proxy_header();
    case State::Lingering: return s.drain();
    case State::Dead: return;
    case State::Idle: break;
  }
  bool first = s.request_count_ == 0;
  if (s.socket_.input().empty()) {
    if (!s.socket_.may_fill()) return;
    Io r = s.socket_.fill();
    if (r == Io::Blocked) return s.socket_.release_buffers();
    // A client that goes away between requests is nothing to tell; one that never said anything may be.
    if (r != Io::Ok && (!first || s.frontend().has(Opt::HttpIgnoreProbes))) return s.end();
  }
  s.start_stream();
}

void ClientSession::start_stream() {
  state_ = State::Busy;
  runtime->loop.set_timer(timer_, never);
  request_count_++;
  endpoint_ = &runtime->endpoint_pool.take();
  H1Endpoint &e = endpoint_->endpoint;
  if (frontend().mode == Mode::Http) e.attach(socket_, H1Endpoint::Role::Client, listener_->state().request_limits);
  else e.attach_bytes(socket_, H1Endpoint::Role::Client);
  stream_ = &begin_stream(*this, e);
  run_stream(*stream_);
}

ProxyCounters *ClientSession::listener_counters() { return listener_->counters(); }

void ClientSession::stream_ended(Stream &, Endpoint &, bool reuse) {
  stream_ = nullptr;
  bool request_over = endpoint_->endpoint.receive_done();
  endpoint_->endpoint.detach();
  runtime->endpoint_pool.give(*endpoint_);
  endpoint_ = nullptr;
  if (!socket_.is_open()) return end();
  if (!reuse) {
    bool unread = !socket_.input().empty() || socket_.may_fill() || (!request_over && frontend().mode == Mode::Http && !socket_.eof());
    return unread && !socket_.write_failed() && socket_.failed() == 0 ? linger() : end();
  }
  wait_for_request(false);
  // What is there already gives no event any more: a pipelined request, or an end.
  if (!socket_.input().empty() || socket_.may_fill()) runtime->loop.defer(restart_);
}

void ClientSession::on_timeout(Timer &t) { static_cast<IdleTimer &>(t).session->timed_out(); }

void ClientSession::timed_out() {
  // A first request that never came is answered 408 and logged; later ones are just not waited for.
  if (state_ == State::Idle && request_count_ == 0 && !runtime->stopping && !frontend().has(Opt::HttpIgnoreProbes)) {
    start_stream();
    if (stream_ != nullptr) stream_request_timeout(*stream_);
    return;
  }
  bool netscaler = bind().accept_netscaler_cip || expect_netscaler_cip;
  if (state_ == State::ProxyHeader) log_connection_error(*this, netscaler ? ConnectionError::CipTimeout : ConnectionError::ProxyHeaderTimeout, socket_.received > 0);
  end();
}

// ---------------------------------------------------------------------------------------------- the end

/// Closing with unread bytes makes the kernel send a reset, which may overtake our answer: tell that
/// nothing more comes, and read for a while.
void ClientSession::linger() {
  state_ = State::Lingering;
  socket_.shut_write();
  runtime->loop.set_timer(timer_, runtime->loop.now() + linger_time);
  drain();
}

void ClientSession::drain() {
  for (int rounds = 0; rounds < 16; rounds++) {
    socket_.consume(socket_.input().size());
    Io r = socket_.fill();
    if (r == Io::Blocked) return socket_.release_buffers();
    if (r != Io::Ok) return end();
  }
  end(); // it sends without end
}

void ClientSession::close_if_idle_by(Tick deadline) {
  if (state_ != State::Idle || request_count_ == 0) return; // a first request is still awaited: no client may be turned away
  if (frontend().has(Opt::IdleCloseOnResponse)) return;     // its next response says that it was the last
  if (deadline <= runtime->loop.now()) return end();
  if (deadline < timer_.deadline) runtime->loop.set_timer(timer_, deadline);
}

void ClientSession::end(bool with_reset) {
  if (state_ == State::Dead) return;
  state_ = State::Dead, over_ = true;
  runtime->loop.cancel(timer_);
  if (frontend().has(Opt::Nolinger)) with_reset = true;
  with_reset ? socket_.reset() : socket_.close();
  end_kept();
  if (tracked != nullptr) end_tracking(tracked);
  (next != nullptr) ? void(next->prev = prev) : void();
  (prev != nullptr ? prev->next : runtime->sessions) = next;
  runtime->session_total--;
  listener_->state().front_counters->cur_conns--;
  if (ProxyCounters *c = listener_->counters()) c->cur_sessions--;
  give_back(proxy_share(*runtime->service, runtime->slot, frontend_->front_row));
  give_back(connections_share(*runtime->service, runtime->slot));
  listener_->released();
  if (!restart_.queued) runtime->loop.bury(burial_);
}

} // namespace penstock
