// SPDX-License-Identifier: BSD-2-Clause
#include "worker/cli/expose.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "worker/master_link.h"

namespace penstock {

namespace {

constexpr size_t batch = 252; // descriptors of one message
constexpr Millis patience = 5'000;

struct HandOut : IoHandle {
  struct Clock : Timer { HandOut *run = nullptr; } clock;
  struct Grave : Deferred { HandOut *owner = nullptr; } grave;
  Control *control = nullptr;
  size_t next = 0;
  bool counted = false, over = false;

  void go_on();
  void end();
  bool send_batch();
};

void HandOut::end() {
  if (over) return;
  over = true;
  control->loop.cancel(clock);
  control->loop.remove(*this);
  close(fd);
  control->conversations--;
  control->loop.bury(grave);
}

/// A record: the namespace's name and the interface's, each behind its length, and the options, of which we tell none.
void add_record(std::string &out, const ExposedListener &l) {
  out += '\0';
  out += static_cast<char>(l.interface.size());
  out += l.interface;
  out.append(sizeof(int), '\0');
}

bool HandOut::send_batch() {
  const auto &all = control->start.exposed;
  size_t n = std::min(batch, all.size() - next);
  std::string records;
  alignas(cmsghdr) char space[CMSG_SPACE(batch * sizeof(int))] = {};
  int fds[batch];
  for (size_t i = 0; i < n; i++) {
    fds[i] = all[next + i].fd;
    add_record(records, all[next + i]);
  }
  iovec bytes{records.data(), records.size()};
  msghdr message{};
  message.msg_iov = &bytes, message.msg_iovlen = 1;
  message.msg_control = space, message.msg_controllen = CMSG_SPACE(n * sizeof(int));
  cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(n * sizeof(int));
  std::memcpy(CMSG_DATA(header), fds, n * sizeof(int));
  if (sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) != static_cast<ssize_t>(records.size())) return false;
  next += n;
  if (next == all.size() && control->link != nullptr) control->link->channel().send(MessageType::ListenersCopied);
  return true;
}

/// The count first; then a batch, and the next one when that is acknowledged.
void HandOut::go_on() {
  if (!counted) {
    int count = static_cast<int>(control->start.exposed.size());
    if (send(fd, &count, sizeof count, MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof count) return end();
    counted = true;
  } else {
    char acknowledgement[64];
    ssize_t got = recv(fd, acknowledgement, sizeof acknowledgement, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return end();
  }
  if (next == control->start.exposed.size() || !send_batch()) end();
}

} // namespace

void hand_out_listeners(Control &control, int fd) {
  auto *run = new HandOut;
  run->control = &control;
  run->fd = fd;
  run->on_event = [](IoHandle &h, u32) { static_cast<HandOut &>(h).go_on(); };
  run->clock.run = run->grave.owner = run;
  run->clock.on_expire = [](Timer &t) { static_cast<HandOut::Clock &>(t).run->end(); };
  run->grave.run = [](Deferred &d) { delete static_cast<HandOut::Grave &>(d).owner; };
  control.conversations++;
  control.loop.add_level(*run, io_readable);
  control.loop.set_timer(run->clock, control.loop.now() + patience);
  run->go_on();
}

} // namespace penstock
