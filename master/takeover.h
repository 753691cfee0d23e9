// SPDX-License-Identifier: BSD-2-Clause
// Listening sockets change hands between two services: a process that is started with -sf, -st or -x
// asks the one that it replaces for its groups, so that no connection is lost on the way. The old
// master answers on an abstract socket named after its pid, to root and to its own user only.
#pragma once

#include "master/options.h"
#include "worker/event/loop.h"

namespace penstock {

class Listeners;
class Supervisor;

class Takeover : Pinned {
 public:
  explicit Takeover(Supervisor &supervisor) : supervisor_(supervisor) {}
  ~Takeover() { close(); }

  /// New side: fetches what the processes of -sf, -st and -x have into `into`. What they don't give is bound anew.
  void fetch(const Options &options, Listeners &into);
  /// Old side: answers from now on.
  void listen();
  /// Somebody has our sockets: ending must neither refuse connections nor remove paths.
  bool taken() const { return taken_; }
  /// The same over the runtime socket: the successor has the first socket of each group.
  void note_copied() { taken_ = copied_ = true; }
  bool copied() const { return copied_; }
  void close();

 private:
  void accept();
  Supervisor &supervisor_;
  bool taken_ = false, copied_ = false;
  struct Io : IoHandle {
    Takeover *takeover = nullptr;
  } io_;
};

} // namespace penstock
