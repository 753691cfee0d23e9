// SPDX-License-Identifier: BSD-2-Clause
#include "worker/cli/cli_server.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include <list>

#include "worker/cli/interview.h"

namespace penstock {

namespace {

/// A listening socket. At `stats maxconn` conversations it is left alone until one has ended.
struct CliListener : IoHandle {
  Control *control = nullptr;
  const Bind *bind = nullptr;
  struct Pause : Timer { CliListener *listener = nullptr; } pause;
};
std::list<CliListener> listeners;

constexpr Millis full_pause = 20; // at the limit of conversations, or without descriptors

void rest(CliListener &l) {
  l.control->loop.change(l, 0, false);
  l.control->loop.set_timer(l.pause, l.control->loop.now() + full_pause);
}

void accept_clients(IoHandle &self, u32) {
  CliListener &l = static_cast<CliListener &>(self);
  while (true) {
    if (l.control->conversations >= l.control->config->global.stats_maxconn) return rest(l);
    int fd = accept4(l.fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      new CliSession(*l.control, fd, static_cast<CliLevel>(l.bind->level), l.bind);
      continue;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) return rest(l);
    if (errno != EINTR && errno != ECONNABORTED) return;
  }
}

const Bind *bind_of(const Config &config, u32 listener) {
  for (auto &bind : config.global.stats_sockets)
    if (bind->listener == listener) return bind.get();
  return nullptr;
}

void listen_now(Control &control) {
  for (const ListenerFd &given : control.start.listeners) {
    const Bind *bind = bind_of(*control.config, given.listener);
    if (!bind) continue;
    CliListener &l = listeners.emplace_back();
    l.fd = given.fd;
    l.on_event = accept_clients;
    l.control = &control;
    l.bind = bind;
    l.pause.listener = &l;
    l.pause.on_expire = [](Timer &t) {
      CliListener &resting = *static_cast<CliListener::Pause &>(t).listener;
      resting.control->loop.change(resting, io_readable, false);
    };
    control.loop.add_level(l, io_readable);
  }
}

void stop_listening(Control &control) {
  for (CliListener &l : listeners) {
    control.loop.cancel(l.pause);
    control.loop.remove(l);
    close(l.fd);
  }
  listeners.clear();
}

void take_connection(Control &control, int fd, u32 level) {
  new CliSession(control, fd, level > 2 ? CliLevel::Admin : static_cast<CliLevel>(level));
}

void worker_died(Control &, u32 slot) { Interview::worker_died(slot); }
void take_answer(Control &, const Message &message) { Interview::take(message); }

} // namespace

ControlHook cli_hook() {
  return {.name = "runtime socket",
          .commit = listen_now,
          .stop_accepting = stop_listening,
          .cli_connection = take_connection,
          .child_died = worker_died,
          .worker_answer = take_answer};
}

} // namespace penstock
