// SPDX-License-Identifier: BSD-2-Clause
// A session as its streams' owner: what a stream asks of the client connection that carries it, whether
// that carries one stream at a time (ClientSession) or many (HTTP/2).
//
//   codec (bytes <-> messages)  ->  CarrierSession (a client connection)  ->  streams (a request each)
#pragma once

#include "worker/net/idle_pool.h"
#include "worker/stream/session.h"

namespace penstock {

class Endpoint;
class Stream;
struct ProxyCounters;

class CarrierSession : public Session {
 public:
  /// That stream has ended; its endpoint is free. `reuse`: the message exchange was complete and either side may go on.
  virtual void stream_ended(Stream &s, Endpoint &endpoint, bool reuse) = 0;
  /// Counters of the bind line (option socket-stats), or null.
  virtual ProxyCounters *listener_counters() = 0;

  /// http-reuse never and private connections: the session's own connection to `server`, or null.
  ServerConnection *take_kept(const ServerState &server, u64 key);
  bool keep(ServerConnection &c);
  void forget(ServerConnection &c) { if (kept_ == &c) kept_ = nullptr; }

  const Server *last_server = nullptr; // option prefer-last-server
  const Proxy *last_backend = nullptr;

 protected:
  CarrierSession() = default;
  virtual ~CarrierSession() = default;
  void end_kept() { if (kept_ != nullptr) kept_->end(); }
  bool over_ = false;

 private:
  ServerConnection *kept_ = nullptr;
};

} // namespace penstock
