// SPDX-License-Identifier: BSD-2-Clause
// Options of `server` and `default-server` lines that concern health checks, agents, tracking and
// what follows from them. The target is a ServerLine. Manual, section 5.2.
#include "master/config/choice.h"
#include "master/config/kw_proxy.h"
#include "master/config/kw_server.h"

namespace penstock {

namespace {

ServerOptions &of(void *target) { return static_cast<ServerLine *>(target)->options; }

template <auto Field, bool Value> void set(LineContext &, void *target) { of(target).*Field = Value; }

template <auto Field, i64 Min, i64 Max> void number(LineContext &ctx, void *target) {
  using Value = std::remove_reference_t<decltype(of(target).*Field)>;
  if (auto v = ctx.words.need_int("a number", Min, Max)) of(target).*Field = static_cast<Value>(*v);
}

template <auto Field> void text(LineContext &ctx, void *target) {
  if (auto v = ctx.words.need("a value")) of(target).*Field = *v;
}

/// An interval: above 0.
template <auto Field> void interval(LineContext &ctx, void *target) {
  auto v = ctx.words.need_delay("a delay");
  if (!v) return;
  if (*v > 0) of(target).*Field = *v;
  else ctx.words.alert_last("'" + std::string(ctx.words.subject()) + "' expects a delay above 0");
}

/// An address without a port, resolved now.
template <auto Field> void address(LineContext &ctx, void *target) {
  AddressWord a;
  if (parse_address(ctx.words, {}, a)) of(target).*Field = a.address;
  else if (!ctx.words.at_end()) ctx.words.next();
}

template <auto Field, class V, size_t N> void choose(LineContext &ctx, void *target, const Choice<V> (&choices)[N]) {
  if (const V *v = need_choice(ctx.words, choices)) of(target).*Field = *v;
  else if (!ctx.words.at_end()) ctx.words.next();
}

void observe(LineContext &ctx, void *target) {
  constexpr Choice<ObserveMode> modes[] = {{"layer4", ObserveMode::Layer4}, {"layer7", ObserveMode::Layer7}, {"none", ObserveMode::None}};
  choose<&ServerOptions::observe>(ctx, target, modes);
}
void on_error(LineContext &ctx, void *target) {
  constexpr Choice<OnError> modes[] = {{"fastinter", OnError::Fastinter}, {"fail-check", OnError::FailCheck},
                                       {"sudden-death", OnError::SuddenDeath}, {"mark-down", OnError::MarkDown}};
  choose<&ServerOptions::on_error>(ctx, target, modes);
}
void on_marked_down(LineContext &ctx, void *target) {
  constexpr Choice<OnMarkedDown> modes[] = {{"shutdown-sessions", OnMarkedDown::ShutdownSessions}};
  choose<&ServerOptions::on_marked_down>(ctx, target, modes);
}
void on_marked_up(LineContext &ctx, void *target) {
  constexpr Choice<OnMarkedUp> modes[] = {{"shutdown-backup-sessions", OnMarkedUp::ShutdownBackupSessions}};
  choose<&ServerOptions::on_marked_up>(ctx, target, modes);
}
void check_proto(LineContext &ctx, void *target) {
  constexpr Choice<string_view> protocols[] = {{"h1", "h1"}, {"none", "none"}};
  if (const auto *v = need_choice(ctx.words, protocols)) of(target).check_proto = *v;
  else if (!ctx.words.at_end()) ctx.words.next();
}

constexpr Standing planned = Standing::Planned;

constexpr OptionDef rows[] = {
    {"addr", "<address>", {"Address of health checks and the agent, when it is not the server's.", "", "backend app\n    server a 127.0.0.1:8001 check addr 127.0.0.2"}, address<&ServerOptions::check_addr>},
    {"agent-addr", "<address>", {"Address of the agent, when it is not the server's.", "", "backend app\n    server a 127.0.0.1:8001 agent-check agent-port 9001 agent-addr 127.0.0.2"},
     address<&ServerOptions::agent_addr>},
    {"agent-check", "", {"Asks an agent beside the server for its weight and state.", "The agent is connected to at 'agent-port' and answers a line of words such as 'up 75%'.",
     "backend app\n    server a 127.0.0.1:8001 agent-check agent-port 9001"}, set<&ServerOptions::agent_check, true>},
    {"agent-inter", "<delay>", {"Interval of the agent's checks.", "", "backend app\n    server a 127.0.0.1:8001 agent-check agent-port 9001 agent-inter 5s"}, interval<&ServerOptions::agent_inter>},
    {"agent-port", "<port>", {"Port of the agent.", "", "backend app\n    server a 127.0.0.1:8001 agent-check agent-port 9001"}, number<&ServerOptions::agent_port, 1, 65535>},
    {"agent-send", "<text>", {"Text sent to the agent when connected.", "", "backend app\n    server a 127.0.0.1:8001 agent-check agent-port 9001 agent-send \"hello\\n\""}, text<&ServerOptions::agent_send>},
    {"check", "", {"Checks the server's health.", "Without an 'option …chk' a check is a TCP connection.", "backend app\n    server a 127.0.0.1:8001 check"}, set<&ServerOptions::check, true>},
    {"check-pool-conn-name", "<name>", {"Name of a pooled connection for checks.", "", ""}, nullptr, planned},
    {"check-proto", "<name>", {"Protocol of HTTP health checks: h1.", "", "backend app\n    mode http\n    option httpchk\n    server a 127.0.0.1:8001 check check-proto h1"}, check_proto},
    {"check-reuse-pool", "", {"Checks over idle connections.", "", ""}, nullptr, planned},
    {"check-send-proxy", "", {"Health checks start with a PROXY protocol header.", "Without it they do so if the traffic does and they go to the same address and port.",
     "backend app\n    server a 127.0.0.1:8001 check check-send-proxy"}, set<&ServerOptions::check_send_proxy, true>},
    {"check-via-socks4", "", {"Health checks through the SOCKS4 proxy.", "", ""}, nullptr, planned},
    {"downinter", "<delay>", {"Interval of checks while the server is down.", "", "backend app\n    server a 127.0.0.1:8001 check inter 2s downinter 10s"}, interval<&ServerOptions::downinter>},
    {"error-limit", "<n>", {"Errors in a row, seen in traffic, after which 'on-error' happens.", "", "backend app\n    server a 127.0.0.1:8001 check observe layer4 error-limit 5"},
     number<&ServerOptions::error_limit, 1, 2'147'483'647>},
    {"fall", "<n>", {"Failed checks in a row after which the server is down.", "", "backend app\n    server a 127.0.0.1:8001 check fall 2"}, number<&ServerOptions::fall, 1, 2'147'483'647>},
    {"fastinter", "<delay>", {"Interval of checks while the server changes between up and down.", "", "backend app\n    server a 127.0.0.1:8001 check inter 5s fastinter 1s"},
     interval<&ServerOptions::fastinter>},
    {"inter", "<delay>", {"Interval of health checks.", "", "backend app\n    server a 127.0.0.1:8001 check inter 1s"}, interval<&ServerOptions::inter>},
    {"no-agent-check", "", {"Undoes 'agent-check'.", "", "backend app\n    server a 127.0.0.1:8001 no-agent-check"}, set<&ServerOptions::agent_check, false>},
    {"no-check", "", {"Undoes 'check'.", "", "backend app\n    default-server check\n    server a 127.0.0.1:8001 no-check"}, set<&ServerOptions::check, false>},
    {"no-check-reuse-pool", "", {"Undoes 'check-reuse-pool'.", "", ""}, nullptr, planned},
    {"no-check-send-proxy", "", {"Undoes 'check-send-proxy'.", "", "backend app\n    default-server check-send-proxy\n    server a 127.0.0.1:8001 check no-check-send-proxy"},
     set<&ServerOptions::check_send_proxy, false>},
    {"observe", "<layer>", {"Judges the server by its traffic too: layer4 (connections) or layer7 (HTTP responses).", "", "backend app\n    server a 127.0.0.1:8001 check observe layer4"}, observe},
    {"on-error", "<reaction>", {"What follows from 'error-limit': fastinter, fail-check, sudden-death or mark-down.", "", "backend app\n    server a 127.0.0.1:8001 check observe layer4 on-error mark-down"}, on_error},
    {"on-marked-down", "<action>", {"What happens when the server goes down: shutdown-sessions closes its connections.", "",
     "backend app\n    server a 127.0.0.1:8001 check on-marked-down shutdown-sessions"}, on_marked_down},
    {"on-marked-up", "<action>", {"What happens when the server comes up: shutdown-backup-sessions closes the connections of backup servers.", "",
     "backend app\n    server a 127.0.0.1:8001 check on-marked-up shutdown-backup-sessions"}, on_marked_up},
    {"port", "<port>", {"Port of health checks, when it is not the server's.", "", "backend app\n    server a 127.0.0.1:8001 check port 8101"}, number<&ServerOptions::check_port, 1, 65535>},
    {"rise", "<n>", {"Successful checks in a row after which the server is up.", "", "backend app\n    server a 127.0.0.1:8001 check rise 3"}, number<&ServerOptions::rise, 1, 2'147'483'647>},
    {"track", "<server>", {"Follows the state of another server: [BACKEND/]SERVER.", "", "backend a\n    server s 127.0.0.1:8001 check\nbackend b\n    server s 127.0.0.1:8001 track a/s"}, text<&ServerOptions::track>},
};
static_assert(sorted_and_documented<OptionDef>(rows));

} // namespace

std::span<const OptionDef> server_check_options() { return rows; }

} // namespace penstock
