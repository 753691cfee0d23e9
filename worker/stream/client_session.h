// SPDX-License-Identifier: BSD-2-Clause
// The session over one client connection that carries one stream at a time: HTTP/1 or bare TCP. It waits
// for a PROXY header, then for requests; makes a stream for each; between requests it holds no buffer,
// no endpoint and no stream. A session over a multiplexed connection will be its sibling.
#pragma once

#include "worker/net/connection.h"
#include "worker/net/idle_pool.h"
#include "worker/stream/session.h"

namespace penstock {

class Listener;
struct PooledStream;
struct PooledEndpoint;

class ClientSession final : public Session {
 public:
  /// Takes an accepted socket. Runs connection rules; the session may be dead when it returns.
  static void accept(Listener &listener, int fd, const Address &peer);

  /// Its stream has ended. `reuse`: the connection can carry another request.
  void stream_ended(bool reuse);
  /// Closes at once; buried at the end of the turn.
  void end(bool with_reset = false);
  /// Soft stop: if it is between requests it closes by `deadline`.
  void close_if_idle_by(Tick deadline);
  /// A stream exists or bytes of a request are there.
  bool busy() const { return state_ == State::Busy || state_ == State::Lingering; }

  Connection &connection() { return socket_; }
  Stream *stream();
  Listener &listener() { return *listener_; }
  /// http-reuse never: the session's own connection to `server`, or null.
  ServerConnection *take_kept(const ServerState &server, u64 key);
  bool keep(ServerConnection &c);
  void forget(ServerConnection &c) { if (kept_ == &c) kept_ = nullptr; }
  const Server *last_server = nullptr; // option prefer-last-server
  const Proxy *last_backend = nullptr;

  ClientSession *prev = nullptr, *next = nullptr; // all sessions of the worker

 private:
  enum class State : u8 { ProxyHeader, Idle /* between requests */, Busy, Lingering, Dead };
  ClientSession(Listener &listener, int fd, const Address &peer);
  ~ClientSession();
  bool run_rules(const RuleList &rules, Phase phase);
  void begin();          // after accept and PROXY header: first stream or first wait
  void read_proxy_header();
  ProxyHeader &received_header();
  void start_stream();
  void wait_for_request(bool first);
  void linger();
  void drain();
  static void on_event(Connection &, void *owner);
  static void on_timeout(Timer &);
  void timed_out();

  struct IdleTimer : Timer { ClientSession *session; } timer_;
  struct Burial : Deferred { ClientSession *session; } burial_;
  struct Restart : Deferred { ClientSession *session; } restart_; // pipelined requests
  Connection socket_;
  Listener *listener_;
  PooledStream *stream_ = nullptr;
  PooledEndpoint *endpoint_ = nullptr;
  ServerConnection *kept_ = nullptr;
  State state_ = State::Idle;
};

} // namespace penstock
