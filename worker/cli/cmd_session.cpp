// SPDX-License-Identifier: BSD-2-Clause
// Commands about the conversation itself: help, prompt, levels, modes, timeout, quit.
#include "shared/table/words.h"
#include "worker/cli/cli_session.h"
#include "worker/cli/expose.h"

namespace penstock {

namespace {

void help(CliCall &call) {
  call.out += "The following commands are valid at this level:\n";
  list_commands(call.out, call.session.level, call.words.subspan(1));
}

constexpr string_view prompt_usage =
    "Usage: prompt [help | n | i | p | timed]*\n"
    "  help    show this\n"
    "  n       one line is answered, then the connection ends\n"
    "  i       the connection stays open, without a prompt\n"
    "  p       the connection stays open and a prompt invites the next line\n"
    "  timed   the prompt tells the uptime, or no longer\n"
    "Without a word: p, or n where it was p.\n";

void prompt(CliCall &call) {
  using Mode = CliSession::Mode;
  Mode mode = call.session.mode == Mode::Prompt ? Mode::Single : Mode::Prompt;
  bool timed = call.session.timed_prompt;
  for (size_t i = 0; i < call.args(); i++) {
    string_view word = call.arg(i);
    if (word == "n") mode = Mode::Single;
    else if (word == "i") mode = Mode::Interactive;
    else if (word == "p") mode = Mode::Prompt;
    else if (word == "timed") timed = !timed, mode = Mode::Prompt;
    else return call.say(LogLevel::Info, prompt_usage);
  }
  call.session.mode = mode;
  call.session.timed_prompt = timed;
}

void quit(CliCall &call) { call.session.quit(); }

void echo(CliCall &call) {
  for (size_t i = 0; i < call.args(); i++) (call.out += i ? " " : "") += call.arg(i);
  call.out += '\n';
}

void lower_level(CliCall &call, CliLevel to) {
  if (call.session.level > to) call.session.level = to;
}
void to_user(CliCall &call) { lower_level(call, CliLevel::User); }
void to_operator(CliCall &call) { lower_level(call, CliLevel::Operator); }

void switch_mode(CliCall &call, bool &mode) {
  if (call.args() == 0) return call.say(LogLevel::Info, std::string(call.words[0]) + (mode ? " is ON" : " is OFF"));
  mode = call.arg(0) == "on";
}
void expert_mode(CliCall &call) { switch_mode(call, call.session.expert); }
void experimental_mode(CliCall &call) { switch_mode(call, call.session.experimental); }

void set_severity(CliCall &call) {
  using Severity = CliSession::Severity;
  string_view word = call.arg(0);
  if (word == "none") call.session.severity = Severity::None;
  else if (word == "number") call.session.severity = Severity::Number;
  else if (word == "string") call.session.severity = Severity::String;
  else call.fail("'set severity-output' expects 'none', 'number' or 'string'.");
}

void set_timeout(CliCall &call) {
  if (call.arg(0) != "cli") return call.fail("'set timeout' only supports 'cli'.");
  DelayResult delay = parse_delay(std::string(call.arg(1)) + (call.arg(1).find_first_not_of("0123456789") == string_view::npos ? "s" : ""));
  if (call.arg(1).empty() || !delay.value || *delay.value <= 0) return call.fail("Invalid timeout value.");
  call.session.set_timeout(*delay.value);
}

void cli_level(CliCall &call) { (call.out += level_name(call.session.level)) += '\n'; }

/// What a successor asks for (`-x`); no command for people.
void get_sockets(CliCall &call) {
  if (call.session.socket() == nullptr || !call.session.socket()->expose_fd) return call.fail("This socket does not hand out listeners (see 'expose-fd').");
  Control &control = call.control;
  hand_out_listeners(control, call.session.release());
}

constexpr CliCommand rows[] = {
    {.words = "_getsocks", .doc = {.summary = "Hand the listening sockets out to a successor.", .text = {}, .example = "_getsocks"}, .run = get_sockets, .unlisted = true},
    {.words = "echo", .usage = "<text>", .doc = {.summary = "Say the words back.", .text = {}, .example = "echo done"}, .run = echo},
    {.words = "experimental-mode", .usage = "[on|off]", .level = CliLevel::Admin,
     .doc = {.summary = "Allow commands that may change in later versions.", .text = {}, .example = "experimental-mode on"}, .run = experimental_mode},
    {.words = "expert-mode", .usage = "[on|off]", .level = CliLevel::Admin,
     .doc = {.summary = "Allow commands that can do harm.", .text = {}, .example = "expert-mode on"}, .run = expert_mode},
    {.words = "help", .usage = "[<command>]", .doc = {.summary = "List all commands, or those that begin so.", .text = {}, .example = "help show"}, .run = help, .always_listed = true},
    {.words = "operator", .doc = {.summary = "Lower the level of this conversation to operator.", .text = {}, .example = "operator"}, .run = to_operator},
    {.words = "prompt", .usage = "[help | n | i | p | timed]*",
     .doc = {.summary = "Keep the connection open, with or without a prompt.",
             .text = "Without a word it switches between one answer per connection and a prompt.", .example = "prompt i"},
     .run = prompt, .always_listed = true},
    {.words = "quit", .doc = {.summary = "End the conversation.", .text = {}, .example = "quit"}, .run = quit, .always_listed = true},
    {.words = "set severity-output", .usage = "[none|number|string]",
     .doc = {.summary = "Begin messages with their severity.", .text = {}, .example = "set severity-output string"}, .run = set_severity},
    {.words = "set timeout", .usage = "cli <delay>",
     .doc = {.summary = "Longest pause in this conversation; seconds where no unit is given.", .text = {}, .example = "set timeout cli 5m"}, .run = set_timeout},
    {.words = "show cli level", .doc = {.summary = "The level of this conversation.", .text = {}, .example = "show cli level"}, .run = cli_level},
    {.words = "user", .doc = {.summary = "Lower the level of this conversation to user.", .text = {}, .example = "user"}, .run = to_user},
};

} // namespace

std::span<const CliCommand> session_commands() { return rows; }

} // namespace penstock
