// SPDX-License-Identifier: BSD-2-Clause
// The lines of a `ring` section (manual, section on rings).
#include "master/config/log_formats.h"
#include "master/config/parser.h"
#include "shared/model/ring.h"
#include "shared/shm/ring_buffer.h"
#include "shared/table/registry.h"

namespace penstock {

namespace {

constexpr u64 smallest_ring = 128, largest_ring = u64{1} << 30;

Ring &ring_of(LineContext &ctx) { return *static_cast<Ring *>(ctx.other); }

void description(LineContext &ctx) {
  auto v = ctx.words.need("a text");
  if (v && ctx.words.end()) ring_of(ctx).description = *v;
}

void format(LineContext &ctx) {
  const LogLineFormat *f = need_choice(ctx.words, log_line_formats);
  if (f != nullptr && ctx.words.end()) ring_of(ctx).format = *f;
}

void maxlen(LineContext &ctx) {
  auto v = ctx.words.need_int("a length in bytes", 80, 65535);
  if (v && ctx.words.end()) ring_of(ctx).maxlen = static_cast<u32>(*v);
}

void size(LineContext &ctx) {
  auto v = ctx.words.need_size("a size");
  if (!v || !ctx.words.end()) return;
  if (*v < smallest_ring || *v > largest_ring) return ctx.words.alert_last("'size' of a ring must be from 128 bytes to 1g");
  ring_of(ctx).size = *v;
}

template <Millis Ring::*Member> void timeout(LineContext &ctx) {
  auto v = ctx.words.need_delay("a delay");
  if (v && ctx.words.end()) ring_of(ctx).*Member = *v;
}

constexpr Choice<bool> framings[] = {{"legacy", false}, {"octet-count", true}};

/// `server NAME ADDR:PORT [log-proto P]`: what else servers have makes no sense here.
void server(LineContext &ctx) {
  Words &words = ctx.words;
  RingServer server;
  server.place = words.line_place();
  auto name = words.need("a name");
  AddressWord address;
  if (!name || !parse_address(words, {.port_required = true}, address)) return;
  server.name = *name;
  server.address = address.address;
  while (!words.at_end()) {
    if (!words.take("log-proto")) return words.alert("a server of a ring takes 'log-proto legacy' or 'log-proto octet-count', not '" + std::string(words.peek()) + "'");
    words.set_subject("log-proto");
    const bool *counted = need_choice(words, framings);
    if (counted == nullptr) return;
    server.octet_count = *counted;
  }
  if (ring_of(ctx).servers.size() == RingBuffer::most_servers) return words.alert("a ring has at most 8 servers");
  ring_of(ctx).servers.push_back(std::move(server));
}

constexpr KeywordDef rows[] = {
    {.name = "backing-file", .sections = in_ring, .doc = {.summary = "A file that holds the ring's memory."}, .standing = Standing::Planned},
    {.name = "description", .sections = in_ring,
     .doc = {"What 'show events' says about the ring.", "", "ring recent\n    description \"the last requests\""}, .parse = description},
    {.name = "format", .sections = in_ring,
     .doc = {"The header that lines get in the ring.",
             "iso, local, priority, raw, rfc3164, rfc5424, short or timed. Without it lines look as the 'log' line says.", "ring recent\n    format rfc5424"},
     .parse = format},
    {.name = "maxlen", .sections = in_ring,
     .doc = {"Longest line that the ring takes, header included.", "Longer ones are cut. The 'len' of the 'log' line holds as well.", "ring recent\n    maxlen 1200"}, .parse = maxlen},
    {.name = "server", .sections = in_ring,
     .doc = {"A syslog server that gets each line over TCP.",
             "'server NAME ADDR:PORT [log-proto legacy|octet-count]': with 'legacy' (the default) a newline ends each message, with 'octet-count' its length goes ahead. "
             "The connection is made anew when it breaks; lines that are overwritten meanwhile are lost, and their number is told.",
             "ring recent\n    size 1m\n    server collector 127.0.0.1:6514 log-proto octet-count"},
     .parse = server},
    {.name = "size", .sections = in_ring, .doc = {"Bytes of the ring.", "Without it as many as tune.bufsize says.", "ring recent\n    size 1m"}, .parse = size},
    {.name = "timeout connect", .sections = in_ring,
     .doc = {"How long connecting to a server of the ring may take.", "Five seconds where nothing is said.", "ring recent\n    timeout connect 2s\n    server collector 127.0.0.1:6514"},
     .parse = timeout<&Ring::connect_timeout>},
    {.name = "timeout server", .sections = in_ring,
     .doc = {"How long a server of the ring may take nothing before its connection is made anew.", "", "ring recent\n    timeout server 10s\n    server collector 127.0.0.1:6514"},
     .parse = timeout<&Ring::server_timeout>},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> kw_ring_rows() { return rows; }

} // namespace penstock
