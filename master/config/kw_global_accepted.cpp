// SPDX-License-Identifier: BSD-2-Clause
// Global keywords that are read, checked and kept, and that have nothing to act on: what they tune
// does not exist in this design (threads, memory pools), or only concerns TLS lines, which keep the
// values for their own rows. Lines that would need such a feature are refused where they stand.
#include "master/config/slots.h"
#include "shared/base/text.h"
#include "shared/table/registry.h"

namespace penstock {

namespace {

std::string rest_of_line(Words &words) {
  std::string out;
  while (!words.at_end()) out += (out.empty() ? "" : " ") + std::string(words.next());
  return out;
}

void keep(LineContext &ctx, std::string value) { ctx.config.global.tune.other[std::string(ctx.def->name)] = std::move(value); }

void keep_number(LineContext &ctx) {
  if (auto v = ctx.words.need_int("a number", 0, UINT32_MAX)) keep(ctx, std::to_string(*v));
}
void keep_size(LineContext &ctx) {
  if (auto v = ctx.words.need_size("a size")) keep(ctx, std::to_string(*v));
}
void keep_delay(LineContext &ctx) {
  if (auto v = ctx.words.need_delay("a delay")) keep(ctx, std::to_string(*v));
}
void keep_switch(LineContext &ctx) {
  auto v = ctx.words.need("'on' or 'off'");
  if (!v) return;
  if (*v != "on" && *v != "off") ctx.words.alert_last("'" + std::string(ctx.def->name) + "' expects 'on' or 'off', got '" + std::string(*v) + "'");
  keep(ctx, std::string(*v));
}
void keep_word(LineContext &ctx) {
  if (auto v = ctx.words.need("a value")) keep(ctx, std::string(*v));
}
void keep_words(LineContext &ctx) {
  if (ctx.words.at_end()) return void(ctx.words.need("a value"));
  keep(ctx, rest_of_line(ctx.words));
}
void keep_flag(LineContext &ctx) { keep(ctx, ctx.negation == Negation::No ? "off" : "on"); }

void keep_tls(LineContext &ctx) {
  if (auto v = ctx.words.need("a value")) ctx.config.global.tls[std::string(ctx.def->name)] = *v;
}
void keep_tls_words(LineContext &ctx) {
  if (ctx.words.at_end()) return void(ctx.words.need("a value"));
  ctx.config.global.tls[std::string(ctx.def->name)] = rest_of_line(ctx.words);
}
void keep_tls_flag(LineContext &ctx) { ctx.config.global.tls[std::string(ctx.def->name)] = "on"; }

constexpr KeywordDef tls(string_view name, string_view summary, string_view example, void (*parse)(LineContext &) = keep_tls) {
  return {.name = name, .sections = in_global, .doc = {.summary = summary, .text = {}, .example = example}, .parse = parse};
}
constexpr KeywordDef kept(string_view name, string_view summary, void (*parse)(LineContext &), bool negatable = false) {
  return {.name = name, .sections = in_global, .doc = {.summary = summary, .text = "Accepted; nothing here depends on it.", .example = {}}, .parse = parse, .negatable = negatable};
}

constexpr KeywordDef rows[] = {
    kept("busy-polling", "Polls without sleeping.", keep_flag, true),
    tls("ca-base", "Directory of CA and CRL files that are named by a relative path.", "global\n    ca-base /etc/ssl/certs"),
    kept("cluster-secret", "Secret that the members of a cluster share.", keep_word),
    kept("cpu-policy", "How CPUs are chosen for threads.", keep_words),
    kept("cpu-set", "Which CPUs are taken into account.", keep_words),
    tls("crt-base", "Directory of certificates that are named by a relative path.", "global\n    crt-base /etc/ssl/private"),
    kept("debug.counters", "Counts internal events for developers.", keep_switch),
    kept("force-cfg-parser-pause", "Slows the reading of the configuration down, for tests.", keep_delay),
    tls("issuers-chain-path", "Directory of issuers' certificates that complete chains.", "global\n    issuers-chain-path /etc/ssl/certs"),
    tls("key-base", "Directory of private keys that are named by a relative path.", "global\n    key-base /etc/ssl/private"),
    kept("maxzlibmem", "Memory for compression, in megabytes.", keep_number),
    kept("no-memory-trimming", "Keeps freed memory instead of giving it back to the system.", keep_flag),
    kept("no-quic", "Does without QUIC.", keep_flag),
    kept("noevports", "Does without an event engine of another system.", keep_flag),
    kept("nokqueue", "Does without an event engine of another system.", keep_flag),
    kept("numa-cpu-mapping", "Stays on the CPUs of one NUMA node.", keep_flag, true),
    kept("profiling.memory", "Counts memory allocations.", keep_switch),
    kept("profiling.tasks", "Measures tasks.", keep_word),
    kept("quick-exit", "Ends without freeing memory first.", keep_flag, true),
    tls("ssl-default-bind-ciphers", "Ciphers of TLS 1.2 and below that 'bind' lines use by default.", "global\n    ssl-default-bind-ciphers ECDHE+AESGCM"),
    tls("ssl-default-bind-ciphersuites", "Cipher suites of TLS 1.3 that 'bind' lines use by default.", "global\n    ssl-default-bind-ciphersuites TLS_AES_128_GCM_SHA256"),
    tls("ssl-default-bind-client-sigalgs", "Signature algorithms for client certificates by default.", "global\n    ssl-default-bind-client-sigalgs ECDSA+SHA256"),
    tls("ssl-default-bind-curves", "Curves that 'bind' lines use by default.", "global\n    ssl-default-bind-curves X25519:P-256"),
    tls("ssl-default-bind-options", "TLS options that 'bind' lines have by default.", "global\n    ssl-default-bind-options ssl-min-ver TLSv1.2 no-tls-tickets", keep_tls_words),
    tls("ssl-default-bind-sigalgs", "Signature algorithms that 'bind' lines use by default.", "global\n    ssl-default-bind-sigalgs ECDSA+SHA256"),
    tls("ssl-default-server-ciphers", "Ciphers of TLS 1.2 and below that 'server' lines use by default.", "global\n    ssl-default-server-ciphers ECDHE+AESGCM"),
    tls("ssl-default-server-ciphersuites", "Cipher suites of TLS 1.3 that 'server' lines use by default.", "global\n    ssl-default-server-ciphersuites TLS_AES_128_GCM_SHA256"),
    tls("ssl-default-server-client-sigalgs", "Signature algorithms for client certificates shown to servers by default.", "global\n    ssl-default-server-client-sigalgs ECDSA+SHA256"),
    tls("ssl-default-server-curves", "Curves that 'server' lines use by default.", "global\n    ssl-default-server-curves X25519:P-256"),
    tls("ssl-default-server-options", "TLS options that 'server' lines have by default.", "global\n    ssl-default-server-options ssl-min-ver TLSv1.2", keep_tls_words),
    tls("ssl-default-server-sigalgs", "Signature algorithms that 'server' lines use by default.", "global\n    ssl-default-server-sigalgs ECDSA+SHA256"),
    tls("ssl-dh-param-file", "File of Diffie-Hellman parameters.", "global\n    ssl-dh-param-file /etc/ssl/dhparams.pem"),
    tls("ssl-load-extra-del-ext", "Drops a certificate file's extension before extra files are looked for.", "global\n    ssl-load-extra-del-ext", keep_tls_flag),
    tls("ssl-load-extra-files", "Kinds of extra files that are looked for beside a certificate.", "global\n    ssl-load-extra-files all", keep_tls_words),
    tls("ssl-mode-async", "Asynchronous TLS engines.", "global\n    ssl-mode-async", keep_tls_flag),
    tls("ssl-security-level", "Security level of the TLS library.", "global\n    ssl-security-level 1"),
    tls("ssl-server-verify", "Whether servers' certificates are verified by default: 'none' or 'required'.", "global\n    ssl-server-verify required"),
    tls("ssl-skip-self-issued-ca", "Leaves self-issued CA certificates out of what is sent.", "global\n    ssl-skip-self-issued-ca", keep_tls_flag),
    kept("stress-level", "Makes rare paths frequent, for tests.", keep_number),
    kept("thread-group", "Puts threads into groups.", keep_words),
    kept("thread-groups", "Number of groups of threads.", keep_number),
    kept("thread-hard-limit", "Highest number of threads.", keep_number),
    kept("tune.applet.zero-copy-forwarding", "Zero-copy forwarding from internal services.", keep_switch),
    kept("tune.buffers.limit", "Most buffers of a process.", keep_number),
    kept("tune.buffers.reserve", "Buffers kept for emergencies.", keep_number),
    kept("tune.bufsize.small", "Size of small buffers.", keep_size),
    kept("tune.chksize", "Size of the buffers of health checks.", keep_number),
    kept("tune.disable-fast-forward", "Does without fast forwarding.", keep_flag),
    kept("tune.epoll.mask-events", "Hides events of epoll, for tests.", keep_word),
    kept("tune.events.max-events-at-once", "Most internal events handled at a time.", keep_number),
    kept("tune.fail-alloc", "Share of memory allocations that fail, for tests.", keep_number),
    kept("tune.fd.edge-triggered", "Edge-triggered events.", keep_switch),
    kept("tune.glitches.kill.cpu-usage", "CPU usage above which connections with protocol faults are closed.", keep_number),
    kept("tune.h1.zero-copy-fwd-recv", "Zero-copy receiving in HTTP/1.", keep_switch),
    kept("tune.h1.zero-copy-fwd-send", "Zero-copy sending in HTTP/1.", keep_switch),
    kept("tune.listener.default-shards", "Sockets that a 'bind' line opens.", keep_word),
    kept("tune.listener.multi-queue", "How connections are spread over threads.", keep_word),
    kept("tune.max-rules-at-once", "Most rules that run before other work gets its turn.", keep_number),
    kept("tune.memory.hot-size", "Memory kept per thread for reuse.", keep_size),
    kept("tune.notsent-lowat.client", "Data waiting in the kernel for a client below which more is sent.", keep_size),
    kept("tune.notsent-lowat.server", "Data waiting in the kernel for a server below which more is sent.", keep_size),
    kept("tune.pt.zero-copy-forwarding", "Zero-copy forwarding of plain TCP.", keep_switch),
    kept("tune.recv_enough", "Amount of data after which a read does not try again.", keep_size),
    kept("tune.renice.runtime", "Niceness after the start.", [](LineContext &ctx) { if (auto v = ctx.words.need_int("a niceness", -20, 19)) keep(ctx, std::to_string(*v)); }),
    kept("tune.renice.startup", "Niceness during the start.", [](LineContext &ctx) { if (auto v = ctx.words.need_int("a niceness", -20, 19)) keep(ctx, std::to_string(*v)); }),
    kept("tune.ring.queues", "Queues in front of a ring.", keep_number),
    kept("tune.sched.low-latency", "Prefers latency to throughput.", keep_switch),
    tls("tune.ssl.cachesize", "Sessions in the TLS cache.", "global\n    tune.ssl.cachesize 20000"),
    tls("tune.ssl.capture-buffer-size", "Room for what is captured of a TLS ClientHello.", "global\n    tune.ssl.capture-buffer-size 96"),
    tls("tune.ssl.capture-cipherlist-size", "Room for what is captured of a TLS ClientHello.", "global\n    tune.ssl.capture-cipherlist-size 96"),
    tls("tune.ssl.certificate-compression", "Compression of certificates.", "global\n    tune.ssl.certificate-compression auto"),
    tls("tune.ssl.default-dh-param", "Largest Diffie-Hellman parameters by default.", "global\n    tune.ssl.default-dh-param 2048"),
    tls("tune.ssl.force-private-cache", "A TLS cache per process.", "global\n    tune.ssl.force-private-cache", keep_tls_flag),
    tls("tune.ssl.hard-maxrecord", "Largest TLS record.", "global\n    tune.ssl.hard-maxrecord 16384"),
    tls("tune.ssl.keylog", "Keeps TLS secrets for debugging.", "global\n    tune.ssl.keylog off"),
    tls("tune.ssl.lifetime", "Lifetime of a TLS session.", "global\n    tune.ssl.lifetime 300"),
    tls("tune.ssl.maxrecord", "Largest TLS record of a connection that was idle.", "global\n    tune.ssl.maxrecord 1419"),
    tls("tune.ssl.ssl-ctx-cache-size", "Generated certificates that are kept.", "global\n    tune.ssl.ssl-ctx-cache-size 1000"),
    kept("tune.takeover-other-tg-connections", "Whether idle connections move between groups of threads.", keep_word),
    kept("tune.zlib.memlevel", "Memory level of compression.", keep_number),
    kept("tune.zlib.windowsize", "Window of compression.", keep_number),
    kept("warn-blocked-traffic-after", "Time without progress after which a warning is given.", keep_delay),
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> kw_global_accepted_rows() { return rows; }

} // namespace penstock
