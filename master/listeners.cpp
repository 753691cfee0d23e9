// SPDX-License-Identifier: BSD-2-Clause
#include "master/listeners.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "master/bind_sockets.h"
#include "master/messages.h"

namespace penstock {
namespace {

/// While an older process still ends, its addresses may be taken for a moment.
constexpr int bind_retries = 100;
constexpr timespec retry_pause = {0, 20'000'000};

/// A classic-BPF program that answers with one of `active` at random: the index of a socket in its group.
std::vector<sock_filter> selector_program(std::span<const u32> active) {
  std::vector<sock_filter> p;
  u32 count = static_cast<u32>(active.size());
  p.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<u32>(SKF_AD_OFF + SKF_AD_RANDOM)));
  p.push_back(BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, count));
  for (u32 i = 0; i + 1 < count; i++) {
    p.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, i, 0, 1));
    p.push_back(BPF_STMT(BPF_RET | BPF_K, active[i]));
  }
  p.push_back(BPF_STMT(BPF_RET | BPF_K, active[count - 1]));
  return p;
}

bool attach_selector(int fd, std::span<const u32> active) {
  auto program = selector_program(active);
  sock_fprog prog{static_cast<unsigned short>(program.size()), program.data()};
  return setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &prog, sizeof prog) == 0;
}

/// Packets that open a connection are dropped; those of connections under way pass.
void drop_new_connections(int fd) {
  constexpr u32 tcp_flags_at = 13, syn = 0x02;
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, tcp_flags_at),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, syn, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0),
      BPF_STMT(BPF_RET | BPF_K, ~0u),
  };
  sock_fprog prog{std::size(program), program};
  setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof prog);
}

/// An earlier retirement may be revoked by a configuration that has the address again.
void accept_new_connections(int fd) {
  int none = 0;
  setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof none);
}

/// Removes the file of a UNIX socket, unless another process has put its own there: whoever answers
/// a connection says (SO_PEERCRED) who made the socket listen.
void unlink_path(const SocketGroup &group) {
  constexpr string_view prefix = "stream unix@";
  if (group.inherited || !group.key.starts_with(prefix)) return;
  const char *path = group.key.c_str() + prefix.size();
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  strncpy(un.sun_path, path, sizeof un.sun_path - 1);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return;
  ucred peer{};
  socklen_t len = sizeof peer;
  bool ours = connect(fd, reinterpret_cast<sockaddr *>(&un), sizeof un) == 0 &&
              getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.pid == getpid();
  close(fd);
  if (ours) unlink(path);
}

} // namespace

void Listeners::add(SocketGroup group) {
  next_id_ = std::max(next_id_, group.id + 1);
  groups_.push_back(std::move(group));
}

SocketGroup *Listeners::claim(const std::string &key) {
  for (SocketGroup &g : groups_)
    if (!g.bind && g.key == key) return &g;
  return nullptr;
}

bool Listeners::prepare(Config &config, u32 workers, bool retry) {
  for (SocketGroup &g : groups_) g.bind = nullptr;
  bool good = true;
  for (auto &proxy : config.proxies) {
    if (proxy->disabled) continue;
    for (auto &bind : proxy->binds) good &= prepare_bind(*bind, config.global, workers, false, retry);
  }
  for (auto &bind : config.global.stats_sockets) good &= prepare_bind(*bind, config.global, workers, true, retry);
  return good;
}

bool Listeners::try_out(const Config &config) {
  bool good = true;
  for (const auto &proxy : config.proxies)
    for (const auto &bind : proxy->binds) {
      if (proxy->disabled || !socket_per_worker(*bind)) continue; // others can't be bound twice
      std::string error;
      int fd = make_socket(*bind, config.global, error);
      if (fd >= 0) close(fd);
      else say(Severity::Alert, bind_message_start(*bind) + error + " for [" + bind->address.text() + "].");
      good &= fd >= 0;
    }
  return good;
}

bool Listeners::prepare_bind(Bind &bind, const Global &global, u32 workers, bool control, bool retry) {
  std::string key = socket_key(bind, global);
  SocketGroup *group = claim(key);
  if (!group) {
    SocketGroup fresh;
    fresh.id = next_id_++;
    fresh.key = std::move(key);
    fresh.inherited = bind.inherited_fd >= 0;
    fresh.shared = control || !socket_per_worker(bind);
    fresh.stream = bind.stream;
    fresh.foreign = !fresh.shared && address_taken(bind);
    groups_.push_back(std::move(fresh));
    group = &groups_.back();
  }
  group->bind = &bind;
  group->control = control;
  bind.listener = group->id;
  if (!grow(*group, bind, global, group->shared ? 1 : workers, retry)) return false;
  for (int fd : group->fds) {
    apply_options(bind, global, fd);
    if (group->stream && !group->shared) accept_new_connections(fd);
  }
  return true;
}

bool Listeners::grow(SocketGroup &group, const Bind &bind, const Global &global, u32 wanted, bool retry) {
  std::string error;
  for (int tries = 0; group.fds.size() < wanted;) {
    int fd = group.inherited ? adopt_socket(bind, error) : make_socket(bind, global, error);
    if (fd >= 0) {
      group.fds.push_back(fd);
      continue;
    }
    if (retry && errno == EADDRINUSE && tries++ < bind_retries) {
      nanosleep(&retry_pause, nullptr);
      continue;
    }
    std::string where = bind.inherited_fd >= 0 ? group.key : bind.address.text();
    say(Severity::Alert, bind_message_start(bind) + error + " for [" + where + "].");
    return false;
  }
  return true;
}

bool Listeners::listen_all() {
  bool good = true;
  for (SocketGroup &g : groups_) {
    if (!g.bind) continue;
    if (!g.stream) {
      g.listening = static_cast<u32>(g.fds.size());
      continue;
    }
    // Listening again on one that listens already applies a changed backlog.
    for (u32 i = 0; i < g.fds.size(); i++)
      if (listen(g.fds[i], backlog_of(*g.bind)) < 0) {
        say(Severity::Alert, bind_message_start(*g.bind) + "cannot listen to socket (" + strerror(errno) + ") for [" + g.key + "].");
        good = false;
      }
    g.listening = static_cast<u32>(g.fds.size());
  }
  return good;
}

void Listeners::select(std::span<const u32> active_workers) {
  if (active_workers.empty()) return;
  std::vector<u32> active(active_workers.begin(), active_workers.end());
  std::ranges::sort(active);
  for (SocketGroup &g : groups_) {
    if (!g.bind || g.shared || g.foreign || g.fds.empty()) continue;
    // All of them: the kernel's own choice by hash is even and costs nothing.
    if (active.size() == g.fds.size()) {
      int none = 0;
      if (g.selected) setsockopt(g.fds[0], SOL_SOCKET, SO_DETACH_REUSEPORT_BPF, &none, sizeof none);
      g.selected = false;
      continue;
    }
    if (g.selected && g.active == active) continue;
    g.selected = attach_selector(g.fds[0], active);
    g.active = active;
  }
}

std::vector<ListenerFd> Listeners::of_worker(u32 index, u32 workers) const {
  std::vector<ListenerFd> out;
  for (const SocketGroup &g : groups_) {
    if (!g.bind || g.control) continue;
    if (g.shared) {
      out.push_back({g.id, g.fds[0], workers > 1});
      continue;
    }
    for (u32 j = index; j < g.fds.size(); j += workers) out.push_back({g.id, g.fds[j], false, j >= workers});
  }
  return out;
}

std::vector<ListenerFd> Listeners::of_control() const {
  std::vector<ListenerFd> out;
  for (const SocketGroup &g : groups_)
    if (g.bind && g.control) out.push_back({g.id, g.fds[0], false});
  return out;
}

std::vector<ExposedListener> Listeners::exposed(std::vector<ListenerFd> &kept) const {
  std::vector<ExposedListener> out;
  for (const SocketGroup &g : groups_) {
    if (!g.bind || g.inherited || !g.stream) continue;
    // The first of a group: others know of no groups, and would leave the rest to wither.
    out.push_back({g.fds[0], g.bind->interface.substr(0, 255)});
    if (!g.control) kept.push_back({g.id, g.fds[0], false});
  }
  return out;
}

bool Listeners::has_surplus(u32 workers) const {
  return std::ranges::any_of(groups_, [&](const SocketGroup &g) { return g.bind && !g.shared && !g.foreign && g.fds.size() > workers; });
}

void Listeners::close_surplus(u32 workers) {
  for (SocketGroup &g : groups_) {
    if (!g.bind || g.shared || g.foreign) continue;
    while (g.fds.size() > workers) {
      close(g.fds.back());
      g.fds.pop_back();
    }
    g.listening = std::min(g.listening, static_cast<u32>(g.fds.size()));
  }
}

std::vector<u32> Listeners::unclaimed() const {
  std::vector<u32> out;
  for (const SocketGroup &g : groups_)
    if (!g.bind) out.push_back(g.id);
  return out;
}

std::vector<u32> Listeners::all_ids() const {
  std::vector<u32> out;
  for (const SocketGroup &g : groups_) out.push_back(g.id);
  return out;
}

void Listeners::refuse_new(std::span<const u32> ids) {
  for (SocketGroup &g : groups_) {
    if (std::ranges::find(ids, g.id) == ids.end() || g.shared || !g.stream) continue;
    for (int fd : g.fds) drop_new_connections(fd);
  }
}

void Listeners::close_groups(std::span<const u32> ids) {
  for (SocketGroup &g : groups_) {
    if (std::ranges::find(ids, g.id) == ids.end() || g.bind) continue;
    unlink_path(g);
    if (!g.inherited) // fd@ may be asked for again by the next configuration
      for (int fd : g.fds) close(fd);
    g.fds.clear();
  }
  std::erase_if(groups_, [](const SocketGroup &g) { return g.fds.empty(); });
}

void Listeners::close_all(bool unlink_paths) {
  for (SocketGroup &g : groups_) {
    if (unlink_paths) unlink_path(g);
    while (g.fds.size() > 1) {
      close(g.fds.back());
      g.fds.pop_back();
    }
    if (g.fds.empty()) continue;
    // The socket may live on in another program, and its group with it.
    int none = 0;
    if (g.selected) setsockopt(g.fds[0], SOL_SOCKET, SO_DETACH_REUSEPORT_BPF, &none, sizeof none);
    close(g.fds[0]);
  }
  groups_.clear();
}

void Listeners::close_others(const std::vector<ListenerFd> &mine) {
  std::vector<bool> keep;
  for (const ListenerFd &l : mine) {
    if (keep.size() <= static_cast<size_t>(l.fd)) keep.resize(static_cast<size_t>(l.fd) + 1);
    keep[static_cast<size_t>(l.fd)] = true;
  }
  for (SocketGroup &g : groups_)
    for (int fd : g.fds)
      if (!g.inherited && !(static_cast<size_t>(fd) < keep.size() && keep[static_cast<size_t>(fd)])) close(fd);
}

} // namespace penstock
