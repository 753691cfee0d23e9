// SPDX-License-Identifier: BSD-2-Clause
// All listening sockets of the service, kept by the master for its whole life and handed over every
// re-execution. A group is one address: a socket per worker slot (SO_REUSEPORT) or one that all share.
//
// Invariants (design.md, section 2): a socket of a configured address is never closed while it may
// hold connections; a group only grows; which of its sockets get new connections is the selector's
// business; every socket has a worker that polls it (worker i also polls j where j mod N = i).
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "shared/model/config.h"
#include "worker/control.h"
#include "worker/worker.h"

namespace penstock {

struct SocketGroup {
  u32 id = 0;             // Bind::listener; unique over the service's life
  std::string key = {};   // bind_sockets.h
  std::vector<int> fds = {}; // index = index in the kernel's group
  u32 listening = 0;      // the first so many listen
  bool shared = false;    // one socket for all
  bool inherited = false; // fd@: not ours to close
  bool foreign = false;   // somebody else listens there, too: indexes are not ours to choose
  bool stream = true;
  bool selected = false;  // a selector is attached
  std::vector<u32> active = {}; // what it says
  // of this configuration
  const Bind *bind = nullptr;
  bool control = false;   // polled by control (stats sockets), not by workers
};

class Listeners {
 public:
  /// Claims or makes the groups that `config` needs for `workers` workers, and fills Bind::listener.
  /// Says what fails.
  bool prepare(Config &config, u32 workers, bool retry);
  /// Whether the addresses of `config` could be bound beside what we have; keeps nothing.
  bool try_out(const Config &config);
  /// All that are bound begin to listen, in the order of their index.
  bool listen_all();
  /// New connections go to these workers only; with none, to whom they go is left as it is.
  void select(std::span<const u32> active_workers);
  /// Those of worker `index` of `workers`, adopted ones included.
  std::vector<ListenerFd> of_worker(u32 index, u32 workers) const;
  std::vector<ListenerFd> of_control() const;
  /// What `expose-fd listeners` hands out; `kept` becomes richer by them.
  std::vector<ExposedListener> exposed(std::vector<ListenerFd> &kept) const;

  /// Sockets of slots that have no worker: whether there are any, and their end, the highest index first, so that no
  /// other changes its place. Only when new connections have not gone to them for long enough.
  bool has_surplus(u32 workers) const;
  void close_surplus(u32 workers);

  /// Groups that no bind line claims any more: drop new connections, and later close them.
  std::vector<u32> unclaimed() const;
  void refuse_new(std::span<const u32> ids);
  void close_groups(std::span<const u32> ids);
  /// The service ends: all of them; files of UNIX sockets go, too, unless another process has them now.
  void close_all(bool unlink_paths);
  std::vector<u32> all_ids() const;

  std::deque<SocketGroup> &groups() { return groups_; }
  void add(SocketGroup group);
  /// What a child must not keep: all but `mine`.
  void close_others(const std::vector<ListenerFd> &mine);
  bool empty() const { return groups_.empty(); }

 private:
  SocketGroup *claim(const std::string &key);
  bool prepare_bind(Bind &bind, const Global &global, u32 workers, bool control, bool retry);
  bool grow(SocketGroup &group, const Bind &bind, const Global &global, u32 wanted, bool retry);

  std::deque<SocketGroup> groups_;
  u32 next_id_ = 0;
};

} // namespace penstock
