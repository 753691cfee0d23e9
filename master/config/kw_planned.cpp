// SPDX-License-Identifier: BSD-2-Clause
// Global keywords of the manual that nothing implements yet: refused as exactly that. A row leaves
// this list when another file gets one of that name (which wins in any case). Sections that are not
// supported yet stand in sections.cpp, proxy keywords in kw_proxy_planned.cpp.
#include "shared/table/registry.h"

namespace penstock {

namespace {

constexpr KeywordDef planned(string_view name, string_view summary) {
  return {.name = name, .sections = in_global, .doc = {.summary = summary}, .standing = Standing::Planned};
}

constexpr KeywordDef rows[] = {
    planned("51degrees-allow-unmatched", "Device detection by 51Degrees."),
    planned("51degrees-cache-size", "Device detection by 51Degrees."),
    planned("51degrees-data-file", "Device detection by 51Degrees."),
    planned("51degrees-difference", "Device detection by 51Degrees."),
    planned("51degrees-drift", "Device detection by 51Degrees."),
    planned("51degrees-property-name-list", "Device detection by 51Degrees."),
    planned("51degrees-property-separator", "Device detection by 51Degrees."),
    planned("51degrees-use-performance-graph", "Device detection by 51Degrees."),
    planned("51degrees-use-predictive-graph", "Device detection by 51Degrees."),
    planned("acme.scheduler", "Whether certificates are renewed automatically."),
    planned("anonkey", "Key that anonymises names in dumps."),
    planned("deviceatlas-json-file", "Device detection by DeviceAtlas."),
    planned("deviceatlas-log-level", "Device detection by DeviceAtlas."),
    planned("deviceatlas-properties-cookie", "Device detection by DeviceAtlas."),
    planned("deviceatlas-separator", "Device detection by DeviceAtlas."),
    planned("dns-accept-family", "Address families that DNS answers may have."),
    planned("h2-workaround-bogus-websocket-clients", "Hides WebSocket over HTTP/2 from clients."),
    planned("harden.reject-privileged-ports.quic", "Refuses QUIC clients that send from a port below 1024."),
    planned("httpclient.resolvers.disabled", "Resolvers of the internal HTTP client."),
    planned("httpclient.resolvers.id", "Resolvers of the internal HTTP client."),
    planned("httpclient.resolvers.prefer", "Resolvers of the internal HTTP client."),
    planned("httpclient.retries", "Retries of the internal HTTP client."),
    planned("httpclient.ssl.ca-file", "CA file of the internal HTTP client."),
    planned("httpclient.ssl.verify", "Verification of certificates by the internal HTTP client."),
    planned("httpclient.timeout.connect", "Connection timeout of the internal HTTP client."),
    planned("limited-quic", "QUIC without a suitable TLS library."),
    planned("lua-load", "Loads a Lua program."),
    planned("lua-load-per-thread", "Loads a Lua program in every worker."),
    planned("lua-prepend-path", "Search path of Lua modules."),
    planned("ocsp-update.disable", "Automatic updates of OCSP answers."),
    planned("ocsp-update.httpproxy", "Automatic updates of OCSP answers."),
    planned("ocsp-update.maxdelay", "Automatic updates of OCSP answers."),
    planned("ocsp-update.mindelay", "Automatic updates of OCSP answers."),
    planned("ocsp-update.mode", "Automatic updates of OCSP answers."),
    planned("set-var", "Sets a variable of the process."),
    planned("set-var-fmt", "Sets a variable of the process from a format."),
    planned("ssl-engine", "A TLS engine."),
    planned("ssl-propquery", "Property query for TLS algorithms."),
    planned("ssl-provider", "A provider of TLS algorithms."),
    planned("ssl-provider-path", "Directory of TLS providers."),
    planned("stats-file", "File that counters are read from at the start."),
    planned("tune.h2.be.glitches-threshold", "HTTP/2 to servers."),
    planned("tune.h2.be.initial-window-size", "HTTP/2 to servers."),
    planned("tune.h2.be.max-concurrent-streams", "HTTP/2 to servers."),
    planned("tune.h2.be.max-frames-at-once", "HTTP/2 to servers."),
    planned("tune.h2.be.rxbuf", "HTTP/2 to servers."),
    planned("tune.h2.fe.glitches-threshold", "HTTP/2 from clients."),
    planned("tune.h2.fe.initial-window-size", "HTTP/2 from clients."),
    planned("tune.h2.fe.max-concurrent-streams", "HTTP/2 from clients."),
    planned("tune.h2.fe.max-frames-at-once", "HTTP/2 from clients."),
    planned("tune.h2.fe.max-rst-at-once", "HTTP/2 from clients."),
    planned("tune.h2.fe.max-total-streams", "HTTP/2 from clients."),
    planned("tune.h2.fe.rxbuf", "HTTP/2 from clients."),
    planned("tune.h2.header-table-size", "HTTP/2."),
    planned("tune.h2.initial-window-size", "HTTP/2."),
    planned("tune.h2.log-errors", "HTTP/2."),
    planned("tune.h2.max-concurrent-streams", "HTTP/2."),
    planned("tune.h2.max-frame-size", "HTTP/2."),
    planned("tune.h2.zero-copy-fwd-send", "HTTP/2."),
    planned("tune.lua.bool-sample-conversion", "Lua."),
    planned("tune.lua.burst-timeout", "Lua."),
    planned("tune.lua.forced-yield", "Lua."),
    planned("tune.lua.log.loggers", "Lua."),
    planned("tune.lua.log.stderr", "Lua."),
    planned("tune.lua.maxmem", "Lua."),
    planned("tune.lua.service-timeout", "Lua."),
    planned("tune.lua.session-timeout", "Lua."),
    planned("tune.lua.task-timeout", "Lua."),
    planned("tune.peers.max-updates-at-once", "Stick tables shared between peers."),
    planned("tune.quic.cc-hystart", "QUIC."),
    planned("tune.quic.cc.cubic.min-losses", "QUIC."),
    planned("tune.quic.disable-tx-pacing", "QUIC."),
    planned("tune.quic.disable-udp-gso", "QUIC."),
    planned("tune.quic.frontend.conn-tx-buffers.limit", "QUIC."),
    planned("tune.quic.frontend.default-max-window-size", "QUIC."),
    planned("tune.quic.frontend.glitches-threshold", "QUIC."),
    planned("tune.quic.frontend.max-data-size", "QUIC."),
    planned("tune.quic.frontend.max-idle-timeout", "QUIC."),
    planned("tune.quic.frontend.max-streams-bidi", "QUIC."),
    planned("tune.quic.frontend.max-tx-mem", "QUIC."),
    planned("tune.quic.frontend.stream-data-ratio", "QUIC."),
    planned("tune.quic.max-frame-loss", "QUIC."),
    planned("tune.quic.reorder-ratio", "QUIC."),
    planned("tune.quic.retry-threshold", "QUIC."),
    planned("tune.quic.socket-owner", "QUIC."),
    planned("tune.quic.zero-copy-fwd-send", "QUIC."),
    planned("tune.ssl.ocsp-update.maxdelay", "Automatic updates of OCSP answers."),
    planned("tune.ssl.ocsp-update.mindelay", "Automatic updates of OCSP answers."),
    planned("wurfl-cache-size", "Device detection by WURFL."),
    planned("wurfl-data-file", "Device detection by WURFL."),
    planned("wurfl-information-list", "Device detection by WURFL."),
    planned("wurfl-information-list-separator", "Device detection by WURFL."),
    planned("wurfl-patch-file", "Device detection by WURFL."),
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> kw_planned_rows() { return rows; }

} // namespace penstock
