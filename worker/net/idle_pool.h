// SPDX-License-Identifier: BSD-2-Clause
// Connections to one server that carry no request now and may carry the next (http-reuse, pool-max-conn,
// pool-low-conn, pool-purge-delay, max-reuse). Newest first out: those that stay at the bottom are the
// ones that the purge closes. No more are kept than were busy at one time lately: a first request must not
// take an idle connection (http-reuse safe), so without that bound clients of one request each would pile them up. Per worker; its sizes are in the server's counters.
#pragma once

#include "shared/model/proxy.h"
#include "worker/net/connection.h"

namespace penstock {

struct ServerState;
class CarrierSession;

/// A connection to a server: in use by a stream, idle in its server's pool, or kept by its session
/// (http-reuse never, private ones). Dies at the end of a turn.
class ServerConnection : public Deferred {
 public:
  ServerConnection(ServerState &server);
  Connection connection;
  ServerState &server;
  Stream *user = nullptr;            // whom events wake
  CarrierSession *keeper = nullptr;   // private: only this session's streams may use it
  u32 uses = 0;                      // requests carried
  bool is_private = false;           // PROXY header, usesrc, authentication by connection
  bool pooled = false;
  bool in_safe_list = false;         // it was reused before: "aggressive" trusts it
  u64 key = 0;                       // what it is bound to (destination of port-from-client servers, source): must match
  ServerConnection *prev = nullptr, *next = nullptr;

  /// Closes and buries.
  void end(bool with_reset = false);

 private:
  static void on_event(Connection &, void *owner);
};

class IdlePool : Pinned {
 public:
  IdlePool();
  /// A connection for a request, or null. `first`: of its session, so that failing it cannot be hidden.
  ServerConnection *take(HttpReuse reuse, bool first, u64 key);
  /// After a response. False: it must be closed.
  bool give(ServerConnection &c);
  void remove(ServerConnection &c);
  void close_all();
  bool close_oldest();
  u32 size() const { return count_; }

 private:
  static void on_purge(Timer &t);
  struct PurgeTimer : Timer { IdlePool *pool; } purge_;
  ServerConnection *newest_ = nullptr, *oldest_ = nullptr;
  u32 count_ = 0;
  u32 least_ = 0; // since the last purge: so many were never needed
  u32 most_busy_ = 0, most_busy_before_ = 0; // at one time, in this purge period and the one before
};

} // namespace penstock
