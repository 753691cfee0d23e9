// SPDX-License-Identifier: BSD-2-Clause
// Commands that change limits and whether frontends accept. All are cells of shared memory that every
// worker reads when it accepts or picks, also the workers of later generations.
#include <algorithm>

#include "shared/base/text.h"
#include "shared/shm/server_state.h"
#include "worker/cli/cli_session.h"

namespace penstock {

namespace {

std::optional<u32> number(CliCall &call, string_view text) {
  std::optional<u64> n = parse_u64(text);
  if (!n) return call.fail("Expects an integer value."), std::nullopt;
  if (*n > 0x7fffffff) return call.fail("Value out of range."), std::nullopt;
  return static_cast<u32>(*n);
}

// ------------------------------------------------------------------------------------ frontends

enum FrontState : u8 { front_open = 0, front_disabled = 1, front_stopped = 2 };

std::atomic<u8> *front_state(CliCall &call) {
  const Proxy *p = find_frontend(call, call.arg(0));
  if (!p) return nullptr;
  std::atomic<u8> &state = call.control.service->proxy(p->front_row).state;
  if (state.load() == front_stopped) return call.fail("Frontend was previously shut down, cannot change it."), nullptr;
  return &state;
}
void change_front(CliCall &call, FrontState to, string_view already) {
  std::atomic<u8> *state = front_state(call);
  if (!state) return;
  if (state->load() == to) return call.fail(already);
  state->store(to);
  call.control.service->row().change++;
  call.control.service->wake_all();
}
void disable_frontend(CliCall &call) { change_front(call, front_disabled, "All sockets are already disabled."); }
void enable_frontend(CliCall &call) { change_front(call, front_open, "All sockets are already enabled."); }
void shutdown_frontend(CliCall &call) { change_front(call, front_stopped, "Frontend was already shut down."); }

// ------------------------------------------------------------------------------------ limits

void maxconn_frontend(CliCall &call) {
  const Proxy *p = find_frontend(call, call.arg(0));
  if (!p) return;
  if (call.arg(1).empty()) return call.fail("Integer value expected.");
  if (auto n = number(call, call.arg(1))) call.control.service->proxy(p->front_row).maxconn = *n;
}

void maxconn_global(CliCall &call) {
  auto n = number(call, call.arg(0));
  if (!n) return;
  u32 hard = call.control.config->global.maxconn;
  if (hard && *n > hard) return call.fail("Value out of range.");
  call.control.service->row().maxconn = *n ? *n : hard;
}

void maxconn_server(CliCall &call) {
  const Server *s = find_server(call, call.arg(0));
  if (!s) return;
  if (call.arg(1).empty()) return call.fail("Require <maxconn>.");
  if (auto n = number(call, call.arg(1))) call.control.states.set_maxconn(*s, *n);
}

struct RateLimit {
  string_view what, told;
  std::atomic<u32> ServiceRow::*cell;
};
constexpr RateLimit rate_limits[] = {
    {"connections", "client connections per second", &ServiceRow::maxconnrate},
    {"sessions", "sessions per second", &ServiceRow::maxsessrate},
    {"ssl-sessions", "TLS sessions per second", &ServiceRow::maxsslrate},
};

void rate_limit(CliCall &call) {
  for (const RateLimit &r : rate_limits) {
    if (call.arg(0) != r.what || call.arg(1) != "global") continue;
    if (auto n = number(call, call.arg(2))) call.control.service->row().*r.cell = *n;
    return;
  }
  std::string usage = "'set rate-limit' only supports :\n";
  for (const RateLimit &r : rate_limits) ((((usage += "   - '") += r.what) += " global' for the limit of ") += r.told) += '\n';
  call.fail(usage);
}

void clear_counters(CliCall &call) {
  bool all = call.arg(0) == "all";
  if (all && call.session.level < CliLevel::Admin) return call.fail("Permission denied");
  call.control.service->clear_counters(all);
}

constexpr CliCommand rows[] = {
    {.words = "clear counters", .usage = "[all]", .level = CliLevel::Operator,
     .doc = {.summary = "Forget the maxima of all statistics, or with 'all' the totals too.", .text = "'all' is for the level admin.", .example = "clear counters"}, .run = clear_counters},
    {.words = "disable frontend", .usage = "<frontend>", .level = CliLevel::Admin,
     .doc = {.summary = "Let a frontend accept no further connections for now.", .text = {}, .example = "disable frontend www"}, .run = disable_frontend},
    {.words = "enable frontend", .usage = "<frontend>", .level = CliLevel::Admin,
     .doc = {.summary = "Let a disabled frontend accept again.", .text = {}, .example = "enable frontend www"}, .run = enable_frontend},
    {.words = "set maxconn frontend", .usage = "<frontend> <value>", .level = CliLevel::Admin,
     .doc = {.summary = "Change a frontend's limit of connections.", .text = {}, .example = "set maxconn frontend www 2000"}, .run = maxconn_frontend},
    {.words = "set maxconn global", .usage = "<value>", .level = CliLevel::Admin,
     .doc = {.summary = "Change the limit of connections of the whole service.", .text = "0 brings the configured one back.", .example = "set maxconn global 10000"}, .run = maxconn_global},
    {.words = "set maxconn server", .usage = "<bk>/<srv> <value>", .level = CliLevel::Admin,
     .doc = {.summary = "Change a server's limit of connections.", .text = "Waiting requests that now have room go on at once.", .example = "set maxconn server app/s1 30"}, .run = maxconn_server},
    {.words = "set rate-limit", .usage = "<setting> <value>", .level = CliLevel::Admin,
     .doc = {.summary = "Change a limit of new connections or sessions per second.", .text = {}, .example = "set rate-limit connections global 1000"}, .run = rate_limit},
    {.words = "shutdown frontend", .usage = "<frontend>", .level = CliLevel::Admin,
     .doc = {.summary = "Stop a frontend for good; only a restart or a reload that brings it anew opens it again.", .text = {}, .example = "shutdown frontend www"}, .run = shutdown_frontend},
};

} // namespace

std::span<const CliCommand> limit_commands() { return rows; }

} // namespace penstock
