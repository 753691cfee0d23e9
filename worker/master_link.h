// SPDX-License-Identifier: BSD-2-Clause
// A child's side of its conversation with the master (shared/ipc/message.h), on the child's loop:
// messages, the end of the channel (the master died: stop softly) and the signals that mean the same.
// Used by the workers and by control.
#pragma once

#include <span>

#include "shared/ipc/channel.h"
#include "worker/event/loop.h"

namespace penstock {

/// What the process does about it. All are called from the loop.
class MasterOrders {
 public:
  virtual ~MasterOrders() = default;
  /// Poll the listening sockets; when it returns, the master hears that they are polled.
  virtual void commit() = 0;
  /// Poll these no more and close them; empty: all.
  virtual void stop_accepting(std::span<const u32> listeners) = 0;
  /// Soft stop: finish what there is, then end the loop.
  virtual void drain() = 0;
  /// End now.
  virtual void quit() = 0;
  /// Any other message. Descriptors are the receiver's.
  virtual void message(Message &) {}
};

class MasterLink : Pinned {
 public:
  MasterLink(Loop &loop, MasterOrders &orders, int channel_fd, u32 generation);
  ~MasterLink();

  /// Everything is set up: tell the master (without one: commit at once).
  void ready();
  Channel &channel() { return channel_; }

 private:
  static void on_channel(IoHandle &self, u32 events);
  static void on_signal(IoHandle &self, u32 events);
  void read_messages();
  void obey(Message &message);
  void soft_stop();

  struct Io : IoHandle {
    MasterLink *link = nullptr;
  };
  Loop &loop_;
  MasterOrders &orders_;
  Channel channel_;
  Io channel_io_, signal_io_;
  bool stopping_ = false;
};

} // namespace penstock
