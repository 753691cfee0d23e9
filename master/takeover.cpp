// SPDX-License-Identifier: BSD-2-Clause
#include "master/takeover.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>

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

// ------------------------------------------------------------- over a runtime socket (worker/cli/expose.h)

/// The options that are part of a key (bind_sockets.h), read off the socket; "" for what we don't take over.
std::string key_of_socket(int fd, string_view interface) {
  sockaddr_storage ss;
  socklen_t size = sizeof ss;
  int kind = 0, v6only = 0;
  socklen_t int_size = sizeof kind;
  if (getsockname(fd, reinterpret_cast<sockaddr *>(&ss), &size) < 0 || getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &int_size) < 0) return {};
  Address address = Address::from_sockaddr(reinterpret_cast<sockaddr *>(&ss), size);
  if (!address.is_inet() || kind != SOCK_STREAM) return {};
  std::string key = "stream " + address.text();
  int_size = sizeof v6only;
  if (address.family == AF_INET6) {
    getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only, &int_size);
    key += v6only ? " v6only" : " v4v6";
  }
  if (!interface.empty()) (key += " interface ") += interface;
  return key;
}

void add_foreign(Listeners &into, u32 &next_id, int fd, string_view interface) {
  std::string key = key_of_socket(fd, interface);
  if (key.empty()) return void(close(fd));
  for (SocketGroup &g : into.groups()) {
    if (g.key != key) continue;
    g.fds.push_back(fd), g.listening++;
    return;
  }
  // The other program goes on listening there for a while: which index a socket has is not ours to say.
  into.add({.id = next_id++, .key = std::move(key), .fds = {fd}, .listening = 1, .foreign = true});
}

/// A part of the answer: bytes, and descriptors with them.
bool receive_part(int fd, std::string &bytes, std::vector<int> &fds) {
  char text[65536];
  alignas(cmsghdr) char space[CMSG_SPACE(max_message_fds * sizeof(int))];
  iovec part{text, sizeof text};
  msghdr message{};
  message.msg_iov = &part, message.msg_iovlen = 1;
  message.msg_control = space, message.msg_controllen = sizeof space;
  if (!wait_for(fd, POLLIN)) return false;
  ssize_t n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  if (n <= 0) return false;
  bytes.append(text, static_cast<size_t>(n));
  for (cmsghdr *c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int), had = fds.size();
    fds.resize(had + count);
    memcpy(fds.data() + had, CMSG_DATA(c), count * sizeof(int));
    int acknowledgement = 0;
    if (send(fd, &acknowledgement, sizeof acknowledgement, MSG_NOSIGNAL) < 0) return false;
  }
  return true;
}

/// From whatever program listens at `path` and knows `_getsocks`. False: it gave nothing.
bool fetch_over_runtime_socket(const std::string &path, Listeners &into, u32 &next_id) {
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  if (path.size() >= sizeof un.sun_path) return false;
  memcpy(un.sun_path, path.data(), path.size());
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  constexpr string_view question = "_getsocks\n";
  std::string bytes;
  std::vector<int> fds;
  i32 count = -1;
  bool good = connect(fd, reinterpret_cast<sockaddr *>(&un), sizeof un) == 0 && send(fd, question.data(), question.size(), MSG_NOSIGNAL) > 0;
  while (good && (count < 0 || fds.size() < static_cast<size_t>(count)) && receive_part(fd, bytes, fds))
    if (count < 0 && bytes.size() >= sizeof count) memcpy(&count, bytes.data(), sizeof count);
  close(fd);
  string_view records = bytes;
  records.remove_prefix(std::min(records.size(), sizeof count));
  for (int received : fds) {
    size_t space_name = records.empty() ? 0 : static_cast<u8>(records[0]), at = 1 + space_name;
    size_t length = at < records.size() ? static_cast<u8>(records[at]) : 0;
    string_view interface = at < records.size() ? records.substr(at + 1, length) : string_view();
    records.remove_prefix(std::min(records.size(), at + 1 + length + sizeof(int)));
    add_foreign(into, next_id, received, interface);
  }
  return !fds.empty();
}

} // namespace

void Takeover::fetch(const Options &options, Listeners &into) {
  std::vector<pid_t> pids = options.finish;
  pids.insert(pids.end(), options.terminate.begin(), options.terminate.end());
  u32 next_id = 0;
  if (!options.takeover.empty() && options.takeover != "/dev/null") {
    pid_t owner = owner_of(options.takeover);
    if (!owner || (!fetch_from(owner, into, next_id) && !fetch_over_runtime_socket(options.takeover, into, next_id)))
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
