// SPDX-License-Identifier: BSD-2-Clause
// See listener.h. Counts of connections are host-wide gauges in shared memory, so another worker's
// client leaving makes room here too; nobody tells us, hence the short pauses.
#include "worker/net/listener.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "worker/runtime.h"
#include "worker/stream/client_session.h"

namespace penstock {

namespace {
constexpr Millis full_pause = 50;        // at a connection limit, unless one of our own ends earlier
constexpr Millis starved_pause = 100;    // no descriptors or memory
} // namespace

Listener::Listener(const Bind &bind, ProxyState &state, int fd) : bind_(bind), state_(state) {
  io_.fd = fd, io_.on_event = on_event, io_.listener = this;
  timer_.on_expire = on_timer, timer_.listener = this;
  if (bind.row != no_row) counters_ = &runtime->service->listener_counters(runtime->slot, bind.row);
}

/// Options that accepted sockets inherit from their listener: one call here instead of one per connection.
void Listener::inherit_options() {
  int on = 1;
  const Proxy &p = *state_.proxy;
  setsockopt(io_.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); // not on UNIX sockets; no matter
  if (p.has(Opt::Clitcpka)) {
    setsockopt(io_.fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    int count = static_cast<int>(p.clitcpka_cnt), idle = static_cast<int>(p.clitcpka_idle / 1000), every = static_cast<int>(p.clitcpka_intvl / 1000);
    if (count > 0) setsockopt(io_.fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
    if (idle > 0) setsockopt(io_.fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    if (every > 0) setsockopt(io_.fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
  }
  if (p.has(Opt::TcpSmartAccept) || (p.mode == Mode::Http && !p.has(Opt::NoTcpSmartAccept))) {
    int off = 0;
    setsockopt(io_.fd, IPPROTO_TCP, TCP_QUICKACK, &off, sizeof off);
  }
  const Tune &tune = runtime->config->global.tune;
  int receive = static_cast<int>(std::max(tune.rcvbuf_client, tune.rcvbuf_frontend));
  int send = static_cast<int>(std::max(tune.sndbuf_client, tune.sndbuf_frontend));
  if (receive > 0) setsockopt(io_.fd, SOL_SOCKET, SO_RCVBUF, &receive, sizeof receive);
  if (send > 0) setsockopt(io_.fd, SOL_SOCKET, SO_SNDBUF, &send, sizeof send);
}

void Listener::start() {
  if (stopped_) return;
  started_ = true;
  inherit_options();
  runtime->loop.add_level(io_, io_readable);
  runtime->process->listeners++;
}

void Listener::stop() {
  if (stopped_) return;
  stopped_ = true;
  if (!refusing_) runtime->process->listeners--;
  runtime->loop.cancel(timer_);
  if (paused_) runtime->loop.change(io_, io_readable, false); // the loop removes only what it watches
  if (started_) runtime->loop.remove(io_);
  close(io_.fd);
  io_.fd = -1; // the master and other workers hold the socket
}

void Listener::pause(Millis at_most) {
  if (paused_ || stopped_ || refusing_) return;
  paused_ = true;
  runtime->loop.change(io_, 0, false);
  runtime->loop.set_timer(timer_, runtime->loop.now() + at_most);
}

void Listener::resume() {
  if (!paused_ || stopped_ || refusing_) return;
  paused_ = false;
  runtime->loop.cancel(timer_);
  runtime->loop.change(io_, io_readable, false);
}

void Listener::obey_state() {
  bool refuse = state_.front->state.load(std::memory_order_relaxed) != 0;
  if (stopped_ || refuse == refusing_) return;
  refusing_ = refuse;
  bool inet = bind_.address.is_inet(); // a UNIX socket could not be opened again: its clients wait
  if (refuse) {
    runtime->loop.cancel(timer_);
    if (paused_) runtime->loop.change(io_, io_readable, false);
    runtime->loop.remove(io_);
    paused_ = false;
    runtime->process->listeners--;
    if (inet) shutdown(io_.fd, SHUT_RD); // no longer a listening socket, but still bound
  } else {
    if (inet) listen(io_.fd, bind_.backlog != 0 ? static_cast<int>(bind_.backlog) : SOMAXCONN);
    runtime->loop.add_level(io_, io_readable);
    runtime->process->listeners++;
  }
}

void Listener::on_timer(Timer &t) { static_cast<PauseTimer &>(t).listener->resume(); }

void Listener::on_event(IoHandle &h, u32) { static_cast<Handle &>(h).listener->accept_some(); }

void Listener::released() {
  connections_--;
  if (paused_) resume();
  if (runtime->accept_waits) {
    runtime->accept_waits = false;
    for (auto &l : runtime->listeners) l->resume();
  } else if (state_.accept_waits) {
    resume_listeners(state_);
  }
}

void resume_listeners(ProxyState &frontend) {
  frontend.accept_waits = false;
  for (Listener *l : frontend.listeners) l->resume();
}

/// How long to wait for rates to fall below their limits; 0: go on.
Millis Listener::rate_wait() const {
  Tick now = runtime->loop.now();
  const Proxy &p = *state_.proxy;
  Millis wait = 0;
  if (u32 limit = runtime->service_row->maxconnrate.load(std::memory_order_relaxed))
    wait = std::max(wait, runtime->service_row->connection_rate.until_below(now, limit));
  if (u32 limit = runtime->service_row->maxsessrate.load(std::memory_order_relaxed))
    wait = std::max(wait, runtime->service_row->session_rate.until_below(now, limit));
  if (p.rate_limit_sessions && *p.rate_limit_sessions > 0 && state_.front != nullptr)
    wait = std::max(wait, state_.front->session_rate.until_below(now, *p.rate_limit_sessions));
  return wait;
}

/// Takes a share of every limit; false: paused at one of them.
bool Listener::admit() {
  if (bind_.maxconn != 0 && connections_ >= bind_.maxconn) return pause(full_pause), false;
  if (Millis wait = rate_wait(); wait > 0) return pause(wait), false;
  const Service &service = *runtime->service;
  u32 limit = runtime->service_row->maxconn.load(std::memory_order_relaxed);
  u32 total = take_within(connections_share(service, runtime->slot), limit);
  if (total == 0) {
    runtime->accept_waits = true;
    runtime->process->maxconn_reached++;
    return pause(full_pause), false;
  }
  u32 own_limit = state_.front->maxconn.load(std::memory_order_relaxed);
  u32 own = take_within(proxy_share(service, runtime->slot, state_.proxy->front_row), own_limit);
  if (own == 0) {
    give_back(connections_share(service, runtime->slot));
    state_.accept_waits = true;
    return pause(full_pause), false;
  }
  raise_to(runtime->service_row->max_conns, total);
  raise_to(state_.front->conn_max, own);
  return true;
}

bool Listener::accept_one() {
  if (!admit()) return false;
  sockaddr_storage from;
  socklen_t size = sizeof from;
  int fd = accept4(io_.fd, reinterpret_cast<sockaddr *>(&from), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) {
    connections_++;
    ClientSession::accept(*this, fd, Address::from_sockaddr(reinterpret_cast<sockaddr *>(&from), size));
    return true;
  }
  int error = errno;
  give_back(connections_share(*runtime->service, runtime->slot));
  give_back(proxy_share(*runtime->service, runtime->slot, state_.proxy->front_row));
  if (error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM) {
    runtime->process->accepts_failed++;
    pause(starved_pause);
  }
  return false;
}

/// As many as probably wait, learned from the last times: the socket is level-triggered, so what is left
/// comes back, and a try that finds nothing costs a system call.
void Listener::accept_some() {
  u32 most = std::max(1u, runtime->config->global.tune.maxaccept), accepted = 0;
  u32 want = std::min(batch_, most);
  while (accepted < want && !paused_ && !stopped_ && accept_one()) accepted++;
  if (accepted < want) batch_ = std::max(1u, accepted), full_batches_ = 0;
  else if (++full_batches_ >= 4) batch_ = std::min(most, batch_ * 2), full_batches_ = 0;
}

} // namespace penstock
