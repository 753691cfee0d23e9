// SPDX-License-Identifier: BSD-2-Clause
// Commands that change a server. The change is in shared memory, with all that follows from it for
// every worker, before the answer is written (shared/shm/server_state.h); events are logged as if a check
// had made it (worker/check/health.h).
#include "shared/base/text.h"
#include "shared/shm/server_state.h"
#include "worker/check/health.h"
#include "worker/cli/command.h"

namespace penstock {

namespace {

Tick now(const CliCall &call) { return call.control.loop.now(); }
Health health_of(CliCall &call) { return Health(*call.control.service, call.control.states); }
ServerRow &row_of(CliCall &call, const Server &s) { return call.control.states.row(s); }

// ------------------------------------------------------------------------------------ weight

/// Algorithms whose table is made once: map-based hashes and static-rr.
bool has_static_weights(const Proxy &p) {
  BalanceAlgorithm a = p.balance.algorithm;
  bool hashes = (a >= BalanceAlgorithm::Source && a <= BalanceAlgorithm::Hdr) || a == BalanceAlgorithm::RdpCookie || a == BalanceAlgorithm::Hash;
  return a == BalanceAlgorithm::StaticRr || (hashes && p.balance.hash == HashKind::MapBased);
}

/// "12" or "50%" of the configured weight.
bool change_weight(CliCall &call, const Server &s, string_view text) {
  bool percent = text.ends_with('%');
  std::optional<u64> number = parse_u64(percent ? text.substr(0, text.size() - 1) : text);
  if (text.empty()) return call.fail("Require <weight> or <weight%>."), false;
  if (!number) return call.fail("Weight is not a number."), false;
  if (percent && *number > 25600) return call.fail("Relative weight is out of range."), false;
  u64 weight = percent ? (*number * row_of(call, s).configured_weight + 99) / 100 : *number;
  if (!percent && weight > 256) return call.fail("Absolute weight can only be between 0 and 256 inclusive."), false;
  if (percent && weight > 256) weight = 256;
  if (has_static_weights(*s.proxy) && weight != 0 && weight != row_of(call, s).configured_weight)
    return call.fail("Backend is using a static LB algorithm and only accepts weights '0%' and '100%'."), false;
  call.control.states.set_weight(s, static_cast<u32>(weight), now(call));
  return true;
}

void set_weight(CliCall &call) {
  if (const Server *s = find_server(call, call.arg(0))) change_weight(call, *s, call.arg(1));
}

void get_weight(CliCall &call) {
  const Server *s = find_server(call, call.arg(0));
  if (!s) return;
  const ServerRow &row = row_of(call, *s);
  call.say(LogLevel::Info, std::to_string(row.weight.load()) + " (initial " + std::to_string(row.configured_weight) + ")");
}

// ------------------------------------------------------------------------------------ set server

void set_state(CliCall &call, const Server &s) {
  string_view to = call.arg(2);
  if (s.tracked) return call.fail("cannot change administrative state on a tracking server");
  if (to == "ready") health_of(call).make_ready(s, now(call));
  else if (to == "drain") health_of(call).drain(s, now(call));
  else if (to == "maint") health_of(call).maintain(s, now(call));
  else call.fail("'set server <srv> state' expects 'ready', 'drain' and 'maint'.");
}

void tell_forced(CliCall &call, const Server &s, ServerEvent event) {
  ServerCount usable = count_usable(*call.control.service, *s.proxy);
  const ServerRow &row = row_of(call, s);
  log_server_event(s, event, ", changed from CLI", false, {usable.active, usable.backup, row.served.count(), 0, row.queued.load()});
  if (event != ServerEvent::Up && usable.active + usable.backup == 0) log_backend_empty(*s.proxy);
}

void set_health(CliCall &call, const Server &s) {
  string_view to = call.arg(2);
  if (s.tracked) return call.fail("cannot change health on a tracking server.");
  CheckReport &report = row_of(call, s).check;
  const ServerOptions &o = *s.options;
  if (to == "up") {
    report.health = o.rise + o.fall - 1;
    if (call.control.states.set_up(s, now(call))) tell_forced(call, s, ServerEvent::Up);
  } else if (to == "stopping") {
    report.health = o.rise + o.fall - 1;
    if (call.control.states.set_stopping(s, now(call))) tell_forced(call, s, ServerEvent::Stopping);
  } else if (to == "down") {
    report.health = 0;
    if (call.control.states.set_down(s, now(call))) tell_forced(call, s, ServerEvent::Down);
  } else {
    call.fail("'set server <srv> health' expects 'up', 'stopping', or 'down'.");
  }
}

void set_agent(CliCall &call, const Server &s) {
  if (!s.options->agent_check) return call.fail("agent checks are not enabled on this server.");
  CheckReport &report = row_of(call, s).agent;
  if (call.arg(2) == "up") {
    report.health = s.options->rise;
    if (call.control.states.set_up(s, now(call))) tell_forced(call, s, ServerEvent::Up);
  } else if (call.arg(2) == "down") {
    report.health = 0;
    if (call.control.states.set_down(s, now(call))) tell_forced(call, s, ServerEvent::Down);
  } else {
    call.fail("'set server <srv> agent' expects 'up' or 'down'.");
  }
}

void set_weight_of(CliCall &call, const Server &s) { change_weight(call, s, call.arg(2)); }

Address current_address(CliCall &call, const Server &s) {
  Address a = s.address;
  runtime_address(row_of(call, s), a);
  return a;
}

/// "ADDRESS [port PORT]" from the argument `at` on; what is not said stays as in `now`.
bool read_address_words(CliCall &call, size_t at, const Address &now, Address &wanted) {
  std::optional<Ip> ip = parse_ip(call.arg(at));
  if (!ip) return call.fail("Invalid addr '" + std::string(call.arg(at)) + "'"), false;
  wanted = Address::from_ip(*ip, now.port);
  if (call.arg(at + 1) != "port") return true;
  std::optional<u64> port = parse_u64(call.arg(at + 2));
  if (!port || *port > 65535) return call.fail("problem converting port '" + std::string(call.arg(at + 2)) + "' to an int"), false;
  wanted.port = static_cast<u16>(*port);
  return true;
}

void set_address(CliCall &call, const Server &s) {
  if (call.arg(2).empty()) return call.fail("set server <b>/<s> addr requires an address and optionally a port.");
  Address old = current_address(call, s), wanted;
  if (!read_address_words(call, 2, old, wanted)) return;
  std::string told;
  if (!(old.ip == wanted.ip)) told += "IP changed from '" + old.ip.text() + "' to '" + wanted.ip.text() + "'";
  if (old.port != wanted.port)
    told += (told.empty() ? "" : ", ") + std::string("port changed from '") + std::to_string(old.port) + "' to '" + std::to_string(wanted.port) + "'";
  if (told.empty()) return call.say(LogLevel::Warning, "nothing changed");
  call.control.states.set_address(s, wanted);
  told += " by 'stats socket command'";
  log_line(*s.proxy, LogLevel::Notice, s.proxy->name + "/" + s.name + " " + told);
  call.say(LogLevel::Warning, told);
}

// What checks and agents use is the control process' alone: the next check takes it.

bool lacks_check(CliCall &call, const Server &s) {
  if (s.options->check) return false;
  call.fail("Health checks are not enabled on this server.");
  return true;
}
bool lacks_agent(CliCall &call, const Server &s) {
  if (s.options->agent_check) return false;
  call.fail("agent checks are not enabled on this server");
  return true;
}

void change_port(CliCall &call, std::atomic<u32> &port, string_view text) {
  std::optional<u64> n = parse_u64(text);
  if (!n || *n == 0 || *n > 65535) return call.fail("provided port is not valid.");
  port = static_cast<u32>(*n);
}

void set_check_port(CliCall &call, const Server &s) {
  if (!lacks_check(call, s)) change_port(call, row_of(call, s).check_port, call.arg(2));
}
void set_agent_port(CliCall &call, const Server &s) {
  if (!lacks_agent(call, s)) change_port(call, row_of(call, s).agent_port, call.arg(2));
}

/// An address without a port leaves the port to the configuration.
void change_address(CliCall &call, SharedAddress &shared, std::atomic<u32> &port) {
  if (call.arg(2).empty()) return call.fail("an address is expected, and optionally 'port' with a port.");
  Address wanted;
  if (!read_address_words(call, 2, Address{}, wanted)) return;
  if (wanted.port != 0) port = wanted.port;
  write_address(shared, wanted);
}
void set_check_address(CliCall &call, const Server &s) {
  if (!lacks_check(call, s)) change_address(call, row_of(call, s).check_address, row_of(call, s).check_port);
}
void set_agent_address(CliCall &call, const Server &s) {
  if (!lacks_agent(call, s)) change_address(call, row_of(call, s).agent_address, row_of(call, s).agent_port);
}

void set_agent_send(CliCall &call, const Server &s) {
  if (lacks_agent(call, s)) return;
  ServerRow &row = row_of(call, s);
  string_view text = call.arg(2);
  if (text.size() >= sizeof row.agent_send) return call.fail("the text is longer than " + std::to_string(sizeof row.agent_send - 1) + " bytes.");
  text.copy(row.agent_send, text.size());
  row.agent_send[text.size()] = 0;
  row.agent_send_set = 1;
}

void set_fqdn(CliCall &call, const Server &) { call.fail("set server <b>/<s> fqdn failed because no resolution is configured."); }

struct SetWord {
  string_view word;
  void (*set)(CliCall &, const Server &);
};
constexpr SetWord set_words[] = {
    {"addr", set_address}, {"agent", set_agent}, {"agent-addr", set_agent_address}, {"agent-port", set_agent_port}, {"agent-send", set_agent_send},
    {"check-addr", set_check_address}, {"check-port", set_check_port}, {"fqdn", set_fqdn}, {"health", set_health}, {"state", set_state},
    {"weight", set_weight_of},
};

void set_server(CliCall &call) {
  const Server *s = find_server(call, call.arg(0));
  if (!s) return;
  for (const SetWord &w : set_words)
    if (w.word == call.arg(1)) return w.set(call, *s);
  std::string usage = "usage: set server <backend>/<server> ";
  for (const SetWord &w : set_words) (usage += &w == set_words ? "" : " | ") += w.word;
  call.fail(usage);
}

// ------------------------------------------------------------------------------- enable and disable

void disable_server(CliCall &call) {
  if (const Server *s = find_server(call, call.arg(0))) health_of(call).maintain(*s, now(call));
}
void enable_server(CliCall &call) {
  if (const Server *s = find_server(call, call.arg(0))) health_of(call).make_ready(*s, now(call));
}

void switch_check(CliCall &call, bool agent, bool on) {
  const Server *s = find_server(call, call.arg(0));
  if (!s) return;
  if (agent && on && !s->options->agent_check) return call.fail("Agent was not configured on this server, cannot enable.");
  if (!agent && on && !s->options->check) return call.fail("Health check was not configured on this server, cannot enable.");
  ServerRow &row = row_of(call, *s);
  (agent ? row.agent : row.check).enabled = on;
}
void enable_health(CliCall &call) { switch_check(call, false, true); }
void disable_health(CliCall &call) { switch_check(call, false, false); }
void enable_agent(CliCall &call) { switch_check(call, true, true); }
void disable_agent(CliCall &call) { switch_check(call, true, false); }

constexpr CliCommand rows[] = {
    {.words = "disable agent", .usage = "<bk>/<srv>", .level = CliLevel::Admin,
     .doc = {.summary = "Stop asking a server's agent.", .text = {}, .example = "disable agent app/s1"}, .run = disable_agent},
    {.words = "disable health", .usage = "<bk>/<srv>", .level = CliLevel::Admin,
     .doc = {.summary = "Stop checking a server; its state stays.", .text = {}, .example = "disable health app/s1"}, .run = disable_health},
    {.words = "disable server", .usage = "<bk>/<srv>", .level = CliLevel::Admin,
     .doc = {.summary = "Put a server into maintenance.", .text = "The same as 'set server … state maint'.", .example = "disable server app/s1"}, .run = disable_server},
    {.words = "enable agent", .usage = "<bk>/<srv>", .level = CliLevel::Admin,
     .doc = {.summary = "Ask a server's agent again.", .text = {}, .example = "enable agent app/s1"}, .run = enable_agent},
    {.words = "enable health", .usage = "<bk>/<srv>", .level = CliLevel::Admin,
     .doc = {.summary = "Check a server again.", .text = {}, .example = "enable health app/s1"}, .run = enable_health},
    {.words = "enable server", .usage = "<bk>/<srv>", .level = CliLevel::Admin,
     .doc = {.summary = "Take a server out of maintenance.", .text = "The same as 'set server … state ready'.", .example = "enable server app/s1"}, .run = enable_server},
    {.words = "get weight", .usage = "<bk>/<srv>", .level = CliLevel::User,
     .doc = {.summary = "A server's weight now and as configured.", .text = {}, .example = "get weight app/s1"}, .run = get_weight},
    {.words = "set server", .usage = "<bk>/<srv> [opts]", .level = CliLevel::Admin,
     .doc = {.summary = "Change a server's state, health, weight or address.",
             .text = "'state ready|drain|maint' is the operator's word, 'health up|stopping|down' and 'agent up|down' speak for the checks until "
                     "the next one, 'weight' takes a number or a share of the configured one, 'addr IP [port N]' is where new connections go; "
                     "'check-addr', 'check-port', 'agent-addr', 'agent-port' and 'agent-send' concern the next checks.",
             .example = "set server app/s1 state drain"}, .run = set_server},
    {.words = "set weight", .usage = "<bk>/<srv> <weight>[%]", .level = CliLevel::Admin,
     .doc = {.summary = "Change a server's weight.", .text = "The same as 'set server … weight'.", .example = "set weight app/s1 50%"}, .run = set_weight},
};

} // namespace

std::span<const CliCommand> server_commands() { return rows; }

} // namespace penstock
