// SPDX-License-Identifier: BSD-2-Clause
// A conversation on the runtime socket, in the control process: lines in, answers out, never more
// memory than a piece of an answer, never waiting. A client that does not read stops its own answer and
// nobody else's. By default one line is answered and the connection ends; `prompt` keeps it open.
#pragma once

#include <deque>
#include <list>

#include "worker/cli/cli_line.h"
#include "worker/cli/command.h"

namespace penstock {

class CliSession : Pinned {
 public:
  /// Takes the descriptor over; deletes itself when the conversation ends.
  CliSession(Control &control, int fd, CliLevel level, const Bind *socket = nullptr);

  Control &control() { return control_; }
  CliLevel level = CliLevel::User;
  enum class Mode : u8 { Single, Interactive, Prompt } mode = Mode::Single;
  enum class Severity : u8 { None, Number, String } severity = Severity::None;
  bool timed_prompt = false, expert = false, experimental = false;
  void set_timeout(Millis t) { timeout_ = t; }
  Millis timeout() const { return timeout_; }
  void quit() { ending_ = true; }
  /// The socket that it came in by; null: the master's.
  const Bind *socket() const { return socket_; }
  /// Ends the conversation and leaves its connection to the caller.
  int release();

  /// There is more of an answer that said Later.
  void wake() { control_.loop.defer(turn_); }
  /// Of all living ones, by number; for answers that come from elsewhere.
  u64 number() const { return number_; }
  static CliSession *find(u64 number);

 private:
  ~CliSession();
  static void on_io(IoHandle &self, u32 events);
  void read_some();
  void work();              // as far as it goes without waiting
  bool take_line();         // the next line of input; false: none is complete
  bool add_payload(string_view line);
  void run_next();
  bool write_some();        // false: the client takes no more now, or is gone
  void say_prompt();
  void watch();
  void end();

  struct Io : IoHandle { CliSession *session; } io_;
  struct Clock : Timer { CliSession *session; } clock_;
  struct Turn : Deferred { CliSession *session; } turn_, burial_;
  Control &control_;
  const Bind *socket_;
  u64 number_;
  Millis timeout_;
  std::string in_, out_;
  size_t sent_ = 0;
  CliLine line_;            // what is being answered
  size_t command_ = 0;      // of line_.commands
  std::string payload_;
  bool payload_cut_ = false; // it was longer than we take
  bool in_payload_ = false, answering_ = false, input_ended_ = false, ending_ = false, dead_ = false;
  std::unique_ptr<CliAnswer> answer_;
};

} // namespace penstock
