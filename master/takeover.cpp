// SPDX-License-Identifier: BSD-2-Clause
#include "master/takeover.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "master/manifest.h"
#include "master/messages.h"
#include "master/supervise.h"

namespace penstock {
namespace {

constexpr int answer_timeout_ms = 5'000;

socklen_t takeover_address(pid_t pid, sockaddr_un &un) {
  un = {};
  un.sun_family = AF_UNIX;
  int n = snprintf(un.sun_path + 1, sizeof un.sun_path - 1, "penstock-takeover-%d", pid);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(n));
}

ucred peer_of(int fd) {
  ucred peer{};
  socklen_t len = sizeof peer;
  getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len);
  return peer;
}

bool wait_for(int fd, short events) {
  pollfd p{fd, events, 0};
  return poll(&p, 1, answer_timeout_ms) == 1;
}

/// Who made the socket at `path` listen: the master that serves it.
pid_t owner_of(const std::string &path) {
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  if (path.size() >= sizeof un.sun_path) return 0;
  memcpy(un.sun_path, path.data(), path.size());
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  pid_t pid = connect(fd, reinterpret_cast<sockaddr *>(&un), sizeof un) == 0 ? peer_of(fd).pid : 0;
  close(fd);
  return pid;
}

/// False: `pid` does not answer.
bool fetch_from(pid_t pid, Listeners &into, u32 &next_id) {
  sockaddr_un un;
  socklen_t len = takeover_address(pid, un);
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  bool good = fd >= 0 && connect(fd, reinterpret_cast<sockaddr *>(&un), len) == 0;
  uid_t peer = good ? peer_of(fd).uid : 0;
  if (!good || (peer != 0 && peer != geteuid())) {
    if (fd >= 0) close(fd);
    return false;
  }
  Channel channel(fd);
  while (wait_for(fd, POLLIN)) {
    auto message = channel.receive();
    if (!message || message->type() == MessageType::TakeoverEnd) break;
    auto manifest = Manifest::from_text(message->payload);
    if (!manifest || manifest->groups.size() != 1 || message->fds.empty()) continue;
    const ManifestGroup &g = manifest->groups[0];
    into.add({.id = next_id++, .key = g.key, .fds = message->fds, .listening = static_cast<u32>(message->fds.size()), .shared = g.shared,
              .foreign = g.foreign, .stream = g.stream, .selected = g.selected});
  }
  return true;
}

} // namespace

void Takeover::fetch(const Options &options, Listeners &into) {
  std::vector<pid_t> pids = options.finish;
  pids.insert(pids.end(), options.terminate.begin(), options.terminate.end());
  u32 next_id = 0;
  if (!options.takeover.empty() && options.takeover != "/dev/null") {
    pid_t owner = owner_of(options.takeover);
    if (!owner || !fetch_from(owner, into, next_id))
      say(Severity::Warning, "No listening sockets to be had from the process behind " + options.takeover + ".");
    std::erase(pids, owner);
  }
  for (pid_t pid : pids) fetch_from(pid, into, next_id);
}

void Takeover::listen() {
  if (io_.fd >= 0) return;
  sockaddr_un un;
  socklen_t len = takeover_address(getpid(), un);
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr *>(&un), len) < 0 || ::listen(fd, 4) < 0) {
    if (fd >= 0) ::close(fd);
    return; // a service without it can still be replaced, by binding anew
  }
  io_.takeover = this;
  io_.fd = fd;
  io_.on_event = [](IoHandle &h, u32) { static_cast<Io &>(h).takeover->accept(); };
  supervisor_.loop().add_level(io_, io_readable);
}

void Takeover::accept() {
  int fd = accept4(io_.fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  Channel channel(fd);
  uid_t peer = peer_of(fd).uid;
  if (peer != 0 && peer != geteuid()) return;
  for (const SocketGroup &g : supervisor_.listeners().groups()) {
    if (!g.bind || g.inherited || g.fds.size() > max_message_fds) continue;
    Manifest one;
    one.groups.push_back({.id = g.id, .shared = g.shared, .foreign = g.foreign, .stream = g.stream, .selected = g.selected, .key = g.key});
    if (wait_for(fd, POLLOUT)) channel.send(MessageType::TakeoverGroup, one.to_text(), g.fds);
  }
  channel.send(MessageType::TakeoverEnd);
  taken_ = true;
}

void Takeover::close() {
  if (io_.fd >= 0) ::close(io_.fd);
  io_.fd = -1;
}

} // namespace penstock
