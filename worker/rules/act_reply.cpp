// SPDX-License-Identifier: BSD-2-Clause
// Actions that answer in the server's stead: return, deny, tarpit, auth (manual, 4.3).
#include "shared/expr/http_reply.h"
#include "shared/http/uri.h"
#include "shared/table/registry.h"
#include "worker/stream/reply.h"
#include "worker/stream/track.h"

namespace penstock {

namespace {

struct ReplyAction : ActionData {
  HttpReply reply;
};

template <ReplyUse Use, u16 Status> bool parse_reply(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  auto data = std::make_unique<ReplyAction>();
  bool refused_response = Use == ReplyUse::Deny && compiler.rule_set() == at_http_response;
  data->reply.status = refused_response ? 502 : Status;
  if (!parse_http_reply(compiler, Use, data->reply)) return false;
  out = std::move(data);
  return true;
}

Verdict run_deny(EvalContext &ctx, const ActionData *data) {
  const auto &reply = static_cast<const ReplyAction *>(data)->reply;
  make_reply(ctx, reply.status, &reply);
  return Verdict::Deny;
}

Verdict run_tarpit(EvalContext &ctx, const ActionData *data) {
  ctx.stream->tarpit = true;
  return run_deny(ctx, data);
}

Verdict run_return(EvalContext &ctx, const ActionData *data) {
  run_deny(ctx, data);
  ctx.stream->answer.intercepted = true;
  return Verdict::Done;
}

struct AuthAction : ActionData {
  std::string realm; // empty: the proxy's name
};

bool parse_auth(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  auto data = std::make_unique<AuthAction>();
  if (compiler.words().take("realm")) {
    auto realm = compiler.words().need("a realm");
    if (!realm) return false;
    for (char c : *realm) { // it goes between quotes
      if (c == '"' || c == '\\') data->realm += '\\';
      data->realm += c;
    }
  }
  out = std::move(data);
  return true;
}

/// A request to a proxy rather than to a server, where `option http-use-proxy-header` looks for such.
bool is_proxied(Stream &s) {
  string_view target = s.request().target();
  return s.frontend().has(Opt::HttpUseProxyHeader) && !target.starts_with('/') && !target.starts_with('*');
}

Verdict run_auth(EvalContext &ctx, const ActionData *data) {
  Stream &s = *ctx.stream;
  bool proxied = is_proxied(s);
  count_tracked_error(s);
  make_reply(ctx, proxied ? 407 : 401, nullptr);
  const std::string &own = static_cast<const AuthAction *>(data)->realm;
  string_view realm = own.empty() ? string_view{ctx.proxy->name} : string_view{own};
  constexpr string_view before = "Basic realm=\"";
  char *p = s.arena().chars(before.size() + realm.size() + 1);
  before.copy(p, before.size());
  realm.copy(p + before.size(), realm.size());
  p[before.size() + realm.size()] = '"';
  Header id = proxied ? Header::ProxyAuthenticate : Header::WwwAuthenticate;
  s.response().remove_all(id);
  s.response().add(id, {p, before.size() + realm.size() + 1});
  s.answer.intercepted = true;
  return Verdict::Done;
}

constexpr string_view payload_text =
    "A payload of its own is given by 'string', 'file', 'lf-string' or 'lf-file' together with 'content-type', a whole message by 'errorfile', "
    "the error page of the status by 'default-errorfiles' or 'errorfiles NAME'. 'hdr NAME FORMAT' adds a field, as often as wanted.";

constexpr ActionDef entries[] = {
    {.name = "auth", .sets = at_http_request,
     .doc = {.summary = "Asks the client for a user name and password.",
             .text = "Answers 401, or 407 to a request for a proxy under 'option http-use-proxy-header', with a basic challenge for the realm, by default the proxy's name.",
             .example = "userlist staff\n    user bob insecure-password secret\nfrontend web\n    mode http\n    http-request auth realm Staff unless { http_auth(staff) }"},
     .parse = parse_auth, .run = run_auth, .is_final = true},
    {.name = "deny", .sets = at_http_request | at_http_response,
     .doc = {.summary = "Refuses the request or the response.",
             .text = "The answer is 403 to requests and 502 instead of responses, unless 'status' (or 'deny_status') says otherwise.\n\n"
                     "A payload, headers and error files are given as for 'return'.",
             .example = "frontend web\n    mode http\n    http-request deny deny_status 429 if { src 192.0.2.0/24 }"},
     .parse = parse_reply<ReplyUse::Deny, 403>, .run = run_deny, .is_final = true},
    {.name = "return", .sets = at_http_request | at_http_response,
     .doc = {.summary = "Answers at once, with status 200 and no content unless said otherwise.", .text = payload_text,
             .example = "frontend web\n    mode http\n    http-request return status 200 content-type text/plain lf-string \"hello %[src]\" hdr x-by %[hostname] if { path /hello }"},
     .parse = parse_reply<ReplyUse::Return, 200>, .run = run_return, .is_final = true},
    {.name = "tarpit", .sets = at_http_request,
     .doc = {.summary = "Lets the client wait for 'timeout tarpit', then answers.",
             .text = "The answer is 500 unless 'status' (or 'deny_status') says otherwise. A payload, headers and error files are given as for 'return'.",
             .example = "frontend web\n    mode http\n    timeout tarpit 10s\n    http-request tarpit if { path_beg /wp-admin }"},
     .parse = parse_reply<ReplyUse::Deny, 500>, .run = run_tarpit, .is_final = true},
};
static_assert(sorted_and_documented<ActionDef>(entries));

} // namespace

std::span<const ActionDef> act_reply() { return entries; }

} // namespace penstock
