// SPDX-License-Identifier: BSD-2-Clause
// See prometheus.h. A row says which figure of `show stat` a metric shows and how; its help text is that figure's
// own summary.
#include "worker/stats/prometheus.h"

#include <algorithm>
#include <cstdio>

#include "shared/base/text.h"
#include "shared/model/check_status.h"

namespace penstock {

namespace {

/// How a figure becomes samples.
enum class Form : u8 {
  Plain,    // as it is; NaN where the object has none
  Millis,   // ms, told in seconds
  State,    // one sample per state, 1 at the one that holds
  Check,    // the same of a check's outcome; none before the first
  Agg,      // servers by state
  AggCheck, // servers by outcome of their checks
  Classes,  // one sample per class of statuses
};

struct Metric {
  string_view field;  // of `show stat`
  string_view suffix; // behind "haproxy_frontend_" and its kin
  u8 on;              // StatOn
  bool counter = false;
  Form form = Form::Plain;
};

constexpr bool total = true, gauge = false;
constexpr Metric metrics[] = {
    {"qcur", "current_queue", on_bs, gauge},
    {"qmax", "max_queue", on_bs, gauge},
    {"scur", "current_sessions", on_all, gauge},
    {"smax", "max_sessions", on_all, gauge},
    {"slim", "limit_sessions", on_all, gauge},
    {"stot", "sessions_total", on_all, total},
    {"bin", "bytes_in_total", on_all, total},
    {"bout", "bytes_out_total", on_all, total},
    {"dreq", "requests_denied_total", on_fbl, total},
    {"dresp", "responses_denied_total", on_all, total},
    {"ereq", "request_errors_total", on_fl, total},
    {"econ", "connection_errors_total", on_bs, total},
    {"eresp", "response_errors_total", on_bs, total},
    {"wretr", "retry_warnings_total", on_bs, total},
    {"wredis", "redispatch_warnings_total", on_bs, total},
    {"status", "status", on_all, gauge, Form::State},
    {"weight", "weight", on_bs, gauge},
    {"act", "active_servers", on_b, gauge},
    {"bck", "backup_servers", on_b, gauge},
    {"act", "active", on_s, gauge},
    {"bck", "backup", on_s, gauge},
    {"chkfail", "check_failures_total", on_s, total},
    {"chkdown", "check_up_down_total", on_bs, total},
    {"lastchg", "check_last_change_seconds", on_bs, gauge},
    {"downtime", "downtime_seconds_total", on_bs, total},
    {"qlimit", "queue_limit", on_s, gauge},
    {"throttle", "current_throttle", on_s, gauge},
    {"lbtot", "loadbalanced_total", on_bs, total},
    {"rate", "current_session_rate", on_fbs, gauge},
    {"rate_lim", "limit_session_rate", on_f, gauge},
    {"rate_max", "max_session_rate", on_fbs, gauge},
    {"check_status", "check_status", on_s, gauge, Form::Check},
    {"check_code", "check_code", on_s, gauge},
    {"check_duration", "check_duration_seconds", on_s, gauge, Form::Millis},
    {"hrsp_1xx", "http_responses_total", on_fbs, total, Form::Classes},
    {"req_rate_max", "http_requests_rate_max", on_f, gauge},
    {"req_tot", "http_requests_total", on_fbs, total},
    {"cli_abrt", "client_aborts_total", on_bs, total},
    {"srv_abrt", "server_aborts_total", on_bs, total},
    {"comp_in", "http_comp_bytes_in_total", on_fb, total},
    {"comp_out", "http_comp_bytes_out_total", on_fb, total},
    {"comp_byp", "http_comp_bytes_bypassed_total", on_fb, total},
    {"comp_rsp", "http_comp_responses_total", on_fb, total},
    {"lastsess", "last_session_seconds", on_bs, gauge},
    {"qtime", "queue_time_average_seconds", on_bs, gauge, Form::Millis},
    {"ctime", "connect_time_average_seconds", on_bs, gauge, Form::Millis},
    {"rtime", "response_time_average_seconds", on_bs, gauge, Form::Millis},
    {"ttime", "total_time_average_seconds", on_bs, gauge, Form::Millis},
    {"conn_rate_max", "connections_rate_max", on_f, gauge},
    {"conn_tot", "connections_total", on_fl, total},
    {"intercepted", "intercepted_requests_total", on_f, total},
    {"dcon", "denied_connections_total", on_fl, total},
    {"dses", "denied_sessions_total", on_fl, total},
    {"wrew", "failed_header_rewriting_total", on_all, total},
    {"connect", "connection_attempts_total", on_bs, total},
    {"reuse", "connection_reuses_total", on_bs, total},
    {"cache_lookups", "http_cache_lookups_total", on_fb, total},
    {"cache_hits", "http_cache_hits_total", on_fb, total},
    {"srv_icur", "idle_connections_current", on_s, gauge},
    {"src_ilim", "idle_connections_limit", on_s, gauge},
    {"qtime_max", "max_queue_time_seconds", on_bs, gauge, Form::Millis},
    {"ctime_max", "max_connect_time_seconds", on_bs, gauge, Form::Millis},
    {"rtime_max", "max_response_time_seconds", on_bs, gauge, Form::Millis},
    {"ttime_max", "max_total_time_seconds", on_bs, gauge, Form::Millis},
    {"eint", "internal_errors_total", on_all, total},
    {"idle_conn_cur", "unsafe_idle_connections_current", on_s, gauge},
    {"safe_conn_cur", "safe_idle_connections_current", on_s, gauge},
    {"used_conn_cur", "used_connections_current", on_s, gauge},
    {"need_conn_est", "need_connections_current", on_s, gauge},
    {"uweight", "uweight", on_bs, gauge},
    {"agg_server_status", "agg_server_status", on_b, gauge, Form::Agg},
    {"agg_server_check_status", "agg_server_check_status", on_b, gauge, Form::Agg},
    {"agg_check_status", "agg_check_status", on_b, gauge, Form::AggCheck},
};

struct InfoMetric {
  string_view field; // of `show info`
  string_view suffix;
  bool counter = false;
  bool labelled = false; // a text, told as a label of the sample 1
};
constexpr InfoMetric info_metrics[] = {
    {"Nbthread", "nbthread"},
    {"Nbproc", "nbproc"},
    {"Process_num", "relative_process_id"},
    {"Uptime_sec", "uptime_seconds"},
    {"PoolFailed", "pool_failures_total", total},
    {"Ulimit-n", "max_fds"},
    {"Maxsock", "max_sockets"},
    {"Maxconn", "max_connections"},
    {"Hard_maxconn", "hard_max_connections"},
    {"CurrConns", "current_connections"},
    {"CumConns", "connections_total", total},
    {"CumReq", "requests_total", total},
    {"MaxSslConns", "max_ssl_connections"},
    {"CurrSslConns", "current_ssl_connections"},
    {"CumSslConns", "ssl_connections_total", total},
    {"Maxpipes", "max_pipes"},
    {"PipesUsed", "pipes_used_total", total},
    {"PipesFree", "pipes_free_total", total},
    {"ConnRate", "current_connection_rate"},
    {"ConnRateLimit", "limit_connection_rate"},
    {"MaxConnRate", "max_connection_rate"},
    {"SessRate", "current_session_rate"},
    {"SessRateLimit", "limit_session_rate"},
    {"MaxSessRate", "max_session_rate"},
    {"SslRate", "current_ssl_rate"},
    {"SslRateLimit", "limit_ssl_rate"},
    {"MaxSslRate", "max_ssl_rate"},
    {"SslFrontendKeyRate", "current_frontend_ssl_key_rate"},
    {"SslFrontendMaxKeyRate", "max_frontend_ssl_key_rate"},
    {"SslFrontendSessionReuse_pct", "frontend_ssl_reuse"},
    {"SslBackendKeyRate", "current_backend_ssl_key_rate"},
    {"SslBackendMaxKeyRate", "max_backend_ssl_key_rate"},
    {"SslCacheLookups", "ssl_cache_lookups_total", total},
    {"SslCacheMisses", "ssl_cache_misses_total", total},
    {"CompressBpsIn", "http_comp_bytes_in_total", total},
    {"CompressBpsOut", "http_comp_bytes_out_total", total},
    {"CompressBpsRateLim", "limit_http_comp"},
    {"Tasks", "current_tasks"},
    {"Run_queue", "current_run_queue"},
    {"Idle_pct", "idle_time_percent"},
    {"node", "node", gauge, true},
    {"Stopping", "stopping"},
    {"Jobs", "jobs"},
    {"Unstoppable Jobs", "unstoppable_jobs"},
    {"Listeners", "listeners"},
    {"ActivePeers", "active_peers"},
    {"ConnectedPeers", "connected_peers"},
    {"DroppedLogs", "dropped_logs_total", total},
    {"BusyPolling", "busy_polling_enabled"},
    {"FailedResolutions", "failed_resolutions", total},
    {"TotalBytesOut", "bytes_out_total", total},
    {"TotalSplicedBytesOut", "spliced_bytes_out_total", total},
    {"BytesOutRate", "bytes_out_rate"},
    {"CumRecvLogs", "recv_logs_total", total},
    {"Build info", "build_info", gauge, true},
    {"Memmax_bytes", "max_memory_bytes"},
    {"PoolAlloc_bytes", "pool_allocated_bytes"},
    {"PoolUsed_bytes", "pool_used_bytes"},
    {"Start_time_sec", "start_time_seconds"},
    {"TotalWarnings", "total_warnings", total},
};

/// The objects in the order of the page.
struct Object {
  StatObject object;
  string_view word;
  u8 scope;
};
constexpr Object objects[] = {
    {StatObject::Frontend, "frontend", PrometheusQuery::Frontend}, {StatObject::Listener, "listener", PrometheusQuery::Listener},
    {StatObject::Backend, "backend", PrometheusQuery::Backend}, {StatObject::Server, "server", PrometheusQuery::Server},
};

const StatField *field_named(string_view name) {
  auto fields = stat_fields();
  auto at = std::find_if(fields.begin(), fields.end(), [&](const StatField &f) { return f.name == name; });
  return at == fields.end() ? nullptr : &*at;
}

void add_quoted(std::string &out, string_view text) {
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') out += "\\n";
    else out += c;
  }
}

void add_head(std::string &out, string_view name, string_view help, bool counter) {
  ((out += "# HELP ") += name) += ' ';
  if (help.ends_with('.')) help.remove_suffix(1);
  out += help;
  (((out += "\n# TYPE ") += name) += counter ? " counter" : " gauge") += '\n';
}

/// Name and labels of a sample, up to its value.
void begin_sample(std::string &out, string_view name, const StatSubject &s, string_view label = {}, string_view value = {}) {
  (out += name) += "{proxy=\"";
  add_quoted(out, s.proxy->name);
  if (s.object == StatObject::Server) out += "\",server=\"", add_quoted(out, s.server->name);
  if (s.object == StatObject::Listener) out += "\",listener=\"", add_quoted(out, s.bind->name);
  if (!label.empty()) ((((out += "\",") += label) += "=\"") += value);
  out += "\"} ";
}

void add_value(std::string &out, const StatValue &v, Form form) {
  char text[32];
  switch (v.type) {
    case StatValue::Empty:
    case StatValue::Str: out += "NaN"; break;
    case StatValue::S32:
    case StatValue::S64: out += std::to_string(static_cast<i64>(v.num)); break;
    default:
      if (form != Form::Millis) out += std::to_string(v.num);
      else out.append(text, static_cast<size_t>(std::snprintf(text, sizeof text, "%llu.%03u000", static_cast<unsigned long long>(v.num / 1000), static_cast<unsigned>(v.num % 1000))));
  }
  out += '\n';
}

void add_count(std::string &out, u64 n) { (out += std::to_string(n)) += '\n'; }

constexpr string_view server_states[] = {"DOWN", "UP", "MAINT", "DRAIN", "NOLB"};
constexpr string_view proxy_states[] = {"DOWN", "UP"};
constexpr string_view listener_states[] = {"WAITING", "OPEN", "FULL"};

/// Index in server_states.
size_t state_of(const Server &server, const ServerRow &row) {
  static std::string scratch;
  string_view status = server_status(server, row, scratch);
  for (size_t i = 0; i < std::size(server_states); i++)
    if (status.starts_with(server_states[i])) return i;
  return 1; // "no check"
}

template <size_t N> void add_states(std::string &out, string_view name, const StatSubject &s, const string_view (&states)[N], size_t now) {
  for (size_t i = 0; i < N; i++) {
    begin_sample(out, name, s, "state", states[i]);
    add_count(out, i == now);
  }
}

void add_state(std::string &out, string_view name, StatSubject &s, const StatValue &v) {
  if (s.object == StatObject::Server) return add_states(out, name, s, server_states, state_of(*s.server, *s.row));
  if (s.object == StatObject::Listener) return add_states(out, name, s, listener_states, v.str == "FULL" ? 2 : v.str == "OPEN" ? 1 : 0);
  add_states(out, name, s, proxy_states, v.str == "UP" || v.str == "OPEN" ? 1 : 0);
}

/// The outcomes of checks that are told, in the manual's order.
constexpr CheckStatus outcomes[] = {
    CheckStatus::Observed, CheckStatus::SocketError, CheckStatus::L4Ok, CheckStatus::L4Timeout, CheckStatus::L4Connect, CheckStatus::L6Ok,
    CheckStatus::L6Timeout, CheckStatus::L6Response, CheckStatus::L7Timeout, CheckStatus::L7Response, CheckStatus::L7Ok, CheckStatus::L7OkConditional,
    CheckStatus::L7Status, CheckStatus::ProcessError, CheckStatus::ProcessTimeout, CheckStatus::ProcessOk,
};
CheckStatus outcome_of(const ServerRow &row) { return static_cast<CheckStatus>(row.check.status.load(std::memory_order_relaxed)); }

void add_check(std::string &out, string_view name, const StatSubject &s) {
  if (!s.server->options->check || std::find(std::begin(outcomes), std::end(outcomes), outcome_of(*s.row)) == std::end(outcomes)) return;
  for (CheckStatus c : outcomes) {
    begin_sample(out, name, s, "state", info_of(c).code);
    add_count(out, c == outcome_of(*s.row));
  }
}

void add_aggregate(std::string &out, string_view name, const StatSubject &s, const Service &service, bool checks) {
  if (s.proxy->servers.empty()) return;
  u32 by_state[std::size(server_states)] = {}, by_outcome[std::size(outcomes)] = {};
  for (const auto &server : s.proxy->servers) {
    if (server->row == no_row) continue;
    const ServerRow &row = service.server(server->row);
    by_state[state_of(*server, row)]++;
    if (server->options->check)
      for (size_t i = 0; i < std::size(outcomes); i++) by_outcome[i] += outcomes[i] == outcome_of(row);
  }
  for (size_t i = 0; i < (checks ? std::size(outcomes) : std::size(server_states)); i++) {
    begin_sample(out, name, s, "state", checks ? info_of(outcomes[i]).code : server_states[i]);
    add_count(out, checks ? by_outcome[i] : by_state[i]);
  }
}

struct StatusClass {
  string_view label;
  Counter ProxyCounters::*of_proxy;
  Counter ServerCounters::*of_server;
};
constexpr StatusClass classes[] = {
    {"1xx", &ProxyCounters::http_1xx, &ServerCounters::http_1xx}, {"2xx", &ProxyCounters::http_2xx, &ServerCounters::http_2xx},
    {"3xx", &ProxyCounters::http_3xx, &ServerCounters::http_3xx}, {"4xx", &ProxyCounters::http_4xx, &ServerCounters::http_4xx},
    {"5xx", &ProxyCounters::http_5xx, &ServerCounters::http_5xx}, {"other", &ProxyCounters::http_other, &ServerCounters::http_other},
};

void add_classes(std::string &out, string_view name, const StatSubject &s) {
  for (const StatusClass &c : classes) {
    begin_sample(out, name, s, "code", c.label);
    add_count(out, s.object == StatObject::Server ? (s.s.*c.of_server).get() : (s.p.*c.of_proxy).get());
  }
}

void add_samples(std::string &out, string_view name, const Metric &m, const StatField &field, StatSubject &s, const Service &service) {
  bool about_http = m.suffix.starts_with("http_") || m.suffix.starts_with("intercepted");
  if (about_http && s.proxy->mode != Mode::Http) return;
  StatValue v = field.on >> static_cast<u8>(s.object) & 1 ? field.get(s) : StatValue::none();
  switch (m.form) {
    case Form::State: return add_state(out, name, s, v);
    case Form::Check: return add_check(out, name, s);
    case Form::Agg:
    case Form::AggCheck: return add_aggregate(out, name, s, service, m.form == Form::AggCheck);
    case Form::Classes: return add_classes(out, name, s);
    case Form::Plain:
    case Form::Millis: break;
  }
  bool about_check = m.suffix == "check_code" || m.suffix == "check_duration_seconds";
  if (about_check && v.type == StatValue::Empty) return; // none was made
  begin_sample(out, name, s);
  add_value(out, v, m.form);
}

struct ScopeWord {
  string_view word;
  u8 scopes;
};
constexpr ScopeWord scope_words[] = {
    {"*", PrometheusQuery::All}, {"backend", PrometheusQuery::Backend}, {"frontend", PrometheusQuery::Frontend}, {"global", PrometheusQuery::Global},
    {"listener", PrometheusQuery::Listener}, {"server", PrometheusQuery::Server}, {"sticktable", 0},
};

} // namespace

bool PrometheusQuery::wants(string_view metric) const {
  if (std::find(without.begin(), without.end(), metric) != without.end()) return false;
  return only.empty() || std::find(only.begin(), only.end(), metric) != only.end();
}

bool parse_prometheus_query(string_view query, PrometheusQuery &out) {
  bool scoped = false;
  for (string_view part : split(query, '&')) {
    string_view name = part.substr(0, part.find('=')), value = name.size() < part.size() ? part.substr(name.size() + 1) : string_view();
    if (name == "no-maint") out.no_maint = true;
    if (name == "metrics")
      for (string_view metric : split(value, ','))
        if (!metric.empty()) metric.starts_with('-') ? out.without.emplace_back(metric.substr(1)) : out.only.emplace_back(metric);
    if (name != "scope") continue;
    if (!scoped) out.scopes = 0;
    scoped = true;
    if (value.empty()) { // forgets those before
      out.scopes = 0;
      continue;
    }
    auto at = std::find_if(std::begin(scope_words), std::end(scope_words), [&](const ScopeWord &w) { return w.word == value; });
    if (at == std::end(scope_words)) return false;
    out.scopes |= at->scopes;
  }
  return true;
}

PrometheusPage::PrometheusPage(const Config &config, const Service &service, PrometheusQuery query, Tick now, i64 wall_s)
    : config_(config), service_(service), query_(std::move(query)), now_(now), wall_s_(wall_s), info_(read_info(config, service, now, wall_s)) {
  if (!(query_.scopes & PrometheusQuery::Global)) info_at_ = std::size(info_metrics);
}

bool PrometheusPage::next_info(std::string &out) {
  const InfoMetric &m = info_metrics[info_at_++];
  std::string name = "haproxy_process_" + std::string(m.suffix);
  if (!query_.wants(name)) return true;
  for (const InfoField &f : info_fields()) {
    if (f.name != m.field) continue;
    StatValue v = f.get(info_);
    add_head(out, name, f.summary, m.counter);
    out += name;
    if (m.labelled) {
      ((out += "{") += m.suffix == "node" ? "node" : "version") += "=\"";
      add_quoted(out, v.str);
      out += "\"} 1\n";
    } else {
      out += ' ';
      add_value(out, v, Form::Plain);
    }
  }
  return true;
}

/// All samples of the next metric of the present kind of objects.
bool PrometheusPage::next_metric(std::string &out) {
  const Object &object = objects[object_];
  if (metric_ == std::size(metrics) || !(query_.scopes & object.scope)) {
    metric_ = 0;
    return ++object_ < std::size(objects);
  }
  const Metric &m = metrics[metric_++];
  const StatField *field = field_named(m.field);
  if (!(m.on >> static_cast<u8>(object.object) & 1) || field == nullptr) return true;
  std::string name = "haproxy_" + std::string(object.word) + "_" + std::string(m.suffix);
  if (!query_.wants(name)) return true;
  StatFilter filter;
  filter.no_maint = query_.no_maint;
  filter.types = object.object == StatObject::Frontend ? 1 : object.object == StatObject::Backend ? 2 : 4;
  StatCursor cursor(config_, service_, filter);
  cursor.set_time(now_, wall_s_);
  std::string samples;
  while (cursor.next(subject_))
    if (subject_.object == object.object) add_samples(samples, name, m, *field, subject_, service_);
  if (samples.empty()) return true;
  add_head(out, name, field->summary, m.counter);
  out += samples;
  return true;
}

bool PrometheusPage::next(std::string &out) {
  if (info_at_ < std::size(info_metrics)) return next_info(out);
  return object_ < std::size(objects) && next_metric(out);
}

} // namespace penstock
