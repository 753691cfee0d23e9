// SPDX-License-Identifier: BSD-2-Clause
// `option …` words that are plain switches: a bit of Opt each, `no` and `default` turn them off.
// Options with arguments or a wider effect are in kw_option_more.cpp (manual, section 4.2).
#include "master/config/kw_proxy.h"

namespace penstock {

namespace {

template <Opt Option> void flip(LineContext &ctx) {
  if (ctx.words.end()) ctx.settings->set(Option, ctx.negation == Negation::None);
}

/// Three states: asked for, ruled out, or left to the mode.
void smart_accept(LineContext &ctx) {
  if (!ctx.words.end()) return;
  ctx.settings->set(Opt::TcpSmartAccept, ctx.negation == Negation::None);
  ctx.settings->set(Opt::NoTcpSmartAccept, ctx.negation == Negation::No);
}

constexpr KeywordDef row(string_view name, u32 sections, void (*parse)(LineContext &), Doc doc, string_view modern = {}) {
  return {.name = name, .sections = sections, .doc = doc, .parse = parse,
          .standing = modern.empty() ? Standing::Current : Standing::Legacy, .negatable = true, .modern = modern};
}

constexpr KeywordDef rows[] = {
    row("option abortonclose", in_back, flip<Opt::Abortonclose>,
        {"Drops a request that waits for a server when its client has gone.", "", "backend app\n    mode http\n    option abortonclose"}),
    row("option accept-invalid-http-request", in_front, flip<Opt::AcceptUnsafeRequest>,
        {"The old name of 'option accept-unsafe-violations-in-http-request'.", "", ""}, "option accept-unsafe-violations-in-http-request"),
    row("option accept-invalid-http-response", in_back, flip<Opt::AcceptUnsafeResponse>,
        {"The old name of 'option accept-unsafe-violations-in-http-response'.", "", ""}, "option accept-unsafe-violations-in-http-response"),
    row("option accept-unsafe-violations-in-http-request", in_front, flip<Opt::AcceptUnsafeRequest>,
        {"Takes requests with forbidden characters in names, URIs and the like.", "For old clients only: it opens the door to attacks.",
         "frontend web\n    mode http\n    option accept-unsafe-violations-in-http-request"}),
    row("option accept-unsafe-violations-in-http-response", in_back, flip<Opt::AcceptUnsafeResponse>,
        {"Takes responses with forbidden characters in header names and the like.", "", "backend app\n    mode http\n    option accept-unsafe-violations-in-http-response"}),
    row("option allbackups", in_back, flip<Opt::Allbackups>,
        {"Balances over all backup servers, not only the first, when the others are down.", "", "backend app\n    option allbackups"}),
    row("option checkcache", in_back, flip<Opt::Checkcache>,
        {"Refuses responses that a cache could keep although they set a cookie.", "Such a response is replaced by 502 and logged.", "backend app\n    mode http\n    option checkcache"}),
    row("option clitcpka", in_front, flip<Opt::Clitcpka>,
        {"TCP keepalive probes towards clients.", "", "frontend web\n    option clitcpka"}),
    row("option contstats", in_front, flip<Opt::Contstats>,
        {"Counts bytes while they pass, not only when a connection ends.", "", "frontend web\n    option contstats"}),
    row("option disable-h2-upgrade", in_front, flip<Opt::DisableH2Upgrade>,
        {"Does not turn an HTTP/1 connection that starts with the HTTP/2 preface into HTTP/2.", "", "frontend web\n    mode http\n    option disable-h2-upgrade"}),
    row("option dontlog-normal", in_front, flip<Opt::DontlogNormal>,
        {"Logs only what failed, was retried or timed out.", "", "frontend web\n    option dontlog-normal"}),
    row("option dontlognull", in_front, flip<Opt::Dontlognull>,
        {"Does not log connections on which nothing was sent.", "Monitors and port scans are the usual ones.", "frontend web\n    option dontlognull"}),
    row("option h1-case-adjust-bogus-client", in_front, flip<Opt::H1CaseAdjustBogusClient>,
        {"Writes header names towards clients as 'h1-case-adjust' says.", "", "frontend web\n    mode http\n    option h1-case-adjust-bogus-client"}),
    row("option h1-case-adjust-bogus-server", in_back, flip<Opt::H1CaseAdjustBogusServer>,
        {"Writes header names towards servers as 'h1-case-adjust' says.", "", "backend app\n    mode http\n    option h1-case-adjust-bogus-server"}),
    row("option http-buffer-request", in_proxies, flip<Opt::HttpBufferRequest>,
        {"Waits for the request's body, as far as the buffer holds it, before going on.", "", "frontend web\n    mode http\n    option http-buffer-request"}),
    row("option http-drop-request-trailers", in_back, flip<Opt::HttpDropRequestTrailers>,
        {"Does not pass trailers of requests on.", "", "backend app\n    mode http\n    option http-drop-request-trailers"}),
    row("option http-drop-response-trailers", in_front, flip<Opt::HttpDropResponseTrailers>,
        {"Does not pass trailers of responses on.", "", "frontend web\n    mode http\n    option http-drop-response-trailers"}),
    row("option http-ignore-probes", in_front, flip<Opt::HttpIgnoreProbes>,
        {"Closes connections on which no request came without an answer, a log line or an error.", "Browsers open such connections in advance.",
         "frontend web\n    mode http\n    option http-ignore-probes"}),
    row("option http-no-delay", in_proxies, flip<Opt::HttpNoDelay>,
        {"Sends every piece at once instead of waiting for full segments.", "Nothing waits for full segments here, so the option changes nothing.", "frontend web\n    mode http\n    option http-no-delay"}),
    row("option http-pretend-keepalive", in_back, flip<Opt::HttpPretendKeepalive>,
        {"Does not tell the server that its connection will be closed.", "Helps servers that answer differently to 'Connection: close'.",
         "backend app\n    mode http\n    option http-server-close\n    option http-pretend-keepalive"}),
    row("option http-use-proxy-header", in_front, flip<Opt::HttpUseProxyHeader>,
        {"Treats requests whose target is neither a path nor '*' as requests to a proxy.", "Such a request is asked for its credentials by 407 and Proxy-Authenticate, not by 401.", "frontend web\n    mode http\n    option http-use-proxy-header"}),
    row("option idle-close-on-response", in_front, flip<Opt::IdleCloseOnResponse>,
        {"A stopping process closes idle client connections only after one more response.", "", "frontend web\n    mode http\n    option idle-close-on-response"}),
    row("option independent-streams", in_proxies, flip<Opt::IndependentStreams>,
        {"What is written to a side does not extend its timeout; only what it sends does.", "", "frontend web\n    option independent-streams"}),
    row("option independant-streams", in_proxies, flip<Opt::IndependentStreams>,
        {"An old spelling of 'option independent-streams'.", "", ""}, "option independent-streams"),
    row("option log-health-checks", in_back, flip<Opt::LogHealthChecks>,
        {"Logs every change in the result of a server's health checks.", "", "backend app\n    option log-health-checks"}),
    row("option log-separate-errors", in_front, flip<Opt::LogSeparateErrors>,
        {"Logs what failed at level 'err' instead of 'info'.", "", "frontend web\n    option log-separate-errors"}),
    row("option logasap", in_front, flip<Opt::Logasap>,
        {"Logs when the server's response head is there, without waiting for the end.", "Times and sizes that grow on are marked by '+'.", "frontend web\n    mode http\n    option logasap"}),
    row("option nolinger", in_proxies, flip<Opt::Nolinger>,
        {"Connections are closed at once: what was not delivered is lost.", "", "backend app\n    option nolinger"}),
    row("option persist", in_back, flip<Opt::Persist>,
        {"Sends persistent clients to their server even when it is down.", "", "backend app\n    mode http\n    option persist\n    option redispatch"}),
    row("option prefer-last-server", in_back, flip<Opt::PreferLastServer>,
        {"Keeps a client's next request on its last server's connection where balancing does not forbid.", "", "backend app\n    mode http\n    option prefer-last-server"}),
    row("option socket-stats", in_front, flip<Opt::SocketStats>,
        {"Keeps statistics of each listening address.", "", "frontend web\n    option socket-stats"}),
    row("option splice-auto", in_proxies, flip<Opt::SpliceAuto>,
        {"Lets the kernel move data between the sockets where that pays.", "That is done without being asked wherever it pays, unless splicing is switched off (-dS, nosplice).", "frontend web\n    option splice-auto"}),
    row("option splice-request", in_proxies, flip<Opt::SpliceRequest>,
        {"Lets the kernel move data from clients to servers.", "That is done without being asked wherever it pays, unless splicing is switched off (-dS, nosplice).", "frontend web\n    option splice-request"}),
    row("option splice-response", in_proxies, flip<Opt::SpliceResponse>,
        {"Lets the kernel move data from servers to clients.", "That is done without being asked wherever it pays, unless splicing is switched off (-dS, nosplice).", "frontend web\n    option splice-response"}),
    row("option srvtcpka", in_back, flip<Opt::Srvtcpka>,
        {"TCP keepalive probes towards servers.", "", "backend app\n    option srvtcpka"}),
    row("option tcp-smart-accept", in_front, smart_accept,
        {"Saves the acknowledgement of a client's first data.", "On by default in mode http, where the response carries it; 'no option' switches it off.", "frontend web\n    option tcp-smart-accept"}),
    row("option tcp-smart-connect", in_back, flip<Opt::TcpSmartConnect>,
        {"Sends the last packet of a server's handshake with the first data.", "", "backend app\n    option tcp-smart-connect"}),
    row("option transparent", in_back, flip<Opt::Transparent>,
        {"Connects to the address that the client wanted, when no server is bound to by persistence or 'use-server'.",
         "Only without a 'balance' line, which chooses among the servers instead. Addresses that are not the host's own come in through 'bind … transparent'.", "backend app\n    option transparent"}),
    row("transparent", in_back, flip<Opt::Transparent>, {"The old spelling of 'option transparent'.", "", ""}, "option transparent"),
};

} // namespace

std::span<const KeywordDef> option_keywords() { return rows; }

} // namespace penstock
