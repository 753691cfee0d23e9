// SPDX-License-Identifier: BSD-2-Clause
// `option …` words with arguments or a wider effect than one bit: connection modes, forwarded
// addresses, log formats, redispatch, and names that the language dropped (manual, section 4.2).
// Options of health checks are in kw_check.cpp.
#include "master/config/choice.h"
#include "master/config/kw_proxy.h"
#include "shared/base/text.h"
#include "shared/expr/compile.h"
#include "shared/expr/log_format_defaults.h"

namespace penstock {

namespace {

/// The three connection modes exclude each other; `no` falls back to keep-alive.
template <HttpConnMode Mode> void connection_mode(LineContext &ctx) {
  if (!ctx.words.end()) return;
  HttpConnMode &mode = ctx.settings->conn_mode;
  if (ctx.negation == Negation::None) mode = Mode;
  else if (mode == Mode) mode = HttpConnMode::KeepAlive;
}

void tcpka(LineContext &ctx) {
  if (!ctx.words.end()) return;
  if (!ctx.proxy || ctx.proxy->is_frontend) ctx.settings->set(Opt::Clitcpka, true);
  if (!ctx.proxy || ctx.proxy->is_backend) ctx.settings->set(Opt::Srvtcpka, true);
}

/// `option redispatch [N]`; old files write `redispatch` alone.
void redispatch(LineContext &ctx) {
  i32 interval = -1; // the last attempt
  if (!ctx.words.at_end()) {
    auto v = ctx.words.need_int("a number of attempts, negative from the end", -1000, 1000);
    if (!v || !ctx.words.end()) return;
    interval = static_cast<i32>(*v);
  }
  bool on = ctx.negation == Negation::None && interval != 0;
  ctx.settings->set(Opt::Redispatch, on);
  ctx.settings->redispatch_interval = on ? interval : 0;
}

// ---------------------------------------------------------------------- X-Forwarded-For and its kin

bool read_except(Words &words, ForwardHeader &out) {
  auto text = words.need("a network");
  if (!text) return false;
  if (auto net = parse_network(*text)) {
    out.except.push_back(*net);
    return true;
  }
  words.alert_last("'except' expects an address or a network such as 10.0.0.0/8, got '" + std::string(*text) + "'");
  return false;
}

template <std::shared_ptr<const ForwardHeader> ProxySettings::*Field, bool IfNoneAllowed> void forward_header(LineContext &ctx) {
  auto made = std::make_shared<ForwardHeader>();
  made->enabled = true;
  made->header = Field == &ProxySettings::forwardfor ? "X-Forwarded-For" : "X-Original-To";
  Words &words = ctx.words;
  while (!words.at_end()) {
    if (words.take("except")) {
      if (!read_except(words, *made)) return;
    } else if (words.take("header")) {
      auto name = words.need("the name of a header");
      if (!name) return;
      made->header = *name;
    } else if (IfNoneAllowed && words.take("if-none")) {
      made->if_none = true;
    } else {
      NearMiss near(words.peek());
      for (string_view w : {"except", "header", "if-none"}) near.consider(w);
      return alert_expected(words, IfNoneAllowed ? "'except', 'header' or 'if-none'" : "'except' or 'header'", near.hint());
    }
  }
  ctx.settings->*Field = std::move(made);
}

// ---------------------------------------------------------------------------------------- log formats

void set_log_format(LineContext &ctx, string_view format) {
  if (ctx.proxy && !ctx.proxy->is_frontend)
    return ctx.diags().warning(ctx.words.line_place(), "'" + std::string(ctx.def->name) + "' is ignored because a backend writes no log of its own");
  ctx.settings->log_format_text = format;
  ctx.settings->log_format_place = ctx.words.line_place();
}

void httplog(LineContext &ctx) {
  bool clf = ctx.words.take("clf");
  if (!ctx.words.at_end()) return alert_expected(ctx.words, "nothing or 'clf'");
  set_log_format(ctx, clf ? clf_http_log_format : http_log_format);
}
void httpslog(LineContext &ctx) {
  if (ctx.words.end()) set_log_format(ctx, https_log_format);
}
void tcplog(LineContext &ctx) {
  bool clf = ctx.words.take("clf");
  if (!ctx.words.at_end()) return alert_expected(ctx.words, "nothing or 'clf'");
  set_log_format(ctx, clf ? clf_tcp_log_format : tcp_log_format);
}

constexpr u32 seen_by_request_rules = needs_client | needs_session | needs_req_bytes | needs_req_head | needs_req_body | needs_stream;

/// A word of `option forwarded`; those that end in -expr are followed by an expression.
struct ForwardedWord {
  string_view word;
  ForwardedPart ForwardedHeader::*part;
  bool with_expr;
};
constexpr ForwardedWord forwarded_words[] = {
    {"host", &ForwardedHeader::host, false},       {"host-expr", &ForwardedHeader::host, true},
    {"by", &ForwardedHeader::by, false},           {"by-expr", &ForwardedHeader::by, true},
    {"by_port", &ForwardedHeader::by_port, false}, {"by_port-expr", &ForwardedHeader::by_port, true},
    {"for", &ForwardedHeader::for_, false},        {"for-expr", &ForwardedHeader::for_, true},
    {"for_port", &ForwardedHeader::for_port, false}, {"for_port-expr", &ForwardedHeader::for_port, true},
};

bool forwarded_word(LineContext &ctx, ForwardedHeader &out) {
  Words &words = ctx.words;
  for (const ForwardedWord &w : forwarded_words) {
    if (!words.take(w.word)) continue;
    ForwardedPart &part = out.*w.part;
    part.enabled = true;
    if (!w.with_expr) return true;
    Compiler compiler(words, ctx.config, ctx.proxy, seen_by_request_rules);
    auto expr = compiler.expression();
    if (expr) part.expr = std::make_shared<const Expr>(std::move(*expr));
    return expr.has_value();
  }
  NearMiss near(words.peek());
  near.consider("proto");
  for (const ForwardedWord &w : forwarded_words) near.consider(w.word);
  words.alert("'option forwarded' does not know '" + std::string(words.peek()) + "'", near.hint());
  return false;
}

void forwarded(LineContext &ctx) {
  auto made = std::make_shared<ForwardedHeader>();
  made->enabled = ctx.negation == Negation::None;
  if (ctx.words.at_end()) made->proto = made->for_.enabled = true;
  while (!ctx.words.at_end()) {
    if (ctx.words.take("proto")) made->proto = true;
    else if (!forwarded_word(ctx, *made)) return;
  }
  ctx.settings->forwarded = std::move(made);
}

// ------------------------------------------------------------------------------------------- the rest

void http_restrict_req_hdr_names(LineContext &ctx) {
  using Names = ProxySettings::HeaderNames;
  constexpr Choice<Names> policies[] = {{"preserve", Names::Preserve}, {"delete", Names::Delete}, {"reject", Names::Reject}};
  const auto *v = need_choice(ctx.words, policies);
  if (v && ctx.words.end()) ctx.settings->restrict_header_names = *v;
}

void removed(LineContext &ctx) {
  ctx.diags().alert(ctx.words.line_place(), "'" + std::string(ctx.def->name) + "' was removed from the language", std::string(ctx.def->modern));
  ctx.words.rewind(ctx.words.all().size());
}

constexpr KeywordDef rows[] = {
    {.name = "option forceclose", .sections = in_proxies, .doc = {"The old name of 'option httpclose'.", "", ""},
     .parse = connection_mode<HttpConnMode::Close>, .standing = Standing::Legacy, .negatable = true, .modern = "option httpclose"},
    {.name = "option forwarded", .sections = in_back,
     .doc = {"Tells servers in the Forwarded header (RFC 7239) whom the request came from.",
             "'proto' adds the scheme, 'host' the requested host, 'by' and 'by_port' our own address, 'for' and 'for_port' the client's; without words it is 'proto for'. "
             "With -expr behind a word (but proto) an expression gives the value; a name that is no address is written as an obfuscated identifier.",
             "backend app\n    mode http\n    option forwarded proto host for for_port"},
     .parse = forwarded, .negatable = true},
    {.name = "option forwardfor", .sections = in_proxies,
     .doc = {"Adds the client's address to requests in X-Forwarded-For.",
             "'except NETWORK' leaves clients of that network out (it may be repeated), 'header NAME' names the header, 'if-none' adds it only where none is.",
             "frontend web\n    mode http\n    option forwardfor except 127.0.0.0/8 if-none"},
     .parse = forward_header<&ProxySettings::forwardfor, true>},
    {.name = "option http-keep-alive", .sections = in_proxies,
     .doc = {"Keeps connections open on both sides; this is the default.", "", "defaults\n    mode http\n    option http-keep-alive"},
     .parse = connection_mode<HttpConnMode::KeepAlive>, .negatable = true},
    {.name = "option http-restrict-req-hdr-names", .sections = in_proxies,
     .doc = {"What happens to request headers whose names have characters other than letters, digits and '-'.", "preserve, delete (the header) or reject (the request).",
             "frontend web\n    mode http\n    option http-restrict-req-hdr-names delete"},
     .parse = http_restrict_req_hdr_names},
    {.name = "option http-server-close", .sections = in_proxies,
     .doc = {"Closes the server's connection after each response; the client's stays open.", "", "defaults\n    mode http\n    option http-server-close"},
     .parse = connection_mode<HttpConnMode::ServerClose>, .negatable = true},
    {.name = "option http-tunnel", .sections = in_proxies, .doc = {"Tunnel mode; no longer in the language.", "", ""},
     .parse = removed, .modern = "leave it out: keep-alive is the default"},
    {.name = "option http_proxy", .sections = in_proxies, .doc = {"A plain forward proxy; no longer in the language.", "", ""},
     .parse = removed, .modern = "use 'http-request set-dst' and 'http-request set-uri'"},
    {.name = "option httpclose", .sections = in_proxies,
     .doc = {"Closes both connections after each response.", "", "defaults\n    mode http\n    option httpclose"},
     .parse = connection_mode<HttpConnMode::Close>, .negatable = true},
    {.name = "option httplog", .sections = in_proxies,
     .doc = {"Logs HTTP requests in the usual detailed format.", "'clf' chooses the common log format.", "frontend web\n    mode http\n    option httplog"}, .parse = httplog},
    {.name = "option httpslog", .sections = in_proxies,
     .doc = {"The HTTP log format with facts about TLS.", "", "frontend web\n    mode http\n    option httpslog"}, .parse = httpslog},
    {.name = "option originalto", .sections = in_proxies,
     .doc = {"Adds the address that the client connected to in X-Original-To.", "'except NETWORK' leaves some out, 'header NAME' names the header.",
             "frontend web\n    mode http\n    option originalto except 127.0.0.1"},
     .parse = forward_header<&ProxySettings::originalto, false>},
    {.name = "option redispatch", .sections = in_back,
     .doc = {"Lets a retry go to another server.",
             "Without a number the last retry does; N: every Nth; -N: the Nth from the end.",
             "backend app\n    retries 3\n    option redispatch 1"},
     .parse = redispatch, .negatable = true},
    {.name = "option tcpka", .sections = in_proxies,
     .doc = {"TCP keepalive probes on both sides.", "", "defaults\n    option tcpka"}, .parse = tcpka},
    {.name = "option tcplog", .sections = in_proxies,
     .doc = {"Logs TCP connections in the usual detailed format.", "'clf' chooses a form close to the common log format.", "frontend ssh\n    option tcplog"}, .parse = tcplog},
    {.name = "redisp", .sections = in_back, .doc = {"The old spelling of 'option redispatch'.", "", ""},
     .parse = redispatch, .standing = Standing::Legacy, .negatable = true, .modern = "option redispatch"},
    {.name = "redispatch", .sections = in_back, .doc = {"The old spelling of 'option redispatch'.", "", ""},
     .parse = redispatch, .standing = Standing::Legacy, .negatable = true, .modern = "option redispatch"},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> option_more_keywords() { return rows; }

} // namespace penstock
