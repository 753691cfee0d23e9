// SPDX-License-Identifier: BSD-2-Clause
// `timeout …` of proxy sections, and the one-word timeouts of old configurations (manual, 4.2).
#include "master/config/kw_proxy.h"
#include "shared/table/registry.h"

namespace penstock {

namespace {

/// A timeout of 0 is the language's way to say "none".
template <Millis Timeouts::*Field> void set_timeout(LineContext &ctx) {
  auto v = ctx.words.need_delay("a delay");
  if (v && ctx.words.end()) ctx.settings->timeout.*Field = *v == 0 ? eternity : *v;
}

constexpr KeywordDef rows[] = {
    {.name = "clitimeout", .sections = in_front, .doc = {"The old spelling of 'timeout client'.", "", ""},
     .parse = set_timeout<&Timeouts::client>, .standing = Standing::Legacy, .modern = "timeout client"},
    {.name = "contimeout", .sections = in_back, .doc = {"The old spelling of 'timeout connect'.", "", ""},
     .parse = set_timeout<&Timeouts::connect>, .standing = Standing::Legacy, .modern = "timeout connect"},
    {.name = "srvtimeout", .sections = in_back, .doc = {"The old spelling of 'timeout server'.", "", ""},
     .parse = set_timeout<&Timeouts::server>, .standing = Standing::Legacy, .modern = "timeout server"},
    {.name = "timeout check", .sections = in_back,
     .doc = {"Time for a health check's answer once it is connected.",
             "Without it, the check's interval bounds the whole check. With it, connecting is bounded by the smaller of 'timeout connect' and 'inter'.",
             "backend app\n    timeout check 2s\n    server a 127.0.0.1:8001 check"},
     .parse = set_timeout<&Timeouts::check>},
    {.name = "timeout client", .sections = in_front,
     .doc = {"Silence of a client after which its connection is closed.",
             "Counts while data, an acknowledgement or, in HTTP, more of a request is awaited from the client.", "defaults\n    timeout client 30s"},
     .parse = set_timeout<&Timeouts::client>},
    {.name = "timeout client-fin", .sections = in_front,
     .doc = {"The client's timeout once one direction has been shut down.", "", "defaults\n    timeout client-fin 5s"},
     .parse = set_timeout<&Timeouts::client_fin>},
    {.name = "timeout client-hs", .sections = in_front,
     .doc = {"Time for a client to complete its handshakes (PROXY protocol, TLS).", "Without it 'timeout client' applies.", "defaults\n    timeout client-hs 5s"},
     .parse = set_timeout<&Timeouts::client_hs>},
    {.name = "timeout clitimeout", .sections = in_front, .doc = {"An old spelling of 'timeout client'.", "", ""},
     .parse = set_timeout<&Timeouts::client>, .standing = Standing::Legacy, .modern = "timeout client"},
    {.name = "timeout connect", .sections = in_back,
     .doc = {"Time for a connection to a server to be established.", "A failed attempt counts towards 'retries'.", "defaults\n    timeout connect 4s"},
     .parse = set_timeout<&Timeouts::connect>},
    {.name = "timeout contimeout", .sections = in_back, .doc = {"An old spelling of 'timeout connect'.", "", ""},
     .parse = set_timeout<&Timeouts::connect>, .standing = Standing::Legacy, .modern = "timeout connect"},
    {.name = "timeout http-keep-alive", .sections = in_proxies,
     .doc = {"Time that a client's idle connection waits for the next request.", "Without it 'timeout http-request' applies, then 'timeout client'.",
             "defaults\n    mode http\n    timeout http-keep-alive 5s"},
     .parse = set_timeout<&Timeouts::http_keep_alive>},
    {.name = "timeout http-request", .sections = in_proxies,
     .doc = {"Time for a client to send the whole head of a request.", "It starts with the first byte and is not extended by more of them; slow senders get 408.",
             "defaults\n    mode http\n    timeout http-request 5s"},
     .parse = set_timeout<&Timeouts::http_request>},
    {.name = "timeout queue", .sections = in_back,
     .doc = {"Time that a request waits for a free place at a server before it is answered with 503.", "Without it 'timeout connect' applies.",
             "defaults\n    timeout queue 10s"},
     .parse = set_timeout<&Timeouts::queue>},
    {.name = "timeout server", .sections = in_back,
     .doc = {"Silence of a server after which its connection is closed.", "In HTTP it bounds the wait for the response's head (504).", "defaults\n    timeout server 30s"},
     .parse = set_timeout<&Timeouts::server>},
    {.name = "timeout server-fin", .sections = in_back,
     .doc = {"The server's timeout once one direction has been shut down.", "", "defaults\n    timeout server-fin 5s"},
     .parse = set_timeout<&Timeouts::server_fin>},
    {.name = "timeout srvtimeout", .sections = in_back, .doc = {"An old spelling of 'timeout server'.", "", ""},
     .parse = set_timeout<&Timeouts::server>, .standing = Standing::Legacy, .modern = "timeout server"},
    {.name = "timeout tarpit", .sections = in_proxies,
     .doc = {"Time that a tarpitted request is held before it is answered.", "Without it 'timeout connect' applies.", "defaults\n    timeout tarpit 20s"},
     .parse = set_timeout<&Timeouts::tarpit>},
    {.name = "timeout tunnel", .sections = in_back,
     .doc = {"Silence on both sides after which a tunnel is closed.",
             "It takes the place of the client's and server's timeouts once a connection carries data in both directions, has been upgraded or is a CONNECT.",
             "defaults\n    timeout tunnel 1h"},
     .parse = set_timeout<&Timeouts::tunnel>},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> proxy_timeout_keywords() { return rows; }

} // namespace penstock
