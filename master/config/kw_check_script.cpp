// SPDX-License-Identifier: BSD-2-Clause
// `http-check …` and `tcp-check …`: the steps of check scripts (manual, section 4.2). A section's first
// line of a family puts those of its defaults section away.
#include "master/config/check_words.h"
#include "master/config/choice.h"

namespace penstock {

namespace {

using StepReader = bool (*)(LineContext &, CheckStep &);

/// Steps of one family that this section has given itself so far.
std::vector<CheckStepPtr> own_steps(LineContext &ctx, bool http) {
  const CheckSettings *c = ctx.settings->check.get();
  if (!c || (http ? c->http_steps_of : c->tcp_steps_of) != ctx.settings) return {};
  return http ? c->http_steps : c->tcp_steps;
}

/// What must stand where: a script connects first, and an HTTP one asks before it expects.
bool in_order(LineContext &ctx, const std::vector<CheckStepPtr> &before, const CheckStep &step, bool http) {
  bool passive = step.kind == CheckStep::Comment || step.kind == CheckStep::SetVar || step.kind == CheckStep::UnsetVar;
  if (passive) return true;
  const CheckStep *last = nullptr, *first = nullptr;
  for (const auto &s : before) {
    if (s->kind == CheckStep::Comment || s->kind == CheckStep::SetVar || s->kind == CheckStep::UnsetVar) continue;
    if (!first) first = s.get();
    last = s.get();
  }
  string_view wrong;
  if (step.kind == CheckStep::Connect && first && first->kind != CheckStep::Connect) wrong = "the script must begin with a 'connect' line for another to follow";
  else if (http && step.kind == CheckStep::SendHttp && last && last->kind == CheckStep::SendHttp) wrong = "an 'expect' line must stand between two 'send' lines";
  else if (http && step.kind == CheckStep::SendHttp && last && last->kind == CheckStep::Expect) wrong = "a 'connect' line must stand between an 'expect' and the next 'send' line";
  else if (http && step.kind == CheckStep::Connect && last && last->kind == CheckStep::Connect) wrong = "'send' and 'expect' lines must stand between two 'connect' lines";
  else if (http && step.kind == CheckStep::Connect && last && last->kind == CheckStep::SendHttp) wrong = "an 'expect' line must stand before the next 'connect' line";
  if (wrong.empty()) return true;
  ctx.diags().alert(ctx.words.line_place(), "'" + std::string(ctx.def->name) + "' is out of order: " + std::string(wrong));
  return false;
}

void add_step(LineContext &ctx, bool http, StepReader read, string_view variable = {}) {
  auto step = std::make_shared<CheckStep>();
  step->place = ctx.words.line_place();
  bool good = read ? read(ctx, *step) : read_check_variable(ctx, *step, variable);
  if (!good || !ctx.words.end()) return;
  auto steps = own_steps(ctx, http);
  if (!in_order(ctx, steps, *step, http)) return;
  steps.push_back(std::move(step));
  change_checks(ctx, [&](CheckSettings &c) {
    (http ? c.http_steps : c.tcp_steps) = std::move(steps);
    (http ? c.http_steps_of : c.tcp_steps_of) = ctx.settings;
  });
}

template <bool Http, StepReader Read> void step(LineContext &ctx) { add_step(ctx, Http, Read); }
template <CheckStep::Kind Kind, bool IsFormat> bool tcp_send(LineContext &ctx, CheckStep &s) { return read_tcp_send(ctx, s, Kind, IsFormat); }

template <auto Field> void flag(LineContext &ctx) {
  if (ctx.words.end()) change_checks(ctx, [](CheckSettings &c) { c.*Field = true; });
}

/// The family's name alone matched: what follows is a variable, or unknown.
template <bool Http> void other(LineContext &ctx) {
  string_view word = ctx.words.peek();
  for (string_view verb : {"set-var(", "set-var-fmt(", "unset-var("})
    if (word.starts_with(verb)) {
      ctx.words.next();
      return add_step(ctx, Http, nullptr, word);
    }
  NearMiss near(word);
  for (string_view w : {"comment", "connect", "expect", "send", "set-var", "set-var-fmt", "unset-var"}) near.consider(w);
  if (Http)
    for (string_view w : {"disable-on-404", "send-state"}) near.consider(w);
  else
    for (string_view w : {"send-lf", "send-binary", "send-binary-lf"}) near.consider(w);
  alert_expected(ctx.words, Http ? "comment, connect, disable-on-404, expect, send, send-state, set-var(…), set-var-fmt(…) or unset-var(…)"
                                 : "comment, connect, expect, send, send-lf, send-binary, send-binary-lf, set-var(…), set-var-fmt(…) or unset-var(…)",
                 near.hint());
}

constexpr KeywordDef rows[] = {
    {.name = "http-check", .sections = in_back,
     .doc = {"Variables of HTTP check scripts: set-var(NAME) EXPRESSION, set-var-fmt(NAME) FORMAT, unset-var(NAME).", "", "backend app\n    option httpchk\n    http-check set-var(check.port) int(8001)\n    server a 127.0.0.1:8001 check"},
     .parse = other<true>},
    {.name = "http-check comment", .sections = in_back,
     .doc = {"A message for the following lines if they fail.", "", "backend app\n    option httpchk\n    http-check comment asking\\ the\\ shop\n    server a 127.0.0.1:8001 check"}, .parse = step<true, read_check_comment>},
    {.name = "http-check connect", .sections = in_back,
     .doc = {"Opens a connection: port, address, PROXY protocol header.", "Words: default, port, addr, send-proxy, linger, proto, comment.",
             "backend app\n    option httpchk\n    http-check connect port 8002\n    http-check send meth GET uri /\n    http-check expect status 200\n    server a 127.0.0.1:8001 check"},
     .parse = step<true, read_check_connect>},
    {.name = "http-check disable-on-404", .sections = in_back,
     .doc = {"A 404 answer leaves the server to its persistent clients only.", "", "backend app\n    option httpchk\n    http-check disable-on-404\n    server a 127.0.0.1:8001 check"},
     .parse = flag<&CheckSettings::disable_on_404>},
    {.name = "http-check expect", .sections = in_back,
     .doc = {"What the answer must be.",
             "[!] status CODES | rstatus REGEX | string TEXT | rstring REGEX | string-lf FORMAT | hdr name … [value …] | fhdr …; with min-recv, comment, "
             "ok-status, error-status, tout-status, on-success, on-error, status-code before it.",
             "backend app\n    option httpchk\n    http-check expect status 200-299\n    server a 127.0.0.1:8001 check"},
     .parse = step<true, read_http_expect>},
    {.name = "http-check send", .sections = in_back,
     .doc = {"The request: meth, uri, ver, hdr, body.", "What it leaves out comes from 'option httpchk'.",
             "backend app\n    option httpchk\n    http-check send meth GET uri /alive ver HTTP/1.1 hdr Host www.example.com\n    server a 127.0.0.1:8001 check"},
     .parse = step<true, read_http_send>},
    {.name = "http-check send-state", .sections = in_back,
     .doc = {"Tells servers their state in a header of the check.", "", "backend app\n    option httpchk\n    http-check send-state\n    server a 127.0.0.1:8001 check"}, .parse = flag<&CheckSettings::send_state>},
    {.name = "tcp-check", .sections = in_back,
     .doc = {"Variables of TCP check scripts: set-var(NAME) EXPRESSION, set-var-fmt(NAME) FORMAT, unset-var(NAME).", "", "backend app\n    option tcp-check\n    tcp-check set-var(check.port) int(8001)\n    server a 127.0.0.1:8001 check"},
     .parse = other<false>},
    {.name = "tcp-check comment", .sections = in_back,
     .doc = {"A message for the following lines if they fail.", "", "backend app\n    option tcp-check\n    tcp-check comment greeting\n    tcp-check connect\n    server a 127.0.0.1:8001 check"}, .parse = step<false, read_check_comment>},
    {.name = "tcp-check connect", .sections = in_back,
     .doc = {"Opens a connection; must be the first step of a script.", "Words: default, port, addr, send-proxy, linger, proto, comment.", "backend app\n    option tcp-check\n    tcp-check connect port 8002\n    server a 127.0.0.1:8001 check"},
     .parse = step<false, read_check_connect>},
    {.name = "tcp-check expect", .sections = in_back,
     .doc = {"What must come from the server.", "[!] string TEXT | rstring REGEX | string-lf FORMAT | binary HEX | rbinary REGEX | binary-lf FORMAT, with the words of 'http-check expect' before it.",
             "backend mail\n    option tcp-check\n    tcp-check connect\n    tcp-check expect rstring ^220\n    server a 127.0.0.1:25 check"},
     .parse = step<false, read_tcp_expect>},
    {.name = "tcp-check send", .sections = in_back,
     .doc = {"Sends a text.", "", "backend app\n    option tcp-check\n    tcp-check connect\n    tcp-check send PING\\r\\n\n    server a 127.0.0.1:6379 check"}, .parse = step<false, tcp_send<CheckStep::Send, false>>},
    {.name = "tcp-check send-binary", .sections = in_back,
     .doc = {"Sends bytes given in hexadecimal.", "", "backend app\n    option tcp-check\n    tcp-check connect\n    tcp-check send-binary 50494e470d0a\n    server a 127.0.0.1:6379 check"},
     .parse = step<false, tcp_send<CheckStep::SendBinary, false>>},
    {.name = "tcp-check send-binary-lf", .sections = in_back,
     .doc = {"Sends bytes given by a log format that yields hexadecimal.", "", "backend app\n    option tcp-check\n    tcp-check connect\n    tcp-check send-binary-lf %[str(PING),hex]\n    server a 127.0.0.1:6379 check"},
     .parse = step<false, tcp_send<CheckStep::SendBinary, true>>},
    {.name = "tcp-check send-lf", .sections = in_back,
     .doc = {"Sends the text of a log format.", "", "backend app\n    option tcp-check\n    tcp-check connect\n    tcp-check send-lf %[str(PING)]\\r\\n\n    server a 127.0.0.1:6379 check"},
     .parse = step<false, tcp_send<CheckStep::Send, true>>},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> check_script_keywords() { return rows; }

} // namespace penstock
