// SPDX-License-Identifier: BSD-2-Clause
#include "worker/stats/fields.h"

#include <algorithm>

#include "shared/base/text.h"
#include "shared/model/check_status.h"
#include "shared/shm/server_state.h"

namespace penstock {

namespace {

using V = StatValue;
using S = StatSubject;
using P = ProxyCounters;
using C = ServerCounters;

constexpr bool of_server(const S &s) { return s.object == StatObject::Server; }
bool http(const S &s) { return s.proxy->mode == Mode::Http; }

/// A counter of frontend, backend and listener.
template <Counter P::*M> V total(S &s) { return V::u64_of((s.p.*M).get()); }
/// The same where the server has one of its own.
template <Counter P::*M, Counter C::*N> V total2(S &s) { return V::u64_of(of_server(s) ? (s.s.*N).get() : (s.p.*M).get()); }
/// Only where the proxy speaks HTTP.
template <Counter P::*M> V http_total(S &s) { return http(s) ? V::u64_of((s.p.*M).get()) : V::none(); }
template <Counter P::*M, Counter C::*N> V http_total2(S &s) { return http(s) ? total2<M, N>(s) : V::none(); }
template <Counter C::*N> V server_gauge(S &s) { return V::u32_of((s.s.*N).get()); }
V nothing(S &) { return V::none(); }
V zero64(S &) { return V::u64_of(0); }
V zero32(S &) { return V::u32_of(0); }

V age_s(const S &s, i64 since_tick) { return V::u32_of(static_cast<u64>(std::max<i64>(0, s.now - since_tick) / 1000)); }

// ------------------------------------------------------------------------------- names and states

V service_name(S &s) {
  switch (s.object) {
    case StatObject::Frontend: return V::text("FRONTEND");
    case StatObject::Backend: return V::text("BACKEND");
    case StatObject::Server: return V::text(s.server->name);
    case StatObject::Listener: return V::text(s.bind->name);
  }
  return V::none();
}

V status(S &s) {
  switch (s.object) {
    case StatObject::Server: return V::text(server_status(*s.server, *s.row, s.scratch));
    case StatObject::Backend: return V::text(s.totals.servers == 0 || s.totals.up > 0 ? "UP" : "DOWN");
    default: {
      u8 state = s.front ? s.front->state.load(std::memory_order_relaxed) : 0;
      return V::text(state == 0 ? "OPEN" : state == 1 ? "PAUSED" : "STOP");
    }
  }
}

V session_limit(S &s) {
  switch (s.object) {
    case StatObject::Frontend: return V::u32_of(s.maxconn);
    case StatObject::Backend: return V::u32_of(s.fullconn);
    case StatObject::Listener: return V::u32_of(s.bind->maxconn);
    case StatObject::Server: {
      u32 max = s.row->maxconn.load(std::memory_order_relaxed);
      return max ? V::u32_of(max) : V::none();
    }
  }
  return V::none();
}

V current_sessions(S &s) {
  if (s.object == StatObject::Frontend) return V::u32_of(s.p.cur_conns.get());
  return V::u32_of(of_server(s) ? s.s.cur_sessions.get() : s.p.cur_sessions.get());
}
V most_sessions(S &s) {
  if (s.object == StatObject::Frontend) return V::u32_of(s.front->conn_max.load(std::memory_order_relaxed));
  return V::u32_of(of_server(s) ? s.row->sess_max.load(std::memory_order_relaxed) : s.front ? s.front->sess_max.load(std::memory_order_relaxed) : 0);
}
V current_queue(S &s) { return V::u32_of(of_server(s) ? s.row->queued.load(std::memory_order_relaxed) : s.front->queued.load(std::memory_order_relaxed)); }
V longest_queue(S &s) { return V::u32_of(of_server(s) ? s.row->queue_max.load(std::memory_order_relaxed) : s.front->queue_max.load(std::memory_order_relaxed)); }

/// The weight that counts now, in units of the configuration, and its share of the full one under slow start.
u32 shown_weight(const ServerRow &row) {
  bool starting = static_cast<OpState>(row.op_state.load(std::memory_order_relaxed)) == OpState::Starting;
  return starting ? (row.effective_weight.load(std::memory_order_relaxed) + weight_scale - 1) / weight_scale : row.weight.load(std::memory_order_relaxed);
}
V weight(S &s) { return V::u32_of(of_server(s) ? shown_weight(*s.row) : s.totals.weight); }
V user_weight(S &s) { return V::u32_of(of_server(s) ? s.row->weight.load(std::memory_order_relaxed) : s.totals.user_weight); }
V throttle(S &s) {
  u32 full = s.row->weight.load(std::memory_order_relaxed) * weight_scale;
  if (static_cast<OpState>(s.row->op_state.load(std::memory_order_relaxed)) != OpState::Starting || full == 0) return V::none();
  return V::u32_of(u64{100} * s.row->effective_weight.load(std::memory_order_relaxed) / full);
}
V active(S &s) { return V::u32_of(of_server(s) ? !s.server->options->backup : s.totals.active); }
V backup(S &s) { return V::u32_of(of_server(s) ? s.server->options->backup : s.totals.backup); }

V last_change(S &s) { return age_s(s, of_server(s) ? s.row->last_change.load(std::memory_order_relaxed) : s.front->last_change.load(std::memory_order_relaxed)); }
V downs(S &s) {
  if (!of_server(s)) return V::u64_of(s.front->downs.load(std::memory_order_relaxed));
  return s.server->options->check ? V::u64_of(s.row->downs.load(std::memory_order_relaxed)) : V::none();
}
V downtime(S &s) {
  if (!of_server(s)) {
    if (s.totals.servers == 0) return V::none();
    u64 past = s.front->downtime_s.load(std::memory_order_relaxed);
    bool down = s.totals.servers > 0 && s.totals.up == 0;
    return V::u32_of(past + (down ? age_s(s, s.front->last_change.load(std::memory_order_relaxed)).num : 0));
  }
  if (!s.server->options->check) return V::none();
  u64 past = s.row->downtime_s.load(std::memory_order_relaxed);
  bool down = static_cast<OpState>(s.row->op_state.load(std::memory_order_relaxed)) == OpState::Stopped;
  return V::u32_of(past + (down ? age_s(s, s.row->last_change.load(std::memory_order_relaxed)).num : 0));
}
V last_session(S &s) {
  i64 at = of_server(s) ? s.row->last_session.load(std::memory_order_relaxed) : s.front->last_session.load(std::memory_order_relaxed);
  return V::s32_of(at ? std::max<i64>(0, s.wall_s - at) : -1);
}
V tracked(S &s) {
  if (!s.server->tracked) return V::none();
  s.scratch = s.server->tracked->proxy->name + "/" + s.server->tracked->name;
  return V::text(s.scratch);
}

V object_id(S &s) { return V::u32_of(of_server(s) ? s.server->id : s.object == StatObject::Listener ? (s.bind->id ? s.bind->id : s.bind_number) : 0); }
V address(S &s) {
  const Address &a = of_server(s) ? s.server->address : s.bind->address;
  Address changed;
  if (of_server(s) && runtime_address(*s.row, changed)) {
    s.scratch = changed.text();
    return V::text(s.scratch);
  }
  s.scratch = a.family == AF_UNIX ? "unix" : a.text();
  return V::text(s.scratch);
}
V protocol(S &s) { return V::text(s.bind->address.family == AF_UNIX ? "unix_stream" : s.bind->address.family == AF_INET6 ? "tcpv6" : "tcpv4"); }
V cookie(S &s) {
  if (of_server(s)) return s.server->cookie.empty() ? V::none() : V::text(s.server->cookie);
  return s.proxy->cookie ? V::text(s.proxy->cookie->name) : V::none();
}
V algorithm(S &s) { return V::text(balance_name(s.proxy->direct ? BalanceAlgorithm::None : s.proxy->balance.algorithm)); }
V rate_limit(S &s) { return V::u32_of(s.proxy->rate_limit_sessions.value_or(0)); }
V queue_limit(S &s) { return s.server->options->maxqueue ? V::u32_of(s.server->options->maxqueue) : V::none(); }
V idle_limit(S &s) { return s.server->options->pool_max_conn >= 0 ? V::u32_of(static_cast<u32>(s.server->options->pool_max_conn)) : V::none(); }

// -------------------------------------------------------------------------------------- checks

bool has_check(const S &s) { return s.server->options->check && s.row->check.enabled.load(std::memory_order_relaxed); }
bool has_agent(const S &s) { return s.server->options->agent_check && s.row->agent.enabled.load(std::memory_order_relaxed); }
CheckStatus status_of(const CheckReport &r) { return static_cast<CheckStatus>(r.status.load(std::memory_order_relaxed)); }

V status_code(S &s, const CheckReport &r) {
  string_view code = info_of(status_of(r)).code;
  if (!r.running.load(std::memory_order_relaxed)) return V::text(code);
  s.scratch = "* ";
  s.scratch += code;
  return V::text(s.scratch);
}
V numeric_code(const CheckReport &r) {
  u16 code = r.code.load(std::memory_order_relaxed);
  return status_of(r) >= CheckStatus::L7Timeout && code ? V::u32_of(code) : V::none();
}
V duration(const CheckReport &r) {
  return status_of(r) > CheckStatus::Initializing ? V::u64_of(r.duration_ms.load(std::memory_order_relaxed)) : V::none();
}
V said(const CheckReport &r) { return r.info[0] ? V::text(r.info) : V::none(); }

template <V (*F)(const CheckReport &)> V of_check(S &s) { return has_check(s) ? F(s.row->check) : V::none(); }
template <V (*F)(const CheckReport &)> V of_agent(S &s) { return has_agent(s) ? F(s.row->agent) : V::none(); }
V described(const CheckReport &r) { return V::text(info_of(status_of(r)).description); }
V health_of(const CheckReport &r) { return V::u32_of(r.health.load(std::memory_order_relaxed)); }
V failed_of(const CheckReport &r) { return V::u64_of(r.failed.load(std::memory_order_relaxed)); }

// --------------------------------------------------------------------------------- rates and times

V session_rate(S &s) { return V::u32_of(of_server(s) ? s.row->session_rate.read(s.now) : s.front->session_rate.read(s.now)); }
V session_rate_max(S &s) { return V::u32_of(of_server(s) ? s.row->rate_max.load(std::memory_order_relaxed) : s.front->sess_rate_max.load(std::memory_order_relaxed)); }
V request_rate(S &s) { return V::u32_of(s.front->request_rate.read(s.now)); }
V request_rate_max(S &s) { return V::u32_of(s.front->req_rate_max.load(std::memory_order_relaxed)); }
V connection_rate(S &s) { return V::u32_of(s.front->connection_rate.read(s.now)); }
V connection_rate_max(S &s) { return V::u32_of(s.front->conn_rate_max.load(std::memory_order_relaxed)); }

/// Mean of a sum of µs over the finished sessions, in ms.
template <TimeKind K> V mean(S &s) {
  return V::u32_of(((of_server(s) ? s.row->time_mean_us : s.front->time_mean_us)[static_cast<u8>(K)].read() + 500) / 1000);
}
template <TimeKind K> V longest(S &s) { return V::u32_of((of_server(s) ? s.row->time_max_ms : s.front->time_max_ms)[static_cast<u8>(K)].load(std::memory_order_relaxed)); }

V need_estimate(S &s) { return V::u32_of(s.s.used_conns.get()); }

/// Of a server: requests that it answered.
u64 responses(const C &c) {
  return c.http_1xx.get() + c.http_2xx.get() + c.http_3xx.get() + c.http_4xx.get() + c.http_5xx.get() + c.http_other.get();
}

constexpr StatField fields[] = {
    {"pxname", on_all, "KNS", "Name of the proxy.", [](S &s) { return V::text(s.proxy->name); }},
    {"svname", on_all, "KNS", "FRONTEND, BACKEND, or the name of the server or listener.", service_name},
    {"qcur", on_bs, "MGP", "Requests waiting in the queue now.", current_queue},
    {"qmax", on_bs, "MMP", "Most requests that waited at one time.", longest_queue},
    {"scur", on_all, "MGP", "Sessions now.", current_sessions},
    {"smax", on_all, "MMP", "Most sessions at one time.", most_sessions},
    {"slim", on_all, "CLP", "Limit of sessions (maxconn; a backend's fullconn).", session_limit},
    {"stot", on_all, "MCP", "Sessions in total.", total2<&P::sessions, &C::sessions>},
    {"bin", on_all, "MCP", "Bytes from clients.", total2<&P::bytes_in, &C::bytes_in>},
    {"bout", on_all, "MCP", "Bytes to clients.", total2<&P::bytes_out, &C::bytes_out>},
    {"dreq", on_fbl, "MCP", "Requests refused by rules.", total<&P::denied_req>},
    {"dresp", on_all, "MCP", "Responses refused by rules or checkcache.", total2<&P::denied_resp, &C::denied_resp>},
    {"ereq", on_fl, "MCP", "Requests that were broken, aborted or too slow.", total<&P::err_req>},
    {"econ", on_bs, "MCP", "Requests for which no connection to a server came about.", total2<&P::err_conn, &C::err_conn>},
    {"eresp", on_bs, "MCP", "Responses that were broken or cut off.", total2<&P::err_resp, &C::err_resp>},
    {"wretr", on_bs, "MCP", "Connection attempts that were repeated.", total2<&P::retries, &C::retries>},
    {"wredis", on_bs, "MCP", "Requests moved to another server.", total2<&P::redispatches, &C::redispatches>},
    {"status", on_all, "SGP", "State: OPEN, UP, DOWN, NOLB, MAINT, DRAIN, no check.", status},
    {"weight", on_bs, "MaP", "Weight in effect (of a backend: of its eligible servers).", weight},
    {"act", on_bs, "SGP", "Active servers that are up; 1 for an active server.", active},
    {"bck", on_bs, "SGP", "Backup servers that are up; 1 for a backup server.", backup},
    {"chkfail", on_s, "MCP", "Checks that failed while the server was up.", of_check<failed_of>},
    {"chkdown", on_bs, "MCP", "Transitions from up to down.", downs},
    {"lastchg", on_bs, "MAP", "Seconds since the last transition between up and down.", last_change},
    {"downtime", on_bs, "MCP", "Seconds spent down in total.", downtime},
    {"qlimit", on_s, "CLS", "Limit of the server's queue (maxqueue).", queue_limit},
    {"pid", on_all, "KGP", "Process number; always 1.", [](S &) { return V::u32_of(1); }},
    {"iid", on_all, "KGS", "Number of the proxy.", [](S &s) { return V::u32_of(s.proxy->id); }},
    {"sid", on_all, "KGS", "Number of the server or listener within its proxy.", object_id},
    {"throttle", on_s, "CaP", "Share of its weight that a slowly starting server has reached, in percent.", throttle},
    {"lbtot", on_bs, "MCP", "Times that the server was chosen.", total2<&P::selected, &C::selected>},
    {"tracked", on_s, "CNS", "Server whose state this one follows.", tracked},
    {"type", on_all, "CGS", "0 frontend, 1 backend, 2 server, 3 listener.", [](S &s) { return V::u32_of(static_cast<u32>(s.object)); }},
    {"rate", on_fbs, "MRP", "Sessions in the last second.", session_rate},
    {"rate_lim", on_f, "CLP", "Limit of new sessions per second.", rate_limit},
    {"rate_max", on_fbs, "MMP", "Most sessions in a second.", session_rate_max},
    {"check_status", on_s, "MOP", "Outcome of the last health check.", [](S &s) { return has_check(s) ? status_code(s, s.row->check) : V::none(); }},
    {"check_code", on_s, "MOP", "Status code that the last health check met.", of_check<numeric_code>},
    {"check_duration", on_s, "MDP", "Milliseconds that the last health check took.", of_check<duration>},
    {"hrsp_1xx", on_fbs, "MCP", "Responses with status 1xx.", http_total2<&P::http_1xx, &C::http_1xx>},
    {"hrsp_2xx", on_fbs, "MCP", "Responses with status 2xx.", http_total2<&P::http_2xx, &C::http_2xx>},
    {"hrsp_3xx", on_fbs, "MCP", "Responses with status 3xx.", http_total2<&P::http_3xx, &C::http_3xx>},
    {"hrsp_4xx", on_fbs, "MCP", "Responses with status 4xx.", http_total2<&P::http_4xx, &C::http_4xx>},
    {"hrsp_5xx", on_fbs, "MCP", "Responses with status 5xx.", http_total2<&P::http_5xx, &C::http_5xx>},
    {"hrsp_other", on_fbs, "MCP", "Responses with any other status.", http_total2<&P::http_other, &C::http_other>},
    {"hanafail", on_s, "SGP", "Details of failed health checks; not used.", nothing},
    {"req_rate", on_f, "MRP", "HTTP requests in the last second.", request_rate},
    {"req_rate_max", on_f, "MMP", "Most HTTP requests in a second.", request_rate_max},
    {"req_tot", on_fbs, "MCP", "HTTP requests in total.", [](S &s) { return of_server(s) ? (http(s) ? V::u64_of(responses(s.s)) : V::none()) : s.object == StatObject::Backend && !http(s) ? V::none() : V::u64_of(s.p.http_req_total.get()); }},
    {"cli_abrt", on_bs, "MCP", "Transfers that the client cut off.", total2<&P::client_aborts, &C::client_aborts>},
    {"srv_abrt", on_bs, "MCP", "Transfers that the server cut off.", total2<&P::server_aborts, &C::server_aborts>},
    {"comp_in", on_fb, "MCP", "Response bytes given to the compressor.", total<&P::comp_in>},
    {"comp_out", on_fb, "MCP", "Response bytes that the compressor gave.", total<&P::comp_out>},
    {"comp_byp", on_fb, "MCP", "Response bytes that passed the compressor by.", total<&P::comp_bypassed>},
    {"comp_rsp", on_fb, "MCP", "Responses that were compressed.", total<&P::comp_responses>},
    {"lastsess", on_bs, "MAP", "Seconds since the last session was assigned; -1: never.", last_session},
    {"last_chk", on_s, "MOP", "What the last health check said.", of_check<said>},
    {"last_agt", on_s, "MOP", "What the last agent check said.", of_agent<said>},
    {"qtime", on_bs, "MaP", "Mean time in the queue, ms.", mean<TimeKind::Queue>},
    {"ctime", on_bs, "MaP", "Mean time to connect, ms.", mean<TimeKind::Connect>},
    {"rtime", on_bs, "MaP", "Mean time to the response's head, ms.", mean<TimeKind::Response>},
    {"ttime", on_bs, "MaP", "Mean time of a whole session, ms.", mean<TimeKind::Total>},
    {"agent_status", on_s, "MOP", "Outcome of the last agent check.", [](S &s) { return has_agent(s) ? status_code(s, s.row->agent) : V::none(); }},
    {"agent_code", on_s, "MOP", "Numeric code that the agent gave.", of_agent<numeric_code>},
    {"agent_duration", on_s, "MDP", "Milliseconds that the last agent check took.", of_agent<duration>},
    {"check_desc", on_s, "MOP", "check_status in words.", of_check<described>},
    {"agent_desc", on_s, "MOP", "agent_status in words.", of_agent<described>},
    {"check_rise", on_s, "CGS", "Successful checks after which the server is up.", [](S &s) { return has_check(s) ? V::u32_of(s.server->options->rise) : V::none(); }},
    {"check_fall", on_s, "CGS", "Failed checks after which the server is down.", [](S &s) { return has_check(s) ? V::u32_of(s.server->options->fall) : V::none(); }},
    {"check_health", on_s, "CGS", "Health between 0 and rise+fall-1.", of_check<health_of>},
    {"agent_rise", on_s, "CGS", "Successful agent checks after which the server is up.", [](S &s) { return has_agent(s) ? V::u32_of(1) : V::none(); }},
    {"agent_fall", on_s, "CGS", "Failed agent checks after which the server is down.", [](S &s) { return has_agent(s) ? V::u32_of(1) : V::none(); }},
    {"agent_health", on_s, "CGS", "Health that the agent gives, between 0 and rise+fall-1.", of_agent<health_of>},
    {"addr", on_sl, "CGS", "Address and port, or \"unix\".", address},
    {"cookie", on_bs, "CNS", "The server's cookie value; the backend's cookie name.", cookie},
    {"mode", on_all, "CGS", "Mode of the proxy.", [](S &s) { return V::text(mode_name(s.proxy->mode)); }},
    {"algo", on_b, "CGS", "Balancing algorithm.", algorithm},
    {"conn_rate", on_f, "MRP", "Connections in the last second.", connection_rate},
    {"conn_rate_max", on_f, "MMP", "Most connections in a second.", connection_rate_max},
    {"conn_tot", on_fl, "MCP", "Connections in total.", total<&P::connections>},
    {"intercepted", on_f, "MCP", "Requests that the proxy answered itself.", http_total<&P::intercepted>},
    {"dcon", on_fl, "MCP", "Connections refused by tcp-request connection rules.", total<&P::denied_conn>},
    {"dses", on_fl, "MCP", "Connections refused by tcp-request session rules.", total<&P::denied_sess>},
    {"wrew", on_all, "MCP", "Header rewrites that found no room.", total2<&P::failed_header_rewrites, &C::failed_header_rewrites>},
    {"connect", on_bs, "MCP", "Attempts to connect to a server.", total2<&P::connect_attempts, &C::connect_attempts>},
    {"reuse", on_bs, "MCP", "Requests sent over a connection that was already there.", total2<&P::reused, &C::reused>},
    {"cache_lookups", on_fb, "MCP", "Look-ups in the cache.", http_total<&P::cache_lookups>},
    {"cache_hits", on_fb, "MCP", "Answers from the cache.", http_total<&P::cache_hits>},
    {"srv_icur", on_s, "MGP", "Idle connections ready for reuse.", [](S &s) { return V::u32_of(s.s.idle_conns.get() + s.s.safe_conns.get()); }},
    {"src_ilim", on_s, "CLP", "Limit of idle connections (pool-max-conn).", idle_limit},
    {"qtime_max", on_bs, "MMP", "Longest time in the queue, ms.", longest<TimeKind::Queue>},
    {"ctime_max", on_bs, "MMP", "Longest time to connect, ms.", longest<TimeKind::Connect>},
    {"rtime_max", on_bs, "MMP", "Longest time to the response's head, ms.", longest<TimeKind::Response>},
    {"ttime_max", on_bs, "MMP", "Longest session, ms.", longest<TimeKind::Total>},
    {"eint", on_all, "MCP", "Internal errors.", total2<&P::err_int, &C::err_int>},
    {"idle_conn_cur", on_s, "MGP", "Idle connections not proven safe to reuse.", server_gauge<&C::idle_conns>},
    {"safe_conn_cur", on_s, "MGP", "Idle connections proven safe to reuse.", server_gauge<&C::safe_conns>},
    {"used_conn_cur", on_s, "MGP", "Connections in use.", server_gauge<&C::used_conns>},
    {"need_conn_est", on_s, "MGP", "Estimate of the connections needed.", need_estimate},
    {"uweight", on_bs, "MaP", "Weight as the user set it (of a backend: the sum over its servers).", user_weight},
    {"agg_server_status", on_b, "MGP", "Servers that are up.", [](S &s) { return V::u32_of(s.totals.up); }},
    {"agg_server_check_status", on_b, "MGP", "Servers that are up by their checks (old name).", [](S &s) { return V::u32_of(s.totals.checked_up); }},
    {"agg_check_status", on_b, "MGP", "Servers whose last check passed.", [](S &s) { return V::u32_of(s.totals.checked_up); }},
    {"srid", on_s, "MCP", "Revision of the server's number.", zero32},
    {"sess_other", on_f, "MCP", "Sessions other than HTTP.", [](S &s) { return V::u64_of(http(s) ? 0 : s.p.sessions.get()); }},
    {"h1sess", on_f, "MCP", "HTTP/1 sessions.", [](S &s) { return V::u64_of(http(s) ? s.p.sessions.get() : 0); }},
    {"h2sess", on_f, "MCP", "HTTP/2 sessions.", zero64},
    {"h3sess", on_f, "MCP", "HTTP/3 sessions.", zero64},
    {"req_other", on_f, "MCP", "Requests other than HTTP.", zero64},
    {"h1req", on_f, "MCP", "HTTP/1 requests.", [](S &s) { return V::u64_of(s.p.http_req_total.get()); }},
    {"h2req", on_f, "MCP", "HTTP/2 requests.", zero64},
    {"h3req", on_f, "MCP", "HTTP/3 requests.", zero64},
    {"proto", on_l, "SGP", "Protocol of the listening socket.", protocol},
};

/// " 1/3" after a state that is on its way to the other one.
void add_progress(std::string &out, const Server &server, const CheckReport &check, bool up) {
  u32 rise = server.options->rise, fall = server.options->fall, health = check.health.load(std::memory_order_relaxed);
  if (up ? health >= rise + fall - 1 || health < rise : health == 0 || health >= rise) return;
  out += ' ' + std::to_string(up ? health - rise + 1 : health) + '/' + std::to_string(up ? fall : rise);
}

} // namespace

std::span<const StatField> stat_fields() { return fields; }

string_view type_word(StatValue::Type t) {
  static constexpr string_view words[] = {"", "u32", "s32", "u64", "s64", "str"};
  return words[t];
}

bool server_usable(const ServerRow &row) {
  return !(row.admin.load(std::memory_order_relaxed) & (admin_any_maint | admin_any_drain)) &&
         static_cast<OpState>(row.op_state.load(std::memory_order_relaxed)) >= OpState::Starting &&
         static_cast<OpState>(row.op_state.load(std::memory_order_relaxed)) != OpState::Stopping;
}

string_view server_status(const Server &server, const ServerRow &row, std::string &scratch) {
  u32 admin = row.admin.load(std::memory_order_relaxed);
  if (admin & admin_any_maint) {
    scratch = "MAINT";
    if (admin & admin_resolution_maint) scratch += " (resolution)";
    else if (!(admin & (admin_forced_maint | admin_config_maint)) && server.tracked)
      scratch += " (via " + server.tracked->proxy->name + "/" + server.tracked->name + ")";
    return scratch;
  }
  auto state = static_cast<OpState>(row.op_state.load(std::memory_order_relaxed));
  bool up = state != OpState::Stopped;
  bool checked = server.options->check && row.check.enabled.load(std::memory_order_relaxed);
  bool agent = server.options->agent_check && row.agent.enabled.load(std::memory_order_relaxed);
  if (up && (admin & admin_any_drain)) scratch = "DRAIN";
  else if (up && state == OpState::Stopping) scratch = "NOLB";
  else if (up && !checked && !agent && !server.tracked) return "no check";
  else scratch = up ? "UP" : "DOWN";
  if (!up && agent && row.agent.health.load(std::memory_order_relaxed) == 0) scratch += " (agent)";
  else if (checked) add_progress(scratch, server, row.check, up);
  return scratch;
}

string_view balance_name(BalanceAlgorithm a) {
  static constexpr string_view names[] = {"roundrobin", "static-rr", "leastconn", "first", "source", "uri", "url_param",
                                          "hdr", "random", "rdp-cookie", "hash", "sticky", "none"};
  return names[static_cast<u8>(a)];
}

string_view mode_name(Mode m) {
  static constexpr string_view names[] = {"tcp", "http", "log", "spop"};
  return names[static_cast<u8>(m)];
}

} // namespace penstock
