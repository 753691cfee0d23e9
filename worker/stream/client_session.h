// SPDX-License-Identifier: BSD-2-Clause
// The session over one client connection that carries one stream at a time: HTTP/1 or bare TCP. It waits
// for a PROXY header, then for requests; makes a stream for each; between requests it holds no buffer,
// no endpoint and no stream. A session over a multiplexed connection will be its sibling.
#pragma once

#include "worker/net/connection.h"
#include "worker/stream/carrier.h"

namespace penstock {

class Listener;
struct PooledStream;
struct PooledEndpoint;

class ClientSession final : public CarrierSession {
 public:
  /// Takes an accepted socket. Runs connection rules; the session may be dead when it returns.
  static void accept(Listener &listener, int fd, const Address &peer);

  void stream_ended(Stream &s, Endpoint &endpoint, bool reuse) override;
  ProxyCounters *listener_counters() override;
  /// Closes at once; buried at the end of the turn.
  void end(bool with_reset = false);
  /// Soft stop: if it is between requests it closes by `deadline`.
  void close_if_idle_by(Tick deadline);
  /// A stream exists or bytes of a request are there.
  bool busy() const { return state_ == State::Busy || state_ == State::Lingering; }

  Connection &connection() { return socket_; }
  Stream *stream();

  ClientSession *prev = nullptr, *next = nullptr; // all sessions of the worker

 private:
  enum class State : u8 { ProxyHeader, Idle /* between requests */, Busy, Lingering, Dead };
  ClientSession(Listener &listener, int fd, const Address &peer);
  ~ClientSession() override;
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
  State state_ = State::Idle;
};

} // namespace penstock
