// SPDX-License-Identifier: BSD-2-Clause
// Commands about streams: the only ones that have to ask the workers.
#include <cstdlib>

#include "worker/cli/interview.h"

namespace penstock {

namespace {

/// "0x1000000000007" or without the 0x; 0 when it is no such name.
u64 parse_name(string_view text) {
  std::string copy(text);
  char *end = nullptr;
  u64 name = std::strtoull(copy.c_str(), &end, 16);
  return copy.empty() || *end || name >> 48 == 0 || name >> 48 > max_slots ? 0 : name;
}

void ask(CliCall &call, QuestionHead question, std::vector<u32> slots, void (*say_end)(std::string &, u64)) {
  call.answer = std::make_unique<Interview>(call, question, std::move(slots), say_end);
}

void say_if_none(std::string &out, u64 count) {
  if (count == 0) out += "No such session (use 'show sess').\n";
}

void show_sess(CliCall &call) {
  if (call.args() == 0 || call.arg(0) == "all") return ask(call, {.question = Question::ListStreams}, all_worker_slots(*call.control.service), nullptr);
  u64 name = parse_name(call.arg(0));
  if (!name) return call.fail("Unsupported option '" + std::string(call.arg(0)) + "': expects nothing, 'all', or the name of a session.");
  ask(call, {.question = Question::ShowStream, .after = number_of_name(name)}, {slot_of_name(name)}, say_if_none);
}

void shutdown_session(CliCall &call) {
  if (call.arg(0).empty()) return call.fail("Session pointer expected (use 'show sess').");
  u64 name = parse_name(call.arg(0));
  if (!name || !call.control.service->slot_in_use(slot_of_name(name))) return call.fail("No such session (use 'show sess').");
  ask(call, {.question = Question::EndStream, .after = number_of_name(name)}, {slot_of_name(name)}, say_if_none);
}

void shutdown_sessions_server(CliCall &call) {
  const Server *s = find_server(call, call.arg(0));
  if (s) ask(call, {.question = Question::EndOfServer, .row = s->row}, all_worker_slots(*call.control.service), nullptr);
}

void say_total(std::string &out, u64 count) { out += "Total events captured: " + std::to_string(count) + "\n"; }

void show_errors(CliCall &call) {
  u32 index = ~u32{0};
  if (!call.arg(0).empty()) {
    const Config &config = *call.control.config;
    const Proxy *p = config.frontend(call.arg(0)) ? config.frontend(call.arg(0)) : config.backend(call.arg(0));
    if (!p) return call.fail("No such proxy.");
    index = p->index;
  }
  ask(call, {.question = Question::ListErrors, .row = index}, all_worker_slots(*call.control.service), say_total);
}

constexpr CliCommand rows[] = {
    {.words = "show errors", .usage = "[<px>]", .level = CliLevel::Operator,
     .doc = {.summary = "The last request and response of every proxy that could not be read, and where reading stopped.", .text = {}, .example = "show errors www"}, .run = show_errors},
    {.words = "show sess", .usage = "[all|<id>]", .level = CliLevel::Operator,
     .doc = {.summary = "The streams of all workers, or one of them at length.", .text = {}, .example = "show sess"}, .run = show_sess},
    {.words = "shutdown session", .usage = "<id>", .level = CliLevel::Admin,
     .doc = {.summary = "End a stream.", .text = "'show sess' tells the names.", .example = "shutdown session 0x100000000002a"}, .run = shutdown_session},
    {.words = "shutdown sessions server", .usage = "<bk>/<srv>", .level = CliLevel::Admin,
     .doc = {.summary = "End all streams on a server.", .text = {}, .example = "shutdown sessions server app/s1"}, .run = shutdown_sessions_server},
};

} // namespace

std::span<const CliCommand> stream_commands() { return rows; }

} // namespace penstock
