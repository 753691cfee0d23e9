// SPDX-License-Identifier: BSD-2-Clause
#include "worker/control.h"

#include <unistd.h>

#include "shared/base/leaks.h"
#include "worker/log/sinks.h"
#include "worker/log/state_dump.h"

namespace penstock {
namespace {

Control *current = nullptr;

/// How long a control that was told to end waits for its conversations.
constexpr Millis patience = 30'000;

class Orders : public MasterOrders {
 public:
  explicit Orders(Control &control) : control_(control) {
    deadline_.orders = leave_.orders = this;
    leave_.run = [](Deferred &d) { static_cast<Leave &>(d).orders->each(&ControlHook::stop_leading); };
    deadline_.on_expire = [](Timer &t) { static_cast<Deadline &>(t).orders->control_.loop.stop(); };
  }

  void commit() override {
    each(&ControlHook::commit);
    if (control_.start.board) control_.start.board->leader.store(control_.start.generation, std::memory_order_release);
    leading_ = true;
    each(&ControlHook::lead);
  }
  void stop_accepting(std::span<const u32>) override { each(&ControlHook::stop_accepting); }
  void drain() override {
    stop_leading();
    each(&ControlHook::stop_accepting);
    control_.draining = true;
    control_.loop.set_timer(deadline_, control_.loop.now() + patience);
    control_.conversation_ended();
  }
  void quit() override {
    stop_leading();
    control_.loop.stop();
  }
  void message(Message &message) override {
    auto numbers = message.numbers();
    u32 first = numbers.empty() ? 0 : numbers[0];
    if (message.type() == MessageType::ChildDied)
      for (const ControlHook &hook : control_hooks())
        if (hook.child_died) hook.child_died(control_, first);
    if (message.type() == MessageType::WorkerAnswer)
      for (const ControlHook &hook : control_hooks())
        if (hook.worker_answer) hook.worker_answer(control_, message);
    if (message.type() == MessageType::DumpStates) dump_states(control_);
    for (int fd : message.fds) take_connection(fd, first);
    message.fds.clear();
  }
  /// After the events of this turn: some of them may be of what the hooks take down.
  void stop_leading() {
    if (leading_) control_.loop.defer(leave_);
    leading_ = false;
  }

 private:
  void each(void (*ControlHook::*what)(Control &)) {
    for (const ControlHook &hook : control_hooks())
      if (hook.*what) (hook.*what)(control_);
  }
  void take_connection(int fd, u32 level) {
    for (const ControlHook &hook : control_hooks())
      if (hook.cli_connection) return hook.cli_connection(control_, fd, level);
    close(fd);
  }

  struct Deadline : Timer {
    Orders *orders = nullptr;
  };
  struct Leave : Deferred {
    Orders *orders = nullptr;
  } leave_;
  Control &control_;
  Deadline deadline_;
  bool leading_ = false;
};

} // namespace

Control *this_control() { return current; }

void Control::conversation_ended() {
  if (draining && conversations == 0) loop.stop();
}

int control_main(const ControlStart &start) {
  set_log_pid(start.log_pid);
  Control control(start);
  current = &control;
  Orders orders(control);
  MasterLink link(control.loop, orders, start.channel_fd, start.generation);
  control.link = &link;
  for (const ControlHook &hook : control_hooks())
    if (hook.start) hook.start(control);
  link.ready();
  control.loop.run();
  for (const ControlHook &hook : control_hooks())
    if (hook.stop) hook.stop(control);
  tell_leaks();
  current = nullptr;
  return 0;
}

} // namespace penstock
