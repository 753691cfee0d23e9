// SPDX-License-Identifier: BSD-2-Clause
// Counts and states of frontends, backends and servers, for the whole host (manual, section 7.3.2), and
// the converters that ask by name.
#include "shared/model/config.h"
#include "shared/shm/server_state.h"
#include "worker/rules/rows.h"
#include "worker/rules/traffic.h"
#include "worker/worker.h"

namespace penstock {

namespace {

Tick now() { return this_worker() ? this_worker()->loop.now() : monotonic_ms(); }

/// The backend named by the argument, else the current one.
const Proxy *backend_of(const EvalContext &ctx, const Args &args) {
  if (args[0]) return args[0].target<Proxy>();
  if (ctx.stream && ctx.stream->backend_chosen()) return &ctx.stream->backend();
  return ctx.proxy && ctx.proxy->is_backend ? ctx.proxy : nullptr;
}
const Proxy *frontend_of(const EvalContext &ctx, const Args &args) {
  if (args[0]) return args[0].target<Proxy>();
  return ctx.session ? &ctx.session->frontend() : nullptr;
}
const ServerRow *server_of(const Args &args) {
  const Server *s = args[0].target<Server>();
  return s ? server_row(*s) : nullptr;
}

i64 usable_servers(const Proxy &p) {
  const Service *service = service_here();
  if (!service) return 0;
  ServerCount n = count_usable(*service, p);
  return n.active ? n.active : n.backup;
}

PENSTOCK_FETCH(host_connections) { return give_int(out, connections_here()); }

PENSTOCK_FETCH(nbsrv) {
  const Proxy *p = backend_of(ctx, args);
  return p && give_int(out, usable_servers(*p));
}
PENSTOCK_FETCH(queued) {
  const Proxy *p = backend_of(ctx, args);
  const ProxyRow *row = p ? back_row(*p) : nullptr;
  return row && give_int(out, row->total_queued.load(std::memory_order_relaxed));
}
/// Waiting requests per usable server; twice the queue when there is none.
PENSTOCK_FETCH(average_queue) {
  const Proxy *p = backend_of(ctx, args);
  const ProxyRow *row = p ? back_row(*p) : nullptr;
  if (!row) return false;
  i64 waiting = row->total_queued.load(std::memory_order_relaxed), servers = usable_servers(*p);
  return give_int(out, servers ? (waiting + servers - 1) / servers : waiting * 2);
}
PENSTOCK_FETCH(backend_connections) {
  const Proxy *p = backend_of(ctx, args);
  const ProxyRow *row = p ? back_row(*p) : nullptr;
  return row && give_int(out, row->conns.count());
}
PENSTOCK_FETCH(backend_rate) {
  const Proxy *p = backend_of(ctx, args);
  const ProxyRow *row = p ? back_row(*p) : nullptr;
  return row && give_int(out, row->session_rate.read(now()));
}

/// Sums what `of` says of each usable server; -1 when one has no limit.
template <class Of> bool sum_servers(const Proxy &p, Of of, i64 &sum) {
  sum = 0;
  for (bool backups : {false, true}) {
    bool any = false;
    for (const auto &s : p.servers) {
      const ServerRow *row = server_row(*s);
      if (!row || s->options->backup != backups || !is_running(*row) || is_draining(*row)) continue;
      any = true;
      i64 v = of(*row);
      if (v < 0) return sum = -1, true;
      sum += v;
    }
    if (any) return true;
  }
  return true;
}
i64 relaxed(const std::atomic<u32> &v) { return v.load(std::memory_order_relaxed); }
i64 free_slots(const ServerRow &r) { return relaxed(r.maxconn) == 0 ? -1 : std::max<i64>(0, relaxed(r.maxconn) - r.served.count()); }
i64 free_slots_and_queue(const ServerRow &r) {
  if (relaxed(r.maxconn) == 0 || relaxed(r.maxqueue) == 0) return -1;
  return free_slots(r) + std::max<i64>(0, relaxed(r.maxqueue) - relaxed(r.queued));
}
template <i64 (*of)(const ServerRow &)> bool backend_sum(EvalContext &ctx, const Args &args, FetchCursor &, Sample &out) {
  const Proxy *p = backend_of(ctx, args);
  i64 sum;
  return p && service_here() && sum_servers(*p, of, sum) && give_int(out, sum);
}

PENSTOCK_FETCH(frontend_connections) {
  const Proxy *p = frontend_of(ctx, args);
  const ProxyRow *row = p ? front_row(*p) : nullptr;
  return row && give_int(out, row->conns.count());
}
template <RateCounter ProxyRow::*rate> bool frontend_rate(EvalContext &ctx, const Args &args, FetchCursor &, Sample &out) {
  const Proxy *p = frontend_of(ctx, args);
  const ProxyRow *row = p ? front_row(*p) : nullptr;
  return row && give_int(out, (row->*rate).read(now()));
}

i64 connections(const ServerRow &r) { return r.served.count(); }
i64 waiting(const ServerRow &r) { return relaxed(r.queued); }
i64 weight_now(const ServerRow &r) { return (relaxed(r.effective_weight) + weight_scale - 1) / weight_scale; }
i64 weight_set(const ServerRow &r) { return relaxed(r.weight); }
i64 weight_configured(const ServerRow &r) { return r.configured_weight; }
i64 rate(const ServerRow &r) { return r.session_rate.read(now()); }
template <i64 (*of)(const ServerRow &)> bool server_number(EvalContext &, const Args &args, FetchCursor &, Sample &out) {
  const ServerRow *row = server_of(args);
  return row && give_int(out, of(*row));
}
PENSTOCK_FETCH(server_up) {
  const ServerRow *row = server_of(args);
  return row && give_bool(out, is_running(*row));
}

// ------------------------------------------------------------------------------ by name, at run time

const Proxy *backend_named(string_view name) {
  const Worker *w = this_worker();
  return w && w->config ? w->config->backend(name) : nullptr;
}
const ServerRow *server_named(const EvalContext &ctx, string_view text) {
  size_t slash = text.find('/');
  const Proxy *p = slash == string_view::npos ? ctx.stream ? &ctx.stream->backend() : ctx.proxy : backend_named(text.substr(0, slash));
  string_view name = slash == string_view::npos ? text : text.substr(slash + 1);
  if (p)
    for (const auto &s : p->servers)
      if (s->name == name) return server_row(*s);
  return nullptr;
}
PENSTOCK_CONVERTER(nbsrv_of) {
  const Proxy *p = backend_named(s.str);
  return p && give_int(s, usable_servers(*p));
}
PENSTOCK_CONVERTER(server_up_of) {
  const ServerRow *row = server_named(ctx, s.str);
  return row && give_bool(s, is_running(*row));
}
PENSTOCK_CONVERTER(server_queue_of) {
  const ServerRow *row = server_named(ctx, s.str);
  return row && give_int(s, relaxed(row->queued));
}

constexpr ArgSpecs be = {opt(ArgType::Backend, "backend")};
constexpr ArgSpecs fe = {opt(ArgType::Frontend, "frontend")};
constexpr ArgSpecs srv = {req(ArgType::Server, "server")};
constexpr Type I = Type::Int;
constexpr string_view of_host = "Counted over all workers of the host.";
constexpr string_view which = "The current backend unless one is named.";
constexpr FetchDef rows[] = {
    {.name = "act_conn", .out = I, .doc = {"Connections of the service.", of_host, "acl crowded act_conn gt 10000"}, .eval = host_connections},
    {.name = "avg_queue", .args = be, .out = I, .doc = {"Requests that wait in a backend, per usable server.", "Twice the queue when no server is usable.", "acl slow avg_queue gt 10"}, .eval = average_queue},
    {.name = "be_conn", .args = be, .out = I, .doc = {"Connections on a backend.", which, "acl full be_conn gt 100"}, .eval = backend_connections},
    {.name = "be_conn_free", .args = be, .out = I, .doc = {"Free connections of a backend's servers; -1 when one has no limit.", which, "acl full be_conn_free lt 5"}, .eval = backend_sum<free_slots>},
    {.name = "be_sess_rate", .args = be, .out = I, .doc = {"New sessions of a backend in the last second.", which, "acl scanned be_sess_rate gt 100"}, .eval = backend_rate},
    {.name = "connslots", .args = be, .out = I, .doc = {"Free connections and places in queues of a backend's servers; -1 when one has no limit.", which, "acl full connslots eq 0"}, .eval = backend_sum<free_slots_and_queue>},
    {.name = "fe_conn", .args = fe, .out = I, .doc = {"Connections on a frontend.", "The current one unless one is named.", "acl full fe_conn gt 1000"}, .eval = frontend_connections},
    {.name = "fe_req_rate", .args = fe, .out = I, .doc = {"Requests of a frontend in the last second.", "The current one unless one is named.", "acl fast fe_req_rate gt 1000"}, .eval = frontend_rate<&ProxyRow::request_rate>},
    {.name = "fe_sess_rate", .args = fe, .out = I, .doc = {"New sessions of a frontend in the last second.", "The current one unless one is named.", "acl fast fe_sess_rate gt 1000"}, .eval = frontend_rate<&ProxyRow::session_rate>},
    {.name = "nbsrv", .args = be, .out = I, .doc = {"Usable servers of a backend.", which, "monitor-uri /up\nmonitor fail if { nbsrv lt 1 }"}, .eval = nbsrv},
    {.name = "queue", .args = be, .out = I, .doc = {"Requests that wait in a backend.", which, "acl slow queue gt 10"}, .eval = queued},
    {.name = "srv_conn", .args = srv, .out = I, .doc = {"Connections on a server.", "", "server s1 127.0.0.1:81\nacl busy srv_conn(s1) gt 10"}, .eval = server_number<connections>},
    {.name = "srv_conn_free", .args = srv, .out = I, .doc = {"Free connections of a server; -1 without a limit.", "", "server s1 127.0.0.1:81 maxconn 10\nacl busy srv_conn_free(s1) lt 1"}, .eval = server_number<free_slots>},
    {.name = "srv_is_up", .args = srv, .out = Type::Bool, .doc = {"Whether a server is up.", "", "server s1 127.0.0.1:81\nacl up srv_is_up(s1)"}, .eval = server_up},
    {.name = "srv_iweight", .args = srv, .out = I, .doc = {"A server's configured weight.", "", "server s1 127.0.0.1:81\nacl heavy srv_iweight(s1) gt 10"}, .eval = server_number<weight_configured>},
    {.name = "srv_queue", .args = srv, .out = I, .doc = {"Requests that wait for a server.", "", "server s1 127.0.0.1:81\nacl slow srv_queue(s1) gt 10"}, .eval = server_number<waiting>},
    {.name = "srv_sess_rate", .args = srv, .out = I, .doc = {"New sessions of a server in the last second.", "", "server s1 127.0.0.1:81\nacl fast srv_sess_rate(s1) gt 50"}, .eval = server_number<rate>},
    {.name = "srv_uweight", .args = srv, .out = I, .doc = {"A server's weight as it was last set.", "", "server s1 127.0.0.1:81\nacl heavy srv_uweight(s1) gt 10"}, .eval = server_number<weight_set>},
    {.name = "srv_weight", .args = srv, .out = I, .doc = {"A server's weight now, slow start included.", "", "server s1 127.0.0.1:81\nacl heavy srv_weight(s1) gt 10"}, .eval = server_number<weight_now>},
};
static_assert(sorted_and_documented<FetchDef>(rows));

constexpr Type S = Type::Str;
constexpr ConverterDef converters[] = {
    {.name = "nbsrv", .in = S, .out = I, .doc = {"Usable servers of the backend of that name.", "", "http-request set-header X-N %[str(app),nbsrv]"}, .eval = nbsrv_of},
    {.name = "srv_is_up", .in = S, .out = Type::Bool, .doc = {"Whether the server of that name is up.", "", "http-request set-header X-Up %[str(app/s1),srv_is_up]"}, .eval = server_up_of},
    {.name = "srv_queue", .in = S, .out = I, .doc = {"Requests that wait for the server of that name.", "", "http-request set-header X-Q %[str(app/s1),srv_queue]"}, .eval = server_queue_of},
};
static_assert(sorted_and_documented<ConverterDef>(converters));

} // namespace

std::span<const FetchDef> fetch_state() { return rows; }
std::span<const ConverterDef> conv_state() { return converters; }

} // namespace penstock
