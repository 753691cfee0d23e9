// SPDX-License-Identifier: BSD-2-Clause
// Global tune.* keywords that change something here (manual 3.2). Those that tune what this design
// does not have are in kw_global_accepted.cpp.
#include "master/config/slots.h"
#include "shared/base/switches.h"
#include "shared/base/text.h"
#include "shared/table/registry.h"

namespace penstock {

namespace {

constexpr i64 max_number = INT32_MAX;
constexpr u64 max_size = INT32_MAX;

/// An optional EXPERIMENTAL-style word alone: the keyword switches zero-copy forwarding off.
void disable_zero_copy(LineContext &ctx) { switches.splice = ctx.negation == Negation::No; }

void idle_timer(LineContext &ctx) {
  auto v = ctx.words.need_delay("a delay");
  if (!v) return;
  if (*v > 65535) return ctx.words.alert_last("'tune.idletimer' must be from 0 to 65535 ms");
  ctx.config.global.tune.idletimer_ms = static_cast<u32>(*v);
}

void max_http_headers(LineContext &ctx) {
  if (auto v = ctx.words.need_int("a number", 1, 32767)) ctx.config.global.tune.http_maxhdr = static_cast<u32>(*v);
}

constexpr KeywordDef rows[] = {
    {.name = "tune.bufsize", .sections = in_global,
     .doc = {.summary = "Size of a buffer; with tune.maxrewrite it bounds the size of a request's or response's head.",
             .text = "A head may be as long as this less tune.maxrewrite.", .example = "global\n    tune.bufsize 32768"},
     .parse = set_size<&Tune::bufsize, 1024, 1u << 28>},
    {.name = "tune.comp.maxlevel", .sections = in_global, .doc = {.summary = "Highest level of compression.", .text = "Nothing is compressed yet.", .example = "global\n    tune.comp.maxlevel 1"},
     .parse = set_number<&Tune::comp_maxlevel, 1, 9>},
    {.name = "tune.disable-zero-copy-forwarding", .sections = in_global,
     .doc = {.summary = "Copies data instead of splicing it.", .text = "", .example = "global\n    tune.disable-zero-copy-forwarding"}, .parse = disable_zero_copy, .negatable = true},
    {.name = "tune.http.cookielen", .sections = in_global, .doc = {.summary = "Longest captured cookie, for the log.", .text = "", .example = "global\n    tune.http.cookielen 128"},
     .parse = set_number<&Tune::http_cookielen, 1, 65535>},
    {.name = "tune.http.logurilen", .sections = in_global, .doc = {.summary = "Longest request line in the log.", .text = "", .example = "global\n    tune.http.logurilen 2048"},
     .parse = set_number<&Tune::http_logurilen, 1, 1 << 20>},
    {.name = "tune.http.maxhdr", .sections = in_global,
     .doc = {.summary = "Most fields that the head of a message may have.", .text = "A request with more is refused.", .example = "global\n    tune.http.maxhdr 256"},
     .parse = max_http_headers},
    {.name = "tune.idle-pool.shared", .sections = in_global, .doc = {.summary = "Whether idle server connections are shared.", .text = "Accepted; workers are processes, and each keeps its own idle connections.", .example = "global\n    tune.idle-pool.shared on"},
     .parse = set_on_off<&Tune::idle_pool_shared>},
    {.name = "tune.idletimer", .sections = in_global,
     .doc = {.summary = "Pause after which a stream counts as idle and starts with small segments again; 0 never.", .text = "Accepted; segments are never held back here.", .example = "global\n    tune.idletimer 1s"}, .parse = idle_timer},
    {.name = "tune.max-checks-per-thread", .sections = in_global, .doc = {.summary = "Health checks that may run at a time.", .text = "", .example = "global\n    tune.max-checks-per-thread 50"},
     .parse = set_number<&Tune::max_checks_per_thread, 0, max_number>},
    {.name = "tune.maxaccept", .sections = in_global, .doc = {.summary = "Connections that a worker accepts in a row.", .text = "", .example = "global\n    tune.maxaccept 16"},
     .parse = [](LineContext &ctx) { if (auto v = ctx.words.need_int("a number, -1 for no limit", -1, max_number)) ctx.config.global.tune.maxaccept = *v < 0 ? UINT32_MAX : static_cast<u32>(*v); }},
    {.name = "tune.maxpollevents", .sections = in_global, .doc = {.summary = "Events taken from the system at a time.", .text = "", .example = "global\n    tune.maxpollevents 100"},
     .parse = set_number<&Tune::maxpollevents, 1, 1'000'000>},
    {.name = "tune.maxrewrite", .sections = in_global,
     .doc = {.summary = "Room in a buffer that is kept for what rules add to a head.", .text = "", .example = "global\n    tune.maxrewrite 2048"},
     .parse = set_size<&Tune::maxrewrite, 0, 1u << 27>},
    {.name = "tune.pattern.cache-size", .sections = in_global, .doc = {.summary = "Results of slow pattern look-ups that are remembered; 0 none.", .text = "Accepted; look-ups go through an index and need no memory of earlier ones.", .example = "global\n    tune.pattern.cache-size 0"},
     .parse = set_number<&Tune::pattern_cache, 0, max_number>},
    {.name = "tune.pipesize", .sections = in_global, .doc = {.summary = "Size of the pipes used for splicing.", .text = "", .example = "global\n    tune.pipesize 256k"},
     .parse = set_size<&Tune::pipesize, 0, max_size>},
    {.name = "tune.pool-high-fd-ratio", .sections = in_global,
     .doc = {.summary = "Share of descriptors in use, in percent, above which idle server connections are closed first.", .text = "", .example = "global\n    tune.pool-high-fd-ratio 25"},
     .parse = set_number<&Tune::pool_high_fd_ratio, 1, 100>},
    {.name = "tune.pool-low-fd-ratio", .sections = in_global,
     .doc = {.summary = "Share of descriptors in use, in percent, above which server connections are no longer kept idle.", .text = "", .example = "global\n    tune.pool-low-fd-ratio 20"},
     .parse = set_number<&Tune::pool_low_fd_ratio, 1, 100>},
    {.name = "tune.rcvbuf.backend", .sections = in_global, .doc = {.summary = "Receive buffer of datagram sockets to servers.", .text = "", .example = "global\n    tune.rcvbuf.backend 64k"},
     .parse = set_size<&Tune::rcvbuf_backend, 0, max_size>},
    {.name = "tune.rcvbuf.client", .sections = in_global, .doc = {.summary = "Kernel receive buffer of client connections; 0 leaves it to the system.", .text = "", .example = "global\n    tune.rcvbuf.client 64k"},
     .parse = set_size<&Tune::rcvbuf_client, 0, max_size>},
    {.name = "tune.rcvbuf.frontend", .sections = in_global, .doc = {.summary = "Receive buffer of datagram listeners.", .text = "", .example = "global\n    tune.rcvbuf.frontend 64k"},
     .parse = set_size<&Tune::rcvbuf_frontend, 0, max_size>},
    {.name = "tune.rcvbuf.server", .sections = in_global, .doc = {.summary = "Kernel receive buffer of server connections; 0 leaves it to the system.", .text = "", .example = "global\n    tune.rcvbuf.server 64k"},
     .parse = set_size<&Tune::rcvbuf_server, 0, max_size>},
    {.name = "tune.runqueue-depth", .sections = in_global, .doc = {.summary = "Streams that run in one turn of the loop.", .text = "Accepted; a stream gives way by itself after so much data or so many steps.", .example = "global\n    tune.runqueue-depth 100"},
     .parse = set_number<&Tune::runqueue_depth, 1, 1'000'000>},
    {.name = "tune.sndbuf.backend", .sections = in_global, .doc = {.summary = "Send buffer of datagram sockets to servers.", .text = "", .example = "global\n    tune.sndbuf.backend 64k"},
     .parse = set_size<&Tune::sndbuf_backend, 0, max_size>},
    {.name = "tune.sndbuf.client", .sections = in_global, .doc = {.summary = "Kernel send buffer of client connections; 0 leaves it to the system.", .text = "", .example = "global\n    tune.sndbuf.client 64k"},
     .parse = set_size<&Tune::sndbuf_client, 0, max_size>},
    {.name = "tune.sndbuf.frontend", .sections = in_global, .doc = {.summary = "Send buffer of datagram listeners.", .text = "", .example = "global\n    tune.sndbuf.frontend 64k"},
     .parse = set_size<&Tune::sndbuf_frontend, 0, max_size>},
    {.name = "tune.sndbuf.server", .sections = in_global, .doc = {.summary = "Kernel send buffer of server connections; 0 leaves it to the system.", .text = "", .example = "global\n    tune.sndbuf.server 64k"},
     .parse = set_size<&Tune::sndbuf_server, 0, max_size>},
    {.name = "tune.stick-counters", .sections = in_global,
     .doc = {.summary = "How many entries of stick tables a connection or a request may track: track-sc0 up to one less than this.", .text = "", .example = "global\n    tune.stick-counters 5"},
     .parse = set_number<&Tune::stick_counters, 0, 250>},
    {.name = "tune.vars.check-max-size", .sections = in_global, .doc = {.summary = "Memory that variables of one health check may take; 0 no limit.", .text = "", .example = "global\n    tune.vars.check-max-size 4k"},
     .parse = set_size<&Tune::vars_check_max, 0, max_size>},
    {.name = "tune.vars.global-max-size", .sections = in_global, .doc = {.summary = "Memory that all variables together may take; 0 no limit.", .text = "", .example = "global\n    tune.vars.global-max-size 1m"},
     .parse = set_size<&Tune::vars_global_max, 0, max_size>},
    {.name = "tune.vars.proc-max-size", .sections = in_global, .doc = {.summary = "Memory that variables of the process may take; 0 no limit.", .text = "", .example = "global\n    tune.vars.proc-max-size 1m"},
     .parse = set_size<&Tune::vars_proc_max, 0, max_size>},
    {.name = "tune.vars.reqres-max-size", .sections = in_global, .doc = {.summary = "Memory that variables of one request or response may take; 0 no limit.", .text = "", .example = "global\n    tune.vars.reqres-max-size 4k"},
     .parse = set_size<&Tune::vars_reqres_max, 0, max_size>},
    {.name = "tune.vars.sess-max-size", .sections = in_global, .doc = {.summary = "Memory that variables of one session may take; 0 no limit.", .text = "", .example = "global\n    tune.vars.sess-max-size 8k"},
     .parse = set_size<&Tune::vars_sess_max, 0, max_size>},
    {.name = "tune.vars.txn-max-size", .sections = in_global, .doc = {.summary = "Memory that variables of one transaction may take; 0 no limit.", .text = "", .example = "global\n    tune.vars.txn-max-size 8k"},
     .parse = set_size<&Tune::vars_txn_max, 0, max_size>},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> kw_global_tune_rows() { return rows; }

} // namespace penstock
