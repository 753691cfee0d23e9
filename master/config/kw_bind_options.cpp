// SPDX-License-Identifier: BSD-2-Clause
// Options of `bind` lines (and of `stats socket`, which shares them). The target is a Bind.
// Manual, section 5.1; options of TLS are in kw_bind_tls.cpp.
#include <grp.h>
#include <pwd.h>

#include "master/config/choice.h"
#include "master/config/kw_proxy.h"
#include "shared/base/text.h"
#include "shared/model/bind.h"

namespace penstock {

namespace {

Bind &of(void *target) { return *static_cast<Bind *>(target); }

template <auto Field> void set_true(LineContext &, void *target) { of(target).*Field = true; }

template <auto Field, i64 Min, i64 Max> void number(LineContext &ctx, void *target) {
  using Value = std::remove_reference_t<decltype(of(target).*Field)>;
  if (auto v = ctx.words.need_int("a number", Min, Max)) of(target).*Field = static_cast<Value>(*v);
}

template <auto Field> void text(LineContext &ctx, void *target) {
  if (auto v = ctx.words.need("a value")) of(target).*Field = *v;
}

void tcp_ut(LineContext &ctx, void *target) {
  if (auto v = ctx.words.need_delay("a delay")) of(target).tcp_ut = *v;
}

void user(LineContext &ctx, void *target) {
  auto name = ctx.words.need("the name of a user");
  if (!name) return;
  if (const passwd *p = getpwnam(std::string(*name).c_str())) of(target).uid = static_cast<i32>(p->pw_uid);
  else ctx.words.alert_last("there is no user '" + std::string(*name) + "' on this host");
}

void group(LineContext &ctx, void *target) {
  auto name = ctx.words.need("the name of a group");
  if (!name) return;
  if (const struct group *g = getgrnam(std::string(*name).c_str())) of(target).gid = static_cast<i32>(g->gr_gid);
  else ctx.words.alert_last("there is no group '" + std::string(*name) + "' on this host");
}

void mode(LineContext &ctx, void *target) {
  auto word = ctx.words.need("an octal mode such as 660");
  if (!word) return;
  u32 value = 0;
  bool ok = !word->empty() && word->size() <= 5;
  for (char c : *word) {
    ok = ok && c >= '0' && c <= '7';
    value = value * 8 + static_cast<u32>(c - '0');
  }
  if (ok && value <= 07777) of(target).mode = value;
  else ctx.words.alert_last("'mode' expects an octal mode such as 660, got '" + std::string(*word) + "'");
}

/// The next word as one of `choices`; a wrong one is passed over, so that it is not taken for an option.
template <class V, size_t N> const V *choose(Words &words, const Choice<V> (&choices)[N]) {
  const V *v = need_choice(words, choices);
  if (!v && !words.at_end()) words.next();
  return v;
}

void level(LineContext &ctx, void *target) {
  constexpr Choice<Bind::Level> levels[] = {{"user", Bind::User}, {"operator", Bind::Operator}, {"admin", Bind::Admin}};
  if (const auto *v = choose(ctx.words, levels)) of(target).level = *v;
}

void expose_fd(LineContext &ctx, void *target) {
  constexpr Choice<bool> kinds[] = {{"listeners", true}};
  if (choose(ctx.words, kinds)) of(target).expose_fd = true;
}

void severity_output(LineContext &ctx, void *target) {
  constexpr Choice<string_view> formats[] = {{"none", "none"}, {"number", "number"}, {"string", "string"}};
  if (const auto *v = choose(ctx.words, formats)) of(target).severity_output = *v;
}

void proto(LineContext &ctx, void *target) {
  constexpr Choice<string_view> protocols[] = {{"h1", "h1"}, {"none", "none"}};
  if (ctx.words.peek() == "h2" || ctx.words.peek() == "quic" || ctx.words.peek() == "spop" || ctx.words.peek() == "fcgi") {
    ctx.words.alert("the protocol '" + std::string(ctx.words.peek()) + "' is known but not implemented yet");
    ctx.words.next();
    return;
  }
  if (const auto *v = choose(ctx.words, protocols)) of(target).proto = *v;
}

void tfo(LineContext &, void *target) { of(target).tfo = true; }

/// Placement on threads has no meaning here: every worker has its own socket. Checked for form only.
void thread(LineContext &ctx, void *) { ctx.words.need("a set of threads"); }
void shards(LineContext &ctx, void *) {
  auto v = ctx.words.need("a number, 'by-thread' or 'by-group'");
  if (v && *v != "by-thread" && *v != "by-group" && !parse_u64(*v))
    ctx.words.alert_last("'shards' expects a number, 'by-thread' or 'by-group', got '" + std::string(*v) + "'");
}

constexpr OptionDef rows[] = {
    {"accept-netscaler-cip", "<magic>", {"Expects the NetScaler Client IP header on each connection.", "", ""}, nullptr, Standing::Planned},
    {"accept-proxy", "", {"Expects the PROXY protocol, version 1 or 2, at the start of each connection.",
     "What it says becomes the connection's source and destination. Connections without a valid header are closed.",
     "frontend web\n    bind 127.0.0.1:8080 accept-proxy"}, set_true<&Bind::accept_proxy>},
    {"backlog", "<n>", {"Length of the kernel's queue for these addresses.", "", "frontend web\n    bind 127.0.0.1:8080 backlog 1024"},
     number<&Bind::backlog, 0, 2'147'483'647>},
    {"defer-accept", "", {"Lets the kernel hand over a connection only once data has arrived.", "Not for protocols in which the server speaks first.",
     "frontend web\n    bind 127.0.0.1:8080 defer-accept"}, set_true<&Bind::defer_accept>},
    {"expose-fd", "listeners", {"Lets other processes fetch the listening sockets over this runtime socket.", "",
     "global\n    stats socket /tmp/penstock-example.sock expose-fd listeners"}, expose_fd},
    {"gid", "<gid>", {"Numeric group that owns the UNIX socket.", "", "frontend web\n    bind unix@/tmp/penstock-example.sock gid 0"}, number<&Bind::gid, 0, 2'147'483'647>},
    {"group", "<name>", {"Group that owns the UNIX socket.", "", "frontend web\n    bind unix@/tmp/penstock-example.sock group root"}, group},
    {"guid-prefix", "<text>", {"Prefix of the globally unique names of these listeners.", "", ""}, nullptr, Standing::Planned},
    {"id", "<n>", {"A fixed number for the listener, shown in statistics.", "", "frontend web\n    bind 127.0.0.1:8080 id 7"}, number<&Bind::id, 1, 2'147'483'647>},
    {"idle-ping", "<delay>", {"Interval of liveness probes on idle HTTP/2 connections.", "", ""}, nullptr, Standing::Planned},
    {"interface", "<name>", {"Accepts only connections that arrive on this network device.", "", "frontend web\n    bind 127.0.0.1:8080 interface lo"}, text<&Bind::interface>},
    {"label", "<text>", {"A name for a group of these listeners.", "Accepted; nothing here refers to it.", "frontend web\n    bind 127.0.0.1:8080 label internal"}, text<&Bind::label>},
    {"level", "<level>", {"What a runtime socket's clients may do: user, operator or admin.", "", "global\n    stats socket /tmp/penstock-example.sock level admin"}, level},
    {"maxconn", "<n>", {"Connections that these listeners serve at the same time.", "", "frontend web\n    bind 127.0.0.1:8080 maxconn 100"},
     number<&Bind::maxconn, 0, 2'147'483'647>},
    {"mode", "<octal>", {"Access mode of the UNIX socket.", "", "frontend web\n    bind unix@/tmp/penstock-example.sock mode 660"}, mode},
    {"mss", "<bytes>", {"Largest TCP segment announced to clients.", "Negative values are subtracted from what the kernel would announce.",
     "frontend web\n    bind 127.0.0.1:8080 mss 1400"}, number<&Bind::mss, -65535, 65535>},
    {"name", "<text>", {"A name for the listeners, shown in statistics and logs.", "", "frontend web\n    bind 127.0.0.1:8080 name plain"}, text<&Bind::name>},
    {"namespace", "<name>", {"Network namespace in which the address is bound.", "", ""}, nullptr, Standing::Planned},
    {"nbconn", "<n>", {"Connections kept open for reverse HTTP.", "", ""}, nullptr, Standing::Planned},
    {"nice", "<n>", {"Priority of these connections' work, from -1024 (first) to 1024 (last).", "Accepted; a worker gives every connection its turn in the order of events, and none waits long.", "frontend web\n    bind 127.0.0.1:8080 nice -100"},
     number<&Bind::nice, -1024, 1024>},
    {"proto", "<name>", {"Speaks this protocol whatever the client negotiates: h1.", "", "frontend web\n    mode http\n    bind 127.0.0.1:8080 proto h1"}, proto},
    {"quic-cc-algo", "<name>", {"Congestion control of QUIC.", "", ""}, nullptr, Standing::Planned},
    {"quic-force-retry", "", {"Sends QUIC Retry packets to every client.", "", ""}, nullptr, Standing::Planned},
    {"quic-socket", "<kind>", {"Socket per QUIC connection or per listener.", "", ""}, nullptr, Standing::Planned},
    {"severity-output", "<format>", {"How a runtime socket marks the severity of its answers: none, number or string.", "",
     "global\n    stats socket /tmp/penstock-example.sock severity-output number"}, severity_output},
    {"shards", "<n>", {"Number of sockets per address.", "Each worker has a socket of its own already, so the value changes nothing.", "frontend web\n    bind 127.0.0.1:8080 shards by-thread"}, shards},
    {"tcp-md5sig", "<key>", {"TCP signatures of RFC 2385.", "", ""}, nullptr, Standing::Planned},
    {"tcp-ut", "<delay>", {"Time after which the kernel gives up a connection whose data is not acknowledged.", "", "frontend web\n    bind 127.0.0.1:8080 tcp-ut 30s"}, tcp_ut},
    {"tfo", "", {"TCP Fast Open: data may arrive with the first packet.", "", "frontend web\n    bind 127.0.0.1:8080 tfo"}, tfo},
    {"thread", "<set>", {"Threads that serve the address.", "Every worker serves every address, so the value changes nothing.", "frontend web\n    bind 127.0.0.1:8080 thread 1-2"}, thread},
    {"transparent", "", {"Accepts connections to addresses that the host does not have.", "Needs privileges and routing rules.",
     "frontend web\n    bind 127.0.0.1:8080 transparent"}, set_true<&Bind::transparent>},
    {"uid", "<uid>", {"Numeric user that owns the UNIX socket.", "", "frontend web\n    bind unix@/tmp/penstock-example.sock uid 0"}, number<&Bind::uid, 0, 2'147'483'647>},
    {"user", "<name>", {"User that owns the UNIX socket.", "", "frontend web\n    bind unix@/tmp/penstock-example.sock user root"}, user},
    {"v4v6", "", {"An IPv6 listener takes IPv4 connections too.", "", "frontend web\n    bind [::]:8080 v4v6"}, set_true<&Bind::v4v6>},
    {"v6only", "", {"An IPv6 listener takes no IPv4 connections.", "", "frontend web\n    bind [::1]:8080 v6only"}, set_true<&Bind::v6only>},
};

} // namespace

std::span<const OptionDef> bind_options() { return rows; }

} // namespace penstock
