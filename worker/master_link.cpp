// SPDX-License-Identifier: BSD-2-Clause
#include "worker/master_link.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace penstock {

MasterLink::MasterLink(Loop &loop, MasterOrders &orders, int channel_fd, u32 generation)
    : loop_(loop), orders_(orders), channel_(channel_fd, generation) {
  sigset_t set;
  sigemptyset(&set);
  for (int s : {SIGUSR1, SIGTERM, SIGINT}) sigaddset(&set, s);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signal_io_.link = this;
  signal_io_.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  signal_io_.on_event = on_signal;
  if (signal_io_.fd >= 0) loop_.add_level(signal_io_, io_readable);
  if (!channel_.is_open()) return;
  channel_io_.link = this;
  channel_io_.fd = channel_.fd();
  channel_io_.on_event = on_channel;
  loop_.add_level(channel_io_, io_readable);
}

MasterLink::~MasterLink() {
  if (signal_io_.fd >= 0) ::close(signal_io_.fd);
}

void MasterLink::ready() {
  if (channel_.is_open()) channel_.send(MessageType::Ready);
  else orders_.commit();
}

void MasterLink::on_channel(IoHandle &self, u32) { static_cast<Io &>(self).link->read_messages(); }

void MasterLink::on_signal(IoHandle &self, u32) {
  MasterLink &link = *static_cast<Io &>(self).link;
  signalfd_siginfo info;
  while (read(self.fd, &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGUSR1) {
      link.channel_.send(MessageType::Stopping);
      link.soft_stop();
    } else {
      link.orders_.quit();
    }
  }
}

void MasterLink::read_messages() {
  while (auto message = channel_.receive()) obey(*message);
  if (!channel_.closed()) return;
  loop_.remove(channel_io_);
  channel_.close();
  soft_stop(); // nobody would replace or reload us
}

void MasterLink::soft_stop() {
  orders_.stop_accepting({});
  if (stopping_) return;
  stopping_ = true;
  orders_.drain();
}

void MasterLink::obey(Message &message) {
  switch (message.type()) {
    case MessageType::Commit:
      orders_.commit();
      channel_.send(MessageType::Polling);
      return;
    case MessageType::StopAccepting: orders_.stop_accepting(message.numbers()); return;
    case MessageType::Drain:
      if (!stopping_) {
        stopping_ = true;
        orders_.drain();
      }
      return;
    case MessageType::Quit: orders_.quit(); return;
    default: orders_.message(message);
  }
}

} // namespace penstock
