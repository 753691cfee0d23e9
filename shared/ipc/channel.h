// SPDX-License-Identifier: BSD-2-Clause
// One end of a SOCK_SEQPACKET pair between the master and a child. Owned by whoever holds it; never
// blocks: a peer that does not read loses the message and send() says so.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/basic.h"
#include "shared/ipc/message.h"

namespace penstock {

struct Message {
  MessageHeader header;
  std::string payload;
  std::vector<int> fds; // the receiver's to close

  MessageType type() const { return header.type; }
  /// The payload as numbers; a partial one at the end is dropped.
  std::vector<u32> numbers() const;
};

class Channel {
 public:
  Channel() = default;
  explicit Channel(int fd, u32 generation = 0) : fd_(fd), generation_(generation) {}
  ~Channel() { close(); }
  Channel(Channel &&other) noexcept
      : fd_(std::exchange(other.fd_, -1)), generation_(other.generation_), sequence_(other.sequence_), closed_(other.closed_) {}
  Channel &operator=(Channel &&other) noexcept;

  /// Two connected ends, close-on-exec and non-blocking; both -1 if the system has no more descriptors.
  static std::pair<Channel, Channel> pair(u32 generation);

  int fd() const { return fd_; }
  /// Gives the descriptor away.
  int release() { return std::exchange(fd_, -1); }
  void close();
  bool is_open() const { return fd_ >= 0; }

  /// False when the peer is gone or its queue is full.
  bool send(MessageType type, string_view payload = {}, std::span<const int> fds = {});
  bool send_numbers(MessageType type, std::span<const u32> numbers);
  /// The next message, or nothing: then closed() tells whether the peer is gone.
  std::optional<Message> receive();
  bool closed() const { return closed_; }

 private:
  int fd_ = -1;
  u32 generation_ = 0;
  u32 sequence_ = 0;
  bool closed_ = false;
};

} // namespace penstock
