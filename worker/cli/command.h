// SPDX-License-Identifier: BSD-2-Clause
// A command of the runtime socket (management guide 9.3): one constexpr row with the words that call
// it, the level that it asks for, its documentation and its function. Commands run in the control
// process, and what they change is shared memory, so there is one effect for the whole host.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "shared/shm/service.h"
#include "shared/table/doc.h"
#include "worker/control.h"
#include "worker/log/sinks.h"

namespace penstock {

enum class CliLevel : u8 { User, Operator, Admin };
string_view level_name(CliLevel l);

class CliSession;

/// An answer that is made piece by piece, as fast as the client reads.
class CliAnswer {
 public:
  enum class More : u8 { Yes, Done, Later /* the session is woken when there is more */ };
  virtual ~CliAnswer() = default;
  /// Appends the next piece, a few kB at most.
  virtual More next(std::string &out) = 0;
  /// Goes on until the client sends anything or shuts its side.
  virtual bool ends_at_input() const { return false; }
};

/// One run of a command.
struct CliCall {
  Control &control;
  CliSession &session;
  std::span<const std::string> words; // all of them
  size_t at;                          // of the first after the command's own
  string_view payload;
  std::string &out;                   // a short answer goes here, every line with its newline
  std::unique_ptr<CliAnswer> answer;  // a long one is left here

  /// The n-th argument, "" past the end.
  string_view arg(size_t n) const { return at + n < words.size() ? string_view(words[at + n]) : string_view(); }
  size_t args() const { return words.size() - at; }
  /// A message about the outcome: a line, with its severity where `set severity-output` asks for it.
  void say(LogLevel level, string_view text);
  void fail(string_view text) { say(LogLevel::Err, text); }
};

struct CliCommand {
  string_view words;  // "set server"
  string_view usage = {}; // what follows: "<bk>/<srv> [opts]"
  CliLevel level = CliLevel::User;
  Doc doc;
  void (*run)(CliCall &) = nullptr;
  bool always_listed = false; // in every answer to an unknown command
  bool unlisted = false;      // for programs, not for people
};

using CliCommandRows = std::span<const CliCommand> (*)();
std::span<const CliCommand> session_commands();  // help, prompt, quit, levels, …
std::span<const CliCommand> event_commands();    // the rings
std::span<const CliCommand> show_commands();
std::span<const CliCommand> show_server_commands();
std::span<const CliCommand> server_commands();
std::span<const CliCommand> limit_commands();
std::span<const CliCommand> stream_commands();
std::span<const CliCommand> pattern_commands();
std::span<const CliCommand> table_commands();
/// All of them in the order of `help`.
const std::vector<const CliCommand *> &cli_commands();
/// The one that the words call, or null; `length` becomes how many of them are its own.
const CliCommand *find_command(std::span<const std::string> words, size_t &length);
/// The lines of `help`: those that a client of this level may give and that `words` could mean. An unknown
/// first word finds the commands that look like it.
void list_commands(std::string &out, CliLevel level, std::span<const std::string> words);
/// What is said about words that call nothing.
void explain_unknown(std::string &out, CliLevel level, std::span<const std::string> words);

// ------------------------------------------------------------------- shared by the commands
/// "backend/server". On a mistake says so and gives null.
const Server *find_server(CliCall &call, string_view text);
const Proxy *find_frontend(CliCall &call, string_view name);
/// By name, or "#" and number.
const Proxy *find_backend(CliCall &call, string_view name);

} // namespace penstock
