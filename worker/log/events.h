// SPDX-License-Identifier: BSD-2-Clause
// What happens to servers and proxies, told to the log targets of the backend (or proxy) concerned and,
// in the foreground, on standard error. Severities and wording are those that tools match. Called by
// whoever makes the change: health checks, the runtime socket, the statistics page, the master.
#pragma once

#include "shared/model/check_status.h"
#include "shared/model/config.h"
#include "worker/log/sinks.h"

namespace penstock {

/// What has just become of a server.
enum class ServerEvent : u8 { Down, Up, Stopping, Maintenance, Ready /* out of maintenance */, Drain, DrainEnd, count_ };

/// The figures that the lines end with; taken after the change.
struct ServerEventFigures {
  u32 active = 0, backup = 0; // usable servers of the backend
  u32 sessions = 0;           // still active on the server
  u32 requeued = 0, queued = 0;
};

/// The line itself, without the header: "Server be/s1 is DOWN, reason: …". `cause` is "" or begins with its
/// comma; `via`: the tracked server that took this one along.
std::string server_event_text(const Server &server, ServerEvent event, string_view cause, bool via, const ServerEventFigures &figures);
LogLevel level_of(ServerEvent event);
void log_server_event(const Server &server, ServerEvent event, string_view cause, bool via, const ServerEventFigures &figures);

/// Emergency: nothing is left to serve with.
void log_backend_empty(const Proxy &backend);

/// What a health or agent check found.
struct CheckFindings {
  CheckStatus status = CheckStatus::Unknown;
  bool passed = false, conditionally = false, agent = false;
  u16 code = 0;           // 0: none
  string_view info;       // "Connection refused"; may be empty
  u32 duration_ms = 0;
  u32 health = 0, rise = 2, fall = 3; // after this check
};
/// "reason: Layer4 check passed, check duration: 0ms" and what lies between.
std::string check_reason(const CheckFindings &f);
/// `option log-health-checks`: "Health check for server be1/srv1 succeeded, reason: …, status: 1/1 UP."
std::string check_event_text(const Server &server, const CheckFindings &f);
void log_check(const Server &server, const CheckFindings &f);

/// Warning: "Proxy x stopped (cumulated conns: FE: 3, BE: 0)."
void log_proxy_stopped(const Proxy &p, u64 front_connections, u64 back_connections);

/// Whether events also go to standard error as `[WARNING]  (pid) : …`; the master decides.
void set_events_on_stderr(bool on);

} // namespace penstock
