// SPDX-License-Identifier: BSD-2-Clause
// See idle_pool.h.
#include "worker/net/idle_pool.h"

#include <algorithm>
#include <utility>

#include "worker/runtime.h"
#include "worker/stream/carrier.h"
#include "worker/stream/stream.h"

namespace penstock {

ServerConnection::ServerConnection(ServerState &s) : server(s) {
  runtime->server_connections++;
  run = [](Deferred &d) { delete static_cast<ServerConnection *>(&d); };
  connection.set_owner(on_event, this);
}

void ServerConnection::on_event(Connection &c, void *owner) {
  auto &self = *static_cast<ServerConnection *>(owner);
  if (self.user != nullptr) return self.user->wake();
  // Idle: whatever a server says now, it is no answer to a request of ours. A bare "writable" is none.
  if (c.may_fill() || c.hung_up()) self.end();
}

void ServerConnection::end(bool with_reset) {
  if (pooled) server.idle.remove(*this);
  if (keeper != nullptr) keeper->forget(*this);
  keeper = nullptr, user = nullptr;
  with_reset ? connection.reset() : connection.close();
  if (queued) return;
  runtime->server_connections--;
  (*server.counters).used_conns--;
  runtime->loop.bury(*this);
}

IdlePool::IdlePool() {
  purge_.pool = this;
  purge_.on_expire = on_purge;
}

static bool trusted(const ServerConnection &c, HttpReuse reuse, bool first) {
  if (reuse == HttpReuse::Never) return false;
  if (!first || reuse == HttpReuse::Always) return true;
  return reuse == HttpReuse::Aggressive && c.in_safe_list;
}

/// Those that were reused before count apart: such a reuse is known to be safe.
static Counter &idle_counter(ServerConnection &c) { return c.in_safe_list ? c.server.counters->safe_conns : c.server.counters->idle_conns; }

ServerConnection *IdlePool::take(HttpReuse reuse, bool first, u64 key) {
  for (ServerConnection *c = newest_; c != nullptr; c = c->next) {
    if (c->key != key || !trusted(*c, reuse, first)) continue;
    remove(*c);
    c->in_safe_list = true;
    return c;
  }
  return nullptr;
}

bool IdlePool::give(ServerConnection &c) {
  const ServerOptions &options = *c.server.server->options;
  if (options.pool_max_conn >= 0 && count_ >= static_cast<u32>(options.pool_max_conn)) return false;
  if (options.max_reuse != 0 && c.uses > options.max_reuse) return false;
  if (runtime->descriptors_beyond(runtime->config->global.tune.pool_low_fd_ratio)) return false;
  u32 busy = static_cast<u32>((*c.server.counters).used_conns.get()); // this one included
  most_busy_ = std::max(most_busy_, busy);
  if (busy + count_ > std::max({most_busy_, most_busy_before_, options.pool_low_conn})) return false;
  c.connection.release_buffers();
  c.pooled = true;
  c.prev = nullptr, c.next = newest_;
  (newest_ != nullptr ? newest_->prev : oldest_) = &c;
  newest_ = &c;
  count_++;
  idle_counter(c)++;
  (*c.server.counters).used_conns--;
  if (purge_.deadline == never && options.pool_purge_delay > 0) runtime->loop.set_timer(purge_, runtime->loop.now() + options.pool_purge_delay);
  return true;
}

void IdlePool::remove(ServerConnection &c) {
  if (!c.pooled) return;
  c.pooled = false;
  (c.prev != nullptr ? c.prev->next : newest_) = c.next;
  (c.next != nullptr ? c.next->prev : oldest_) = c.prev;
  c.prev = c.next = nullptr;
  count_--;
  least_ = std::min(least_, count_);
  idle_counter(c)--;
  (*c.server.counters).used_conns++;
}

bool IdlePool::close_oldest() {
  if (oldest_ == nullptr) return false;
  oldest_->end();
  return true;
}

void IdlePool::close_all() {
  while (newest_ != nullptr) newest_->end();
}

void IdlePool::on_purge(Timer &t) {
  IdlePool &pool = *static_cast<PurgeTimer &>(t).pool;
  if (pool.count_ == 0) return;
  const ServerOptions &options = *pool.oldest_->server.server->options;
  u32 surplus = (pool.least_ + 1) / 2;
  while (surplus-- > 0 && pool.count_ > options.pool_low_conn) pool.oldest_->end();
  pool.least_ = pool.count_;
  pool.most_busy_before_ = std::exchange(pool.most_busy_, 0u);
  if (pool.count_ > 0) runtime->loop.set_timer(t, runtime->loop.now() + options.pool_purge_delay);
}

} // namespace penstock
