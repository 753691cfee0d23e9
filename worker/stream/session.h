// SPDX-License-Identifier: BSD-2-Clause
// A client connection as rules and logs see it: who connected, where, when. It outlives its requests
// (streams); with HTTP/1 and bare TCP it has one stream at a time, with HTTP/2 several. Made by the
// listener when a connection is accepted, buried by the loop after its last stream ended.
#pragma once

#include <memory>

#include "shared/base/address.h"
#include "shared/base/arena.h"
#include "shared/base/time.h"
#include "shared/model/bind.h"
#include "worker/log/connection_error.h"

namespace penstock {

class Stream;
class Connection;    // worker/net/connection.h
struct ProxyHeader;  // worker/net/proxy_proto.h: what a PROXY protocol header said, TLVs included
struct TrackSet;     // worker/stream/track.h
struct VarNode;      // worker/stream/vars.h: a variable, in the arena of its owner

class Session : Pinned {
 public:
  const Proxy &frontend() const { return *frontend_; }
  const Bind &bind() const { return *bind_; }

  /// The client and what it connected to, after PROXY protocol and set-src/set-dst rules.
  const Address &source() const { return source_ ? *source_ : peer_; }
  const Address &destination() const { return destination_ ? *destination_ : local(); }
  void set_source(const Address &a) { put(source_, a); }
  void set_destination(const Address &a) { put(destination_, a); }
  /// As the socket says.
  const Address &peer() const { return peer_; }
  const Address &local() const; // asked from the kernel at first use

  /// Null when none was received. Lives as long as the session.
  const ProxyHeader *proxy_header() const { return proxy_header_; }

  /// The client's socket (for marks, TOS, TCP facts); -1 when it is gone or not a socket.
  int fd() const;

  i64 accept_us() const { return accept_us_; }
  i64 accept_wall_us() const { return accept_wall_us_; }
  i64 handshake_us() const { return handshake_us_; } // 0: no handshake
  u32 request_count() const { return request_count_; } // streams so far, the current one included
  u64 id() const { return id_; }               // unique in this worker, counts up

  /// Lives as long as the session. Empty until something is put in, so that idle connections are small.
  Arena &arena() { return arena_; }
  VarNode *vars = nullptr; // scope sess
  u64 vars_bytes = 0;
  TrackSet *tracked = nullptr; // by tcp-request connection and session rules; null: nothing

  ConnectionError error = ConnectionError::None;
  i32 log_level = -2; // set by tcp-request connection/session rules: -2 not set, -1 silent, else syslog level
  bool expect_proxy_header = false; // tcp-request connection expect-proxy
  bool expect_netscaler_cip = false;

 protected:
  Session() : arena_(512) {}
  ~Session() = default;
  static void put(std::unique_ptr<Address> &into, const Address &a) {
    into ? void(*into = a) : void(into = std::make_unique<Address>(a));
  }

  const Proxy *frontend_ = nullptr;
  const Bind *bind_ = nullptr;
  Connection *connection_ = nullptr;
  ProxyHeader *proxy_header_ = nullptr;
  Address peer_;
  std::unique_ptr<Address> source_, destination_; // seldom there: idle connections are to be small
  mutable std::unique_ptr<Address> local_;
  i64 accept_us_ = 0, accept_wall_us_ = 0, handshake_us_ = 0;
  u64 id_ = 0;
  u32 request_count_ = 0;
  Arena arena_;
};

} // namespace penstock
