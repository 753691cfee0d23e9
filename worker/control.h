// SPDX-License-Identifier: BSD-2-Clause
// The control process: everything of which a host needs exactly one. A loop, the link to the master
// and a list of hooks (control_hooks.cpp) through which its parts join: the runtime socket, health
// checks, … Unprivileged; it never touches traffic. The newest generation's control leads; an older
// one has stopped its singletons and only ends its conversations.
#pragma once

#include <span>
#include <vector>

#include "shared/model/config.h"
#include "shared/shm/board.h"
#include "shared/shm/server_state.h"
#include "worker/master_link.h"
#include "worker/worker.h"

namespace penstock {

/// What the master leaves behind the fork.
/// A listening socket that `expose-fd listeners` hands out.
struct ExposedListener {
  int fd;
  std::string interface;
};

struct ControlStart {
  const Config *config = nullptr;
  Service *service = nullptr;
  Board *board = nullptr;
  u32 generation = 0;
  u32 worker_count = 1;
  std::vector<ListenerFd> listeners; // of the `stats socket` lines
  std::vector<ExposedListener> exposed; // all of the service, where one of those lines asks for it
  int channel_fd = -1;
  i32 log_pid = 0; // the pid that log lines carry; 0: own
  i32 master_pid = 0;
  string_view startup_log; // what was said while the configuration was read
};

/// Serves until told to stop; returns the process' exit status.
int control_main(const ControlStart &start);

/// The control of this process, as its hooks see it.
struct Control : Pinned {
  explicit Control(const ControlStart &s) : start(s), config(s.config), service(s.service) {}

  Loop loop;
  const ControlStart &start;
  const Config *config;
  Service *service;
  MasterLink *link = nullptr;
  ServerStates states{*service, *config}; // every change of a server's state goes through this one
  bool draining = false;
  u32 conversations = 0; // open ones; while draining the process lives until there is none

  /// Whether this generation does what only one may do. Ask before each such act: it can be lost.
  bool leads() const { return start.board == nullptr || start.board->leader.load(std::memory_order_acquire) == start.generation; }
  /// To be called when `conversations` went down.
  void conversation_ended();
};
/// Null in the other processes.
Control *this_control();

/// A part of the control process. Null: nothing to do then.
struct ControlHook {
  string_view name;
  void (*start)(Control &) = nullptr;            // once, before Ready
  void (*commit)(Control &) = nullptr;           // poll what `start.listeners` holds
  void (*lead)(Control &) = nullptr;             // from now on this control leads
  void (*stop_leading)(Control &) = nullptr;
  void (*stop_accepting)(Control &) = nullptr;   // close the listeners
  void (*cli_connection)(Control &, int fd, u32 level) = nullptr; // from the master socket; the fd is the hook's
  void (*child_died)(Control &, u32 slot) = nullptr;
  void (*worker_answer)(Control &, const Message &) = nullptr; // worker/cli/question.h
  void (*stop)(Control &) = nullptr;             // the loop has ended: write down what must be
};
/// The list (control_hooks.cpp).
std::span<const ControlHook> control_hooks();

} // namespace penstock
