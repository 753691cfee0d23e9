// SPDX-License-Identifier: BSD-2-Clause
// One conversation on the master socket.
#pragma once

#include <deque>
#include <string>

#include "shared/model/bind.h"
#include "worker/event/loop.h"

namespace penstock {

class MasterCli;
struct Child;

class MasterSession : Pinned {
 public:
  MasterSession(MasterCli &cli, int fd, Bind::Level level);
  ~MasterSession();

  // ------------------------------------------------------------- for the commands
  void print(string_view text) { out_ += text; }
  Bind::Level level = Bind::Admin;
  enum class Prompt : u8 { None, Silent, Shown } prompt = Prompt::None;
  /// The target that `@… ` without a command has set for what follows; empty: the master.
  std::string prefix;
  /// The descriptor now belongs to a reload that will answer on it.
  int give_away();
  void quit() { closing_ = true; }
  MasterCli &cli() { return cli_; }
  /// In a forked child: closes the descriptors and leaves the master's loop alone.
  void close_in_child();

 private:
  struct Io : IoHandle {
    MasterSession *session = nullptr;
  };
  void on_client(u32 events);
  void on_target(u32 events);
  void take_lines();
  void proceed();
  void run(std::string command);
  void run_here(string_view command);
  void forward(Child &child, const std::string &command);
  void end_forward();
  void flush();
  void show_prompt();

  MasterCli &cli_;
  Io client_, target_;
  std::string in_, out_, to_target_;
  std::deque<std::string> commands_;
  bool input_ended_ = false, closing_ = false, given_ = false, line_taken_ = false;
  bool in_payload_ = false;
};

} // namespace penstock
