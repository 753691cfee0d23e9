// SPDX-License-Identifier: BSD-2-Clause
// `show events`: the rings, and what is in one of them (management guide, 9.3).
#include <algorithm>
#include <cstdio>

#include "shared/shm/ring_buffer.h"
#include "worker/cli/cli_session.h"

namespace penstock {

namespace {

constexpr size_t piece = 16 << 10;
constexpr Millis look_again = 100; // writers wake nobody

struct EventOptions {
  bool wait = false, only_new = false;
  char separator = '\n';
};

class EventsAnswer : public CliAnswer {
 public:
  EventsAnswer(CliCall &call, RingBuffer &ring, EventOptions options)
      : ring_(ring), options_(options), reader_(options.only_new ? ring.newest() : ring.oldest()), loop_(call.control.loop), session_(call.session.number()) {
    clock_.session = session_;
    clock_.on_expire = [](Timer &t) {
      if (CliSession *s = CliSession::find(static_cast<Clock &>(t).session)) s->wake();
    };
  }
  ~EventsAnswer() override { loop_.cancel(clock_); }

  More next(std::string &out) override {
    if (ring_.has_more(reader_)) {
      ring_.read(reader_, piece, options_.separator, out);
      return More::Yes;
    }
    if (!options_.wait) return More::Done;
    loop_.set_timer(clock_, loop_.now() + look_again);
    return More::Later;
  }
  bool ends_at_input() const override { return options_.wait; }

 private:
  struct Clock : Timer { u64 session; } clock_;
  RingBuffer &ring_;
  EventOptions options_;
  RingBuffer::Reader reader_;
  Loop &loop_;
  u64 session_;
};

void list_sinks(CliCall &call) {
  call.out += "Supported events sinks are listed below. Add -0(zero), -w(wait), -n(new). Any key to stop.\n";
  for (auto &ring : call.control.config->rings) {
    char line[512];
    std::snprintf(line, sizeof line, "    %-10s : type=buffer, %u dropped, %s\n", ring->name.c_str(), 0u, ring->description.c_str());
    call.out += line;
  }
}

/// "-w", "-n", "-0" and their combinations.
bool read_options(string_view word, EventOptions &options) {
  if (word.size() < 2 || word[0] != '-') return false;
  for (char c : word.substr(1)) {
    if (c == 'w') options.wait = true;
    else if (c == 'n') options.only_new = true;
    else if (c == '0') options.separator = '\0';
    else return false;
  }
  return true;
}

void show_events(CliCall &call) {
  if (call.args() == 0) return list_sinks(call);
  auto &rings = call.control.config->rings;
  auto found = std::find_if(rings.begin(), rings.end(), [&](auto &ring) { return ring->name == call.arg(0); });
  if (found == rings.end()) return call.fail("No such event sink");
  EventOptions options;
  for (size_t i = 1; i < call.args(); i++)
    if (!read_options(call.arg(i), options)) return call.fail("unknown option");
  call.answer = std::make_unique<EventsAnswer>(call, *(*found)->memory, options);
}

constexpr CliCommand rows[] = {
    {.words = "show events", .usage = "[<sink>] [-w] [-n] [-0]",
     .doc = {.summary = "Show the log lines in a ring.",
             .text = "Without a name the rings are listed. -w waits for new lines until something is typed, -n leaves out those that are there already, -0 puts a NUL behind each "
                     "line instead of a newline.",
             .example = "show events recent -w"},
     .run = show_events},
};

} // namespace

std::span<const CliCommand> event_commands() { return rows; }

} // namespace penstock
