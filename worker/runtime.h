// SPDX-License-Identifier: BSD-2-Clause
// The worker from inside: pools, and for every proxy and server of the configuration what this worker
// keeps beside the const model (counters' addresses, idle connections, listeners). One per process.
#pragma once

#include <memory>
#include <vector>

#include "shared/http/header_case.h"
#include "shared/shm/gauge.h"
#include "worker/lb/farm.h"
#include "worker/lb/persist.h"
#include "worker/net/buffer.h"
#include "worker/net/h1_endpoint.h"
#include "worker/net/idle_pool.h"
#include "worker/pool.h"
#include "worker/worker.h"

namespace penstock {

class ClientSession;
class Listener;
struct PooledStream;

struct PooledEndpoint {
  u32 pool_index = 0, pool_generation = 0;
  H1Endpoint endpoint;
};

/// A proxy in this worker. Both halves of a `listen` share one.
struct ProxyState {
  const Proxy *proxy = nullptr;
  ProxyRow *front = nullptr, *back = nullptr;                           // shared; null for the half that it has not
  ProxyCounters *front_counters = nullptr, *back_counters = nullptr;    // this worker's; never null
  H1Limits request_limits, response_limits;
  std::unique_ptr<Farm> farm;                                           // of backends
  std::unique_ptr<Persistence> persistence;                             // of backends with a `cookie`
  std::vector<Listener *> listeners;
  bool accept_waits = false; // its listeners are paused for maxconn
};

struct ServerState {
  const Server *server = nullptr;
  ServerRow *row = nullptr;
  ServerCounters *counters = nullptr;
  IdlePool idle;
};

struct Runtime : Worker {
  explicit Runtime(const WorkerStart &start);
  ~Runtime();

  BufferPool buffers;
  WaiterPool waiters;
  Pool<PooledStream> stream_pool;
  Pool<PooledEndpoint> endpoint_pool;
  Arena scratch{16384}; // of evaluations; reset by whoever starts one
  std::vector<ProxyState> proxies;               // by Proxy::index
  std::vector<std::unique_ptr<ServerState>> servers; // by Server::global_index
  std::vector<std::unique_ptr<Listener>> listeners;
  ClientSession *sessions = nullptr; // all of them
  size_t session_total = 0;
  HeaderCase header_case; // h1-case-adjust
  ProcessCounters *process = nullptr;
  ServiceRow *service_row = nullptr;
  bool accept_waits = false; // for the global maxconn
  bool hard_stop = false;
  size_t server_connections = 0; // open ones
  size_t descriptor_limit = 0;
  /// Whether more than that share of the descriptors that we may have are in use by traffic.
  bool descriptors_beyond(u32 percent) const { return (session_total + server_connections) * 100 > descriptor_limit * percent; }

  void add_proxy(const Proxy &p);
  void add_server(const Server &s);
  ProxyState &of(const Proxy &p) { return proxies[p.index]; }
  ServerState &of(const Server &s) { return *servers[s.global_index]; }
};
extern Runtime *runtime;

} // namespace penstock
