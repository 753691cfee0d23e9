// SPDX-License-Identifier: BSD-2-Clause
#include "shared/ipc/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

namespace penstock {
namespace {

/// Room for the descriptors of one message, aligned as the kernel wants it.
union ControlRoom {
  char bytes[CMSG_SPACE(max_message_fds * sizeof(int))];
  cmsghdr align;
};

std::vector<int> descriptors_of(msghdr &msg) {
  std::vector<int> fds;
  for (cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    size_t before = fds.size();
    fds.resize(before + count);
    memcpy(fds.data() + before, CMSG_DATA(c), count * sizeof(int));
  }
  return fds;
}

} // namespace

std::vector<u32> Message::numbers() const {
  std::vector<u32> out(payload.size() / sizeof(u32));
  if (!out.empty()) memcpy(out.data(), payload.data(), out.size() * sizeof(u32));
  return out;
}

Channel &Channel::operator=(Channel &&other) noexcept {
  if (this == &other) return *this;
  close();
  fd_ = std::exchange(other.fd_, -1);
  generation_ = other.generation_;
  sequence_ = other.sequence_;
  closed_ = other.closed_;
  return *this;
}

std::pair<Channel, Channel> Channel::pair(u32 generation) {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0) return {};
  return {Channel(ends[0], generation), Channel(ends[1], generation)};
}

void Channel::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

bool Channel::send(MessageType type, string_view payload, std::span<const int> fds) {
  if (fd_ < 0 || payload.size() > max_payload || fds.size() > max_message_fds) return false;
  MessageHeader header{static_cast<u32>(payload.size()), type, message_version, generation_, ++sequence_};
  iovec parts[2] = {{&header, sizeof header}, {const_cast<char *>(payload.data()), payload.size()}};
  msghdr msg{};
  msg.msg_iov = parts;
  msg.msg_iovlen = payload.empty() ? 1 : 2;
  ControlRoom room;
  if (!fds.empty()) {
    memset(&room, 0, sizeof room);
    msg.msg_control = room.bytes;
    msg.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr *c = CMSG_FIRSTHDR(&msg);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(fds.size_bytes());
    memcpy(CMSG_DATA(c), fds.data(), fds.size_bytes());
  }
  ssize_t sent;
  do sent = sendmsg(fd_, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  if (sent < 0 && errno != EAGAIN) closed_ = true;
  return sent >= 0;
}

bool Channel::send_numbers(MessageType type, std::span<const u32> numbers) {
  return send(type, {reinterpret_cast<const char *>(numbers.data()), numbers.size_bytes()});
}

std::optional<Message> Channel::receive() {
  if (fd_ < 0) return {};
  Message message;
  message.payload.resize(max_payload);
  iovec parts[2] = {{&message.header, sizeof message.header}, {message.payload.data(), message.payload.size()}};
  ControlRoom room;
  msghdr msg{};
  msg.msg_iov = parts;
  msg.msg_iovlen = 2;
  msg.msg_control = room.bytes;
  msg.msg_controllen = sizeof room.bytes;
  ssize_t got;
  do got = recvmsg(fd_, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return {};
  if (got <= 0) {
    closed_ = true;
    return {};
  }
  message.fds = descriptors_of(msg);
  bool whole = static_cast<size_t>(got) == sizeof message.header + message.header.length && message.header.version == message_version;
  if (!whole || message.header.type >= MessageType::count_) message.header.type = MessageType::None;
  message.payload.resize(static_cast<size_t>(got) > sizeof message.header ? static_cast<size_t>(got) - sizeof message.header : 0);
  return message;
}

} // namespace penstock
