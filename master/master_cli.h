// SPDX-License-Identifier: BSD-2-Clause
// The master socket (-S): commands about the processes themselves, and a way through to the runtime
// socket of a generation (`@1 COMMAND`, `@!PID COMMAND`). Conversations are lines; `;` separates
// commands; after one line the connection closes, unless `prompt` was said.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "shared/model/bind.h"
#include "worker/event/loop.h"

namespace penstock {

struct Global;
class Supervisor;
class MasterSession;

class MasterCli : Pinned {
 public:
  explicit MasterCli(Supervisor &supervisor);
  ~MasterCli();

  /// Listens where -S says; nothing to do when it is empty or has been adopted already. False: said why.
  bool open(const std::string &where, const Global &global);
  /// The listening socket of the image executed before.
  void adopt(int fd, const std::string &key);
  int listener() const { return io_.fd; }
  const std::string &key() const { return key_; }
  /// The outcome of a reload, for a client that waits on this descriptor (perhaps since an image ago).
  void answer_asker(int fd, bool success, const std::string &messages);
  /// Closes everything, the listener included.
  void close_all();
  /// The same in a forked child, which must leave the master's loop alone.
  void close_in_child();

  Supervisor &supervisor() { return supervisor_; }
  void bury(MasterSession &session);

 private:
  void accept();
  Supervisor &supervisor_;
  std::string key_, path_;
  Bind::Level level_ = Bind::Admin;
  struct Io : IoHandle {
    MasterCli *cli = nullptr;
  } io_;
  std::list<std::unique_ptr<MasterSession>> sessions_;
};

} // namespace penstock
