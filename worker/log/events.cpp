// SPDX-License-Identifier: BSD-2-Clause
#include "worker/log/events.h"

#include <unistd.h>

#include <cstdio>

namespace penstock {

namespace {

bool on_stderr = false;

void tell(const Proxy &p, LogLevel level, const std::string &text) {
  if (on_stderr) {
    const char *word = level <= LogLevel::Emerg ? "[ALERT]   " : "[WARNING] ";
    std::fprintf(stderr, "%s (%d) : %s\n", word, static_cast<int>(getpid()), text.c_str());
  }
  log_line(p, level, text);
}

std::string server_label(const Server &s) { return s.proxy->name + "/" + s.name; }
std::string number(u64 n) { return std::to_string(n); }

struct EventWords {
  string_view after_name; // of "Server be/s1"
  LogLevel level;
  bool going_down;        // ends with "left." and what is lost, else with "online."
  bool plain;             // no figures at all
};
constexpr EventWords words[] = {
    {" is DOWN", LogLevel::Alert, true, false},
    {" is UP", LogLevel::Notice, false, false},
    {" is stopping", LogLevel::Notice, false, false},
    {" is going DOWN for maintenance", LogLevel::Alert, true, false},
    {" is UP/READY", LogLevel::Notice, false, true},
    {" enters drain state", LogLevel::Notice, false, false},
    {" is UP", LogLevel::Notice, false, true},
};
static_assert(sizeof words / sizeof *words == static_cast<size_t>(ServerEvent::count_));

/// "(leaving forced maintenance)": why a server is back.
string_view leaving(ServerEvent e, bool via) {
  if (e == ServerEvent::Ready) return via ? " (leaving maintenance)" : " (leaving forced maintenance)";
  if (e == ServerEvent::DrainEnd) return via ? " (leaving drain)" : " (leaving forced drain)";
  return {};
}

} // namespace

void set_events_on_stderr(bool on) { on_stderr = on; }

LogLevel level_of(ServerEvent event) { return words[static_cast<u8>(event)].level; }

std::string server_event_text(const Server &server, ServerEvent event, string_view cause, bool via, const ServerEventFigures &f) {
  const EventWords &w = words[static_cast<u8>(event)];
  std::string out = server.options->backup ? "Backup Server " : "Server ";
  out += server_label(server);
  out += w.after_name;
  out += leaving(event, via);
  // Who leaves maintenance with its leader says so without naming it.
  if (via && server.tracked && event != ServerEvent::Ready) out += " via " + server_label(*server.tracked);
  if (!via) out += cause;
  out += '.';
  if (w.plain) return out;
  out += ' ' + number(f.active) + " active and " + number(f.backup) + " backup servers " + (w.going_down ? "left." : "online.");
  if (f.active == 0 && f.backup > 0) out += " Running on backup.";
  if (w.going_down)
    out += ' ' + number(f.sessions) + " sessions active, " + number(f.requeued) + " requeued, " + number(f.queued) + " remaining in queue.";
  else
    out += ' ' + number(f.requeued) + " sessions requeued, " + number(f.queued) + " total in queue.";
  return out;
}

void log_server_event(const Server &server, ServerEvent event, string_view cause, bool via, const ServerEventFigures &figures) {
  tell(*server.proxy, level_of(event), server_event_text(server, event, cause, via, figures));
}

void log_backend_empty(const Proxy &backend) {
  tell(backend, LogLevel::Emerg, (backend.is_frontend ? "proxy " : "backend ") + backend.name + " has no server available!");
}

std::string check_reason(const CheckFindings &f) {
  std::string out = "reason: ";
  out += info_of(f.status).description;
  if (f.status >= CheckStatus::L7Timeout && f.code) out += ", code: " + number(f.code);
  if (!f.info.empty()) (out += ", info: \"") += f.info, out += '"';
  out += ", check duration: " + number(f.duration_ms) + "ms";
  return out;
}

std::string check_event_text(const Server &server, const CheckFindings &f) {
  bool up = f.health >= f.rise;
  std::string out = f.agent ? "Agent check for " : "Health check for ";
  out += server.options->backup ? "backup server " : "server ";
  out += server_label(server) + (!f.passed ? " failed, " : f.conditionally ? " conditionally succeeded, " : " succeeded, ");
  out += check_reason(f) + ", status: ";
  out += number(up ? f.health - f.rise + 1 : f.health) + '/' + number(up ? f.fall : f.rise) + (up ? " UP." : " DOWN.");
  return out;
}

void log_check(const Server &server, const CheckFindings &f) { tell(*server.proxy, LogLevel::Notice, check_event_text(server, f)); }

void log_proxy_stopped(const Proxy &p, u64 front_connections, u64 back_connections) {
  tell(p, LogLevel::Warning, "Proxy " + p.name + " stopped (cumulated conns: FE: " + number(front_connections) + ", BE: " + number(back_connections) + ").");
}

} // namespace penstock
