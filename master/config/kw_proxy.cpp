// SPDX-License-Identifier: BSD-2-Clause
// The plain settings of proxy sections: mode, limits, names, states. Each row fills a field of
// ProxySettings or Proxy (manual, section 4.2).
#include "master/config/choice.h"
#include "master/config/kw_proxy.h"
#include "master/config/parser.h"
#include "shared/table/registry.h"

namespace penstock {

namespace {

/// A number of connections and the like into `field`; nothing may follow.
template <auto Field> void number(LineContext &ctx) {
  auto v = ctx.words.need_int("a number", 0, 2'147'483'647);
  if (v && ctx.words.end()) ctx.settings->*Field = static_cast<u32>(*v);
}

void mode(LineContext &ctx) {
  constexpr Choice<Mode> modes[] = {{"tcp", Mode::Tcp}, {"http", Mode::Http}, {"log", Mode::Log}, {"spop", Mode::Spop}};
  if (ctx.words.peek() == "health") {
    ctx.words.alert("'mode health' was removed from the language", "write 'mode http' and 'http-request return status 200'");
    return;
  }
  const Mode *m = need_choice(ctx.words, modes);
  if (!m) return;
  if (*m == Mode::Log || *m == Mode::Spop)
    return ctx.words.alert_last("mode '" + std::string(ctx.words.all()[ctx.words.position() - 1].text) + "' is known but not implemented yet");
  if (ctx.words.end()) ctx.settings->mode = *m;
}

void retries(LineContext &ctx) {
  auto v = ctx.words.need_int("a number of attempts", 0, 2'147'483'647);
  if (v && ctx.words.end()) ctx.settings->retries = static_cast<i32>(*v);
}

void retry_on(LineContext &ctx) {
  constexpr Choice<u32> words[] = {
      {"none", retry_none},
      {"conn-failure", retry_conn_failure},
      {"empty-response", retry_empty_response},
      {"junk-response", retry_junk_response},
      {"response-timeout", retry_response_timeout},
      {"0rtt-rejected", retry_0rtt_rejected},
      {"401", retry_status_401}, {"403", retry_status_403}, {"404", retry_status_404}, {"408", retry_status_408},
      {"421", retry_status_421}, {"425", retry_status_425}, {"429", retry_status_429}, {"500", retry_status_500},
      {"501", retry_status_501}, {"502", retry_status_502}, {"503", retry_status_503}, {"504", retry_status_504},
      {"all-retryable-errors", retry_conn_failure | retry_empty_response | retry_junk_response | retry_response_timeout |
                                   retry_0rtt_rejected | retry_status_500 | retry_status_502 | retry_status_503 | retry_status_504},
  };
  u32 bits = 0;
  bool none = false;
  size_t count = 0;
  do {
    const u32 *bit = need_choice(ctx.words, words);
    if (!bit) return;
    none |= *bit == retry_none;
    bits |= *bit;
    count++;
  } while (!ctx.words.at_end());
  if (none && count > 1) return ctx.words.alert_last("'retry-on none' cannot be combined with other words");
  ctx.settings->retry_on = bits;
}

void http_reuse(LineContext &ctx) {
  constexpr Choice<HttpReuse> modes[] = {
      {"never", HttpReuse::Never}, {"safe", HttpReuse::Safe}, {"aggressive", HttpReuse::Aggressive}, {"always", HttpReuse::Always}};
  const HttpReuse *m = need_choice(ctx.words, modes);
  if (m && ctx.words.end()) ctx.settings->reuse = *m;
}

void maxconn(LineContext &ctx) {
  auto v = ctx.words.need_int("a number of connections", 0, 2'147'483'647);
  if (v && ctx.words.end()) ctx.settings->maxconn = static_cast<u32>(*v);
}

void rate_limit_sessions(LineContext &ctx) {
  auto v = ctx.words.need_int("a number of sessions per second", 0, 2'147'483'647);
  if (v && ctx.words.end()) ctx.settings->rate_limit_sessions = static_cast<u32>(*v);
}

void max_keep_alive_queue(LineContext &ctx) {
  auto v = ctx.words.need_int("a number of requests, or -1 for no limit", -1, 2'147'483'647);
  if (v && ctx.words.end()) ctx.settings->max_keep_alive_queue = static_cast<u32>(*v);
}

void id(LineContext &ctx) {
  auto v = ctx.words.need_int("a number above 0", 1, 2'147'483'647);
  if (v && ctx.words.end()) ctx.proxy->id = static_cast<u32>(*v);
}

void description(LineContext &ctx) {
  if (!ctx.words.need("a text")) return;
  ctx.words.rewind(ctx.words.position() - 1);
  ctx.settings->description = rest_of_line(ctx.words);
}

template <bool Value> void disabled(LineContext &ctx) {
  if (ctx.words.end()) ctx.settings->disabled = Value;
}

void dynamic_cookie_key(LineContext &ctx) {
  auto v = ctx.words.need("a key");
  if (v && ctx.words.end()) ctx.settings->dynamic_cookie_key = *v;
}

void server_state_file_name(LineContext &ctx) {
  auto v = ctx.words.need("the name of a file, or 'use-backend-name'");
  if (!v || !ctx.words.end()) return;
  if (*v == "use-backend-name") ctx.settings->server_state_file_name = ctx.proxy ? ctx.proxy->name : std::string();
  else ctx.settings->server_state_file_name = *v;
}

void load_server_state_from_file(LineContext &ctx) {
  enum class From : u8 { Global, Local, None };
  constexpr Choice<From> choices[] = {{"global", From::Global}, {"local", From::Local}, {"none", From::None}};
  const From *from = need_choice(ctx.words, choices);
  if (!from || !ctx.words.end()) return;
  ctx.settings->load_server_state = *from != From::None;
  ctx.settings->load_server_state_global = *from == From::Global;
}

void source(LineContext &ctx) {
  auto settings = std::make_shared<SourceSettings>();
  if (parse_source(ctx.words, *settings) && ctx.words.end()) ctx.settings->source = std::move(settings);
}

/// Keywords that the language dropped and that nothing can stand for: refused, with the cure.
void removed(LineContext &ctx) {
  ctx.diags().alert(ctx.words.line_place(), "'" + std::string(ctx.def->name) + "' was removed from the language", std::string(ctx.def->modern));
}
void monitor_net(LineContext &ctx) {
  std::string nets = rest_of_line(ctx.words);
  ctx.diags().alert(ctx.words.line_place(), "'monitor-net' was removed from the language",
                    "write 'http-request return status 200 if { src " + nets + " }'");
}

void unique_id_header(LineContext &ctx) {
  auto v = ctx.words.need("the name of a header");
  if (v && ctx.words.end()) ctx.settings->unique_id_header = *v;
}

/// A keepalive parameter of the kernel: a time in seconds or a count.
template <auto Field> void keepalive_count(LineContext &ctx) {
  auto v = ctx.words.need_int("a number of probes", 1, 127);
  if (v && ctx.words.end()) ctx.settings->*Field = static_cast<u32>(*v);
}
template <auto Field> void keepalive_time(LineContext &ctx) {
  auto v = need_delay_seconds(ctx.words);
  if (v && ctx.words.end()) ctx.settings->*Field = *v;
}

constexpr KeywordDef rows[] = {
    {.name = "appsession", .sections = in_back,
     .doc = {"Learned persistence by an application cookie; no longer in the language.", "", ""},
     .parse = removed, .modern = "use 'cookie' or 'stick on'"},
    {.name = "backlog", .sections = in_front,
     .doc = {"Length of the kernel's queue of connections that nobody accepted yet.",
             "Applies to every address of the frontend that names none of its own. The kernel caps it at net.core.somaxconn.",
             "frontend web\n    bind 127.0.0.1:8080\n    backlog 4096"},
     .parse = number<&ProxySettings::backlog>},
    {.name = "clitcpka-cnt", .sections = in_front,
     .doc = {"Unanswered keepalive probes after which a client's connection is dropped.", "", "defaults\n    option clitcpka\n    clitcpka-cnt 3"},
     .parse = keepalive_count<&ProxySettings::clitcpka_cnt>},
    {.name = "clitcpka-idle", .sections = in_front,
     .doc = {"Silence before the first keepalive probe to a client.", "The default unit is the second.", "defaults\n    option clitcpka\n    clitcpka-idle 60s"},
     .parse = keepalive_time<&ProxySettings::clitcpka_idle>},
    {.name = "clitcpka-intvl", .sections = in_front,
     .doc = {"Time between two keepalive probes to a client.", "The default unit is the second.", "defaults\n    option clitcpka\n    clitcpka-intvl 10s"},
     .parse = keepalive_time<&ProxySettings::clitcpka_intvl>},
    {.name = "description", .sections = in_frontend | in_backend | in_listen,
     .doc = {"A sentence about the proxy, shown on the statistics page.", "", "backend app\n    description Shop, Frankfurt"},
     .parse = description},
    {.name = "disabled", .sections = in_proxies,
     .doc = {"Reads the section but does not run it.", "Its addresses are not bound and nothing can be routed to it.",
             "backend old\n    disabled"},
     .parse = disabled<true>},
    {.name = "dynamic-cookie-key", .sections = in_back,
     .doc = {"Secret from which the values of dynamic persistence cookies are computed.",
             "Every proxy in front of the same servers needs the same key to agree on the values.",
             "backend app\n    mode http\n    cookie SRV insert dynamic\n    dynamic-cookie-key s3cret\n    server a 127.0.0.1:8001"},
     .parse = dynamic_cookie_key},
    {.name = "enabled", .sections = in_proxies,
     .doc = {"Undoes 'disabled' of a defaults section.", "", "defaults\n    disabled\nbackend app\n    enabled"},
     .parse = disabled<false>},
    {.name = "fullconn", .sections = in_back,
     .doc = {"Load of the backend at which its servers get their whole 'maxconn'.",
             "Below it a server with 'minconn' gets a share between 'minconn' and 'maxconn'. Without it, a tenth of what the frontends may send here.",
             "backend app\n    fullconn 1000\n    server a 127.0.0.1:8001 minconn 10 maxconn 100"},
     .parse = number<&ProxySettings::fullconn>},
    {.name = "grace", .sections = in_proxies,
     .doc = {"Time for which a stopping proxy went on to serve; now a global setting.", "", ""},
     .parse = removed, .modern = "use 'grace' in the global section"},
    {.name = "http-reuse", .sections = in_back,
     .doc = {"Whether requests of one client may use idle server connections that another client opened.",
             "'never': a connection belongs to its client. 'safe' (the default): only after the first request of a client. "
             "'aggressive': also the first, over a connection that has been reused before. 'always': whenever one is idle.",
             "backend app\n    mode http\n    http-reuse always"},
     .parse = http_reuse},
    {.name = "id", .sections = in_frontend | in_backend | in_listen,
     .doc = {"A fixed number for the proxy, used by statistics and the runtime socket.", "Numbers must be unique; proxies without one get the first that is free.", "frontend web\n    id 12"},
     .parse = id},
    {.name = "load-server-state-from-file", .sections = in_back,
     .doc = {"Where the states of servers are loaded from at start: one file for all, one per backend, or none.", "",
             "backend app\n    load-server-state-from-file none"},
     .parse = load_server_state_from_file},
    {.name = "max-keep-alive-queue", .sections = in_back,
     .doc = {"Requests that may wait for the server of a keep-alive connection before another server is preferred.", "-1 sets no limit.",
             "backend app\n    mode http\n    max-keep-alive-queue 10"},
     .parse = max_keep_alive_queue},
    {.name = "maxconn", .sections = in_front,
     .doc = {"Connections that the frontend serves at the same time, over all workers.",
             "More wait in the kernel's queue until one ends. 0 means the global limit.", "frontend web\n    maxconn 2000"},
     .parse = maxconn},
    {.name = "mode", .sections = in_proxies,
     .doc = {"What the proxy understands: 'tcp' relays bytes, 'http' reads requests and responses.",
             "A frontend and the backends that it uses must agree, but that an HTTP backend may follow a TCP frontend which switches.",
             "frontend web\n    mode http\n    bind 127.0.0.1:8080"},
     .parse = mode},
    {.name = "monitor-net", .sections = in_front,
     .doc = {"Networks of monitoring systems; no longer in the language.", "", ""}, .parse = monitor_net},
    {.name = "rate-limit sessions", .sections = in_front,
     .doc = {"New sessions per second that the frontend accepts.", "More wait in the kernel's queue. 0 sets no limit.",
             "frontend web\n    rate-limit sessions 100"},
     .parse = rate_limit_sessions},
    {.name = "retries", .sections = in_back,
     .doc = {"Attempts after the first to connect to a server before giving up.",
             "With 'option redispatch' the last of them may go to another server.", "backend app\n    retries 2"},
     .parse = retries},
    {.name = "retry-on", .sections = in_back,
     .doc = {"Failures after which a request is sent again.",
             "Words: none, conn-failure, empty-response, junk-response, response-timeout, 0rtt-rejected, a status out of 401 403 404 408 421 425 "
             "429 500 501 502 503 504, or all-retryable-errors. Only requests that fit into the buffer are repeated.",
             "backend app\n    mode http\n    retry-on conn-failure empty-response 503"},
     .parse = retry_on},
    {.name = "server-state-file-name", .sections = in_back,
     .doc = {"Name of this backend's own file of server states.", "'use-backend-name' names it after the backend.",
             "backend app\n    load-server-state-from-file local\n    server-state-file-name use-backend-name"},
     .parse = server_state_file_name},
    {.name = "source", .sections = in_back,
     .doc = {"Address (and ports) from which servers are connected to.",
             "'usesrc' makes the connection appear to come from the client, another address or an address in a header; this needs privileges. "
             "'interface' binds to a device.",
             "backend app\n    source 127.0.0.2\n    server a 127.0.0.1:8001"},
     .parse = source},
    {.name = "srvtcpka-cnt", .sections = in_back,
     .doc = {"Unanswered keepalive probes after which a server's connection is dropped.", "", "defaults\n    option srvtcpka\n    srvtcpka-cnt 3"},
     .parse = keepalive_count<&ProxySettings::srvtcpka_cnt>},
    {.name = "srvtcpka-idle", .sections = in_back,
     .doc = {"Silence before the first keepalive probe to a server.", "The default unit is the second.", "defaults\n    option srvtcpka\n    srvtcpka-idle 60s"},
     .parse = keepalive_time<&ProxySettings::srvtcpka_idle>},
    {.name = "srvtcpka-intvl", .sections = in_back,
     .doc = {"Time between two keepalive probes to a server.", "The default unit is the second.", "defaults\n    option srvtcpka\n    srvtcpka-intvl 10s"},
     .parse = keepalive_time<&ProxySettings::srvtcpka_intvl>},
    {.name = "unique-id-header", .sections = in_front,
     .doc = {"Request header that carries the unique ID to the server.", "",
             "frontend web\n    mode http\n    unique-id-format %{+X}o\\ %ci:%cp_%fi:%fp_%Ts_%rt:%pid\n    unique-id-header X-Unique-ID"},
     .parse = unique_id_header},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> proxy_keywords() { return rows; }

} // namespace penstock
