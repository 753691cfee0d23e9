// SPDX-License-Identifier: BSD-2-Clause
// Actions that end a rule set without an answer of their own: accept, allow, reject, silent-drop.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "worker/rules/http_view.h"
#include "worker/rules/rows.h"

namespace penstock {

namespace {

Verdict run_accept(EvalContext &, const ActionData *) { return Verdict::Stop; }
Verdict run_reject(EvalContext &, const ActionData *) { return Verdict::Reject; }

struct SilentDrop : ActionData {
  int reset_ttl = 0; // 0: without a reset, where the system lets us
};

/// The client is not told: the socket is closed in a mode in which the system sends nothing, or with a
/// reset that dies on its way.
Verdict run_silent_drop(EvalContext &ctx, const ActionData *d) {
  int fd = ctx.session ? ctx.session->fd() : -1;
  if (fd < 0) return Verdict::Drop;
  int one = 1, ttl = static_cast<const SilentDrop *>(d)->reset_ttl;
  if (ttl == 0 && setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &one, sizeof one) == 0) return Verdict::Drop;
  if (ttl == 0) ttl = 1;
  setsockopt(fd, IPPROTO_IP, IP_TTL, &ttl, sizeof ttl);
  setsockopt(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, &ttl, sizeof ttl);
  linger hard{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  return Verdict::Drop;
}
bool parse_silent_drop(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  auto data = std::make_unique<SilentDrop>();
  if (compiler.words().take("rst-ttl")) {
    auto ttl = compiler.words().need_int("a time to live", 1, 255);
    if (!ttl) return false;
    data->reset_ttl = static_cast<int>(*ttl);
  }
  out = std::move(data);
  return true;
}

constexpr u32 everywhere = at_any_tcp | at_http_request | at_http_response;
constexpr ActionDef rows[] = {
    {.name = "accept", .sets = at_any_tcp, .doc = {"Ends the rule set: what it guards goes on.", "", "tcp-request connection accept if { src 127.0.0.0/8 }"}, .run = run_accept, .is_final = true},
    {.name = "allow", .sets = at_any_http, .doc = {"Ends the rule set: the message goes on.", "", "http-request allow if { src 127.0.0.0/8 }"}, .run = run_accept, .is_final = true},
    {.name = "close", .sets = at_tcp_response, .doc = {"Closes the connection with the server at once.", "", "tcp-response content close if { res.len gt 1000 }"}, .run = run_reject, .is_final = true},
    {.name = "reject", .sets = at_any_tcp | at_http_request, .doc = {"Closes the connection without an answer.", "", "tcp-request connection reject if { src 192.0.2.0/24 }"}, .run = run_reject, .is_final = true},
    {.name = "silent-drop", .sets = everywhere, .doc = {"Forgets the connection without telling the client.", "With the privilege to do so nothing is sent at all; else a reset with a time to live of 1. rst-ttl N sends one that reaches N hops.", "tcp-request connection silent-drop if { src 192.0.2.0/24 }"}, .parse = parse_silent_drop, .run = run_silent_drop, .is_final = true},
};
static_assert(sorted_and_documented<ActionDef>(rows));

} // namespace

std::span<const ActionDef> act_verdict() { return rows; }

} // namespace penstock
