// SPDX-License-Identifier: BSD-2-Clause
#include "worker/stats/info.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "shared/base/build_info.h"
#include "shared/base/text.h"
#include "worker/log/sinks.h"

namespace penstock {

namespace {

using V = StatValue;
using S = InfoSubject;

V zero(S &) { return V::u32_of(0); }
V zero64(S &) { return V::u64_of(0); }
const ServiceRow &row(const S &s) { return s.service->row(); }

template <Counter ProcessCounters::*M> V counted(S &s) { return V::u32_of((s.process.*M).get()); }
template <Counter ProcessCounters::*M> V counted64(S &s) { return V::u64_of((s.process.*M).get()); }
template <std::atomic<u32> ServiceRow::*M> V of_row(S &s) { return V::u32_of((row(s).*M).load(std::memory_order_relaxed)); }
template <RateCounter ServiceRow::*M> V rate(S &s) { return V::u32_of((row(s).*M).read(s.now)); }

u64 uptime(const S &s) {
  i64 began = row(s).started_wall_s.load(std::memory_order_relaxed);
  return static_cast<u64>(std::max<i64>(0, s.wall_s - began));
}
V uptime_text(S &s) {
  u64 up = uptime(s);
  char text[64];
  std::snprintf(text, sizeof text, "%ud %uh%02um%02us", static_cast<u32>(up / 86400), static_cast<u32>(up / 3600 % 24),
                static_cast<u32>(up / 60 % 60), static_cast<u32>(up % 60));
  s.scratch = text;
  return V::text(s.scratch);
}

u32 descriptor_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<u32>(std::min<rlim_t>(limit.rlim_cur, ~u32{0}));
}

/// Jobs are what keeps a process from ending: connections and listening sockets.
V jobs(S &s) { return V::u32_of(row(s).conns.count() + s.process.listeners.get()); }
/// From the workers' processor time since they were asked last.
V idle_percent(S &s) {
  static i64 last_us = 0, last_busy_us = 0;
  i64 now_us = monotonic_us(), busy_us = 0;
  for (u32 slot = 0; slot < max_slots; slot++) {
    clockid_t clock;
    timespec t{};
    i32 pid = s.service->slot_in_use(slot) ? s.service->slot(slot).pid.load(std::memory_order_relaxed) : 0;
    if (pid > 0 && clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &t) == 0) busy_us += t.tv_sec * 1'000'000 + t.tv_nsec / 1000;
  }
  i64 span = (now_us - last_us) * std::max<i64>(1, s.workers), busy = std::max<i64>(0, busy_us - last_busy_us);
  bool first = last_us == 0;
  last_us = now_us, last_busy_us = busy_us;
  return V::u32_of(first || span <= 0 ? 100 : static_cast<u64>(100 - std::min<i64>(100, 100 * busy / span)));
}

constexpr InfoField fields[] = {
    {"Name", "POS", "Name of the product.", [](S &) { return V::text(product_name); }},
    {"Version", "POS", "Version of the product.", [](S &) { return V::text(product_version); }},
    {"Release_date", "POS", "Date of that version.", [](S &) { return V::text(product_date); }},
    {"Nbthread", "CGS", "Workers that serve traffic.", [](S &s) { return V::u32_of(s.workers); }},
    {"Nbproc", "CGS", "Always 1.", [](S &) { return V::u32_of(1); }},
    {"Process_num", "KGP", "Always 1.", [](S &) { return V::u32_of(1); }},
    {"Pid", "SGP", "Process that answers.", [](S &s) { return V::u32_of(s.pid); }},
    {"Uptime", "MDP", "Time since the service started, reloads included.", uptime_text},
    {"Uptime_sec", "MDP", "The same in seconds.", [](S &s) { return V::u32_of(uptime(s)); }},
    {"Memmax_MB", "CLP", "Limit of memory (-m); 0 none.", zero},
    {"PoolAlloc_MB", "MGP", "Memory in pools; not counted.", zero},
    {"PoolUsed_MB", "MGP", "Memory of pools in use; not counted.", zero},
    {"PoolFailed", "MCP", "Requests for memory that failed.", counted<&ProcessCounters::pool_fails>},
    {"Ulimit-n", "CLP", "Limit of descriptors of a process.", [](S &) { return V::u32_of(descriptor_limit()); }},
    {"Maxsock", "CLP", "Limit of sockets of a process.", [](S &) { return V::u32_of(descriptor_limit()); }},
    {"Maxconn", "CLP", "Limit of client connections, over all workers.", of_row<&ServiceRow::maxconn>},
    {"Hard_maxconn", "CLP", "The same as configured or computed at the start.", [](S &s) { return V::u32_of(s.config->global.maxconn ? s.config->global.maxconn : row(s).maxconn.load()); }},
    {"CurrConns", "MGP", "Client connections now.", [](S &s) { return V::u32_of(row(s).conns.count()); }},
    {"CumConns", "MCP", "Client connections in total.", counted<&ProcessCounters::connections>},
    {"CumReq", "MCP", "Requests in total.", counted<&ProcessCounters::requests>},
    {"MaxSslConns", "MMP", "Limit of TLS connections; 0 none.", [](S &s) { return V::u32_of(s.config->global.maxsslconn); }},
    {"CurrSslConns", "MGP", "TLS connections now.", [](S &s) { return V::u32_of(row(s).ssl_conns.count()); }},
    {"CumSslConns", "MCP", "TLS connections in total.", counted<&ProcessCounters::ssl_connections>},
    {"Maxpipes", "CLP", "Limit of pipes for splicing; 0 none.", [](S &s) { return V::u32_of(s.config->global.maxpipes); }},
    {"PipesUsed", "MGP", "Pipes in use.", counted<&ProcessCounters::pipes_used>},
    {"PipesFree", "MGP", "Pipes kept for reuse.", counted<&ProcessCounters::pipes_free>},
    {"ConnRate", "MRP", "Client connections in the last second.", rate<&ServiceRow::connection_rate>},
    {"ConnRateLimit", "CLP", "Limit of it (maxconnrate).", of_row<&ServiceRow::maxconnrate>},
    {"MaxConnRate", "MMP", "Highest of it so far.", of_row<&ServiceRow::conn_rate_max>},
    {"SessRate", "MRP", "Sessions in the last second.", rate<&ServiceRow::session_rate>},
    {"SessRateLimit", "CLP", "Limit of it (maxsessrate).", of_row<&ServiceRow::maxsessrate>},
    {"MaxSessRate", "MRP", "Highest of it so far.", of_row<&ServiceRow::sess_rate_max>},
    {"SslRate", "MRP", "TLS connections in the last second.", rate<&ServiceRow::ssl_rate>},
    {"SslRateLimit", "CLP", "Limit of it (maxsslrate).", of_row<&ServiceRow::maxsslrate>},
    {"MaxSslRate", "MMP", "Highest of it so far.", of_row<&ServiceRow::ssl_rate_max>},
    {"SslFrontendKeyRate", "MGP", "Keys made for clients in the last second.", zero},
    {"SslFrontendMaxKeyRate", "MMP", "Highest of it so far.", zero},
    {"SslFrontendSessionReuse_pct", "MGP", "Share of TLS connections of clients that resumed a session.", zero},
    {"SslBackendKeyRate", "MRP", "Keys made for servers in the last second.", zero},
    {"SslBackendMaxKeyRate", "MMP", "Highest of it so far.", zero},
    {"SslCacheLookups", "MCP", "Look-ups in the cache of TLS sessions.", counted<&ProcessCounters::ssl_cache_lookups>},
    {"SslCacheMisses", "MCP", "Those that found nothing.", counted<&ProcessCounters::ssl_cache_misses>},
    {"CompressBpsIn", "MRP", "Bytes given to the compressor in the last second.", zero},
    {"CompressBpsOut", "MRP", "Bytes that it gave.", zero},
    {"CompressBpsRateLim", "CLP", "Limit of it (maxcomprate).", [](S &s) { return V::u32_of(s.config->global.maxcomprate); }},
    {"Tasks", "MGP", "Streams and timers.", counted<&ProcessCounters::tasks>},
    {"Run_queue", "MGP", "Work that waits for its turn.", counted<&ProcessCounters::run_queue>},
    {"Idle_pct", "MaP", "Share of time that the workers slept since they were asked before.", idle_percent},
    {"node", "COS", "Name of the node (global section).", [](S &s) { return V::text(s.config->global.node); }},
    {"description", "COS", "Description (global section).", [](S &s) { return s.config->global.description.empty() ? V::none() : V::text(s.config->global.description); }},
    {"Stopping", "MGP", "1 while this generation finishes its connections.", [](S &s) { return V::u32_of(s.stopping); }},
    {"Jobs", "MGP", "Connections and listening sockets.", jobs},
    {"Unstoppable Jobs", "MGP", "Those that do not keep a process from ending.", counted<&ProcessCounters::unstoppable_jobs>},
    {"Listeners", "MGP", "Listening sockets that are polled.", counted<&ProcessCounters::listeners>},
    {"ActivePeers", "MGP", "Peers that are connected and verified.", zero},
    {"ConnectedPeers", "MGP", "Peers that are connected.", zero},
    {"DroppedLogs", "MGP", "Log lines that nobody took.", [](S &) { return V::u32_of(dropped_log_lines()); }},
    {"BusyPolling", "MGP", "Always 0.", zero},
    {"FailedResolutions", "MGP", "Names that could not be resolved.", counted<&ProcessCounters::failed_resolutions>},
    {"TotalBytesOut", "MGP", "Bytes sent in total.", counted64<&ProcessCounters::bytes_out>},
    {"TotalSplicedBytesOut", "MGP", "Those that went through a kernel pipe.", counted64<&ProcessCounters::bytes_spliced>},
    {"BytesOutRate", "MRP", "Bytes sent in the last second; not counted.", zero64},
    {"DebugCommandsIssued", "MGP", "Always 0.", zero},
    {"CumRecvLogs", "MCP", "Log messages received by log-forward sections.", zero},
    {"Build info", "POS", "What this binary was built from.", [](S &) { return V::text(product_version); }},
    {"Memmax_bytes", "CLP", "Limit of memory (-m); 0 none.", zero},
    {"PoolAlloc_bytes", "MGP", "Memory in pools; not counted.", zero64},
    {"PoolUsed_bytes", "MGP", "Memory of pools in use; not counted.", zero64},
    {"Start_time_sec", "MDP", "When the service started.", [](S &s) { return V::u32_of(static_cast<u64>(row(s).started_wall_s.load())); }},
    {"Tainted", "SGP", "Always 0.", [](S &) { return V::text("0"); }},
    {"TotalWarnings", "MCP", "Warnings given.", counted<&ProcessCounters::warnings>},
    {"MaxconnReached", "MCP", "Times that the limit of connections was met.", counted<&ProcessCounters::maxconn_reached>},
    {"BootTime_ms", "MDP", "Time from the start until the configuration was read; not measured.", zero},
    {"Niced_tasks", "MGP", "Always 0.", zero},
    {"CurrStreams", "MGP", "Streams now.", [](S &s) { return V::u64_of(s.streams_now); }},
    {"CumStreams", "MCP", "Streams in total.", [](S &s) { return V::u64_of(s.process.requests.get()); }},
    {"BlockedTrafficWarnings", "MGP", "Always 0.", zero},
};

} // namespace

std::span<const InfoField> info_fields() { return fields; }

InfoSubject read_info(const Config &config, const Service &service, Tick now, i64 wall_s) {
  InfoSubject s;
  s.config = &config;
  s.service = &service;
  s.process = service.sum_process();
  s.pid = static_cast<u32>(getpid());
  s.now = now;
  s.wall_s = wall_s;
  u32 newest = service.row().generation.load(std::memory_order_relaxed);
  for (u32 slot = 0; slot < max_slots; slot++)
    if (service.slot_in_use(slot) && service.slot(slot).generation.load(std::memory_order_relaxed) == newest) s.workers++;
  for (auto &p : config.proxies)
    if (p->is_frontend && p->front_row != no_row) s.streams_now += service.sum_proxy(p->front_row).cur_conns.get();
  return s;
}

void dump_info(std::string &out, InfoForm form, bool with_descriptions, InfoSubject &subject) {
  u32 position = 0;
  bool first = true;
  if (form == InfoForm::Json) out += '[';
  for (const InfoField &f : fields) {
    StatValue v = f.get(subject);
    u32 at = position++;
    if (v.type == StatValue::Empty) continue;
    if (form == InfoForm::Json) {
      out += first ? "{" : ",{";
      add_json_figure(out, at, f.name, f.tags, v);
      out += '}';
      first = false;
      continue;
    }
    if (form == InfoForm::Typed) ((out += std::to_string(at) += '.') += f.name) += ".1";
    else out += f.name;
    if (form == InfoForm::Typed) add_typed_figure(out, f.tags, v);
    else if (out += ": "; v.type == StatValue::Str) out += v.str;
    else add_number(out, v);
    if (with_descriptions) ((out += ":\"") += f.summary) += '"';
    out += '\n';
  }
  if (form == InfoForm::Json) out += "]\n";
}

} // namespace penstock
