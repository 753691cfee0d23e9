// SPDX-License-Identifier: BSD-2-Clause
// A worker process: its start, as the master gives it, and the one Worker of the process, through which
// its parts find the loop, the configuration and shared memory.
#pragma once

#include <vector>

#include "shared/model/config.h"
#include "worker/event/loop.h"

namespace penstock {

class Service; // shared/shm/service.h
class Stream;

/// A listening socket that this worker polls: its own of each group, and those of removed slots that
/// it adopted. `listener` is Bind::listener.
struct ListenerFd {
  u32 listener;
  int fd;
  bool shared = false;  // other workers poll the same socket (UNIX sockets, fd@)
  bool adopted = false; // of a slot that has no worker any more
};

/// What the master leaves behind the fork.
struct WorkerStart {
  const Config *config = nullptr;
  Service *service = nullptr;
  u32 slot = 0;         // in shared memory: unique over all living generations
  u32 index = 0;        // 0 … workers-1 of this generation
  u32 worker_count = 1;
  u32 generation = 0;
  std::vector<ListenerFd> listeners;
  int channel_fd = -1;  // to the master; -1: there is none (tests)
  i32 log_pid = 0;      // the pid that log lines carry; 0: own
};

/// Serves until told to stop; returns the process' exit status.
int worker_main(const WorkerStart &start);

/// The worker of this process. Its fuller view, with pools and proxies' run-time state, is
/// worker/runtime.h; this is what rules and logs need.
struct Worker : Pinned {
  Loop loop;
  const Config *config = nullptr;
  Service *service = nullptr;
  u32 slot = 0, index = 0, worker_count = 1, generation = 0;
  i32 log_pid = 0;
  u64 session_count = 0, stream_count = 0; // made so far
  u64 request_count = 0;
  Stream *streams = nullptr;               // all living ones
  bool stopping = false;                   // soft stop: no keep-alive any more
};
/// Null in the other processes.
Worker *this_worker();
void set_this_worker(Worker *w); // worker_main() and tests

} // namespace penstock
