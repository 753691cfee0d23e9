// SPDX-License-Identifier: BSD-2-Clause
// set-var, set-var-fmt, unset-var, capture: actions that keep values.
#include "shared/base/text.h"
#include "shared/expr/run.h"
#include "shared/model/config.h"
#include "worker/rules/http_view.h"
#include "worker/rules/rows.h"
#include "worker/rules/var_conditions.h"
#include "worker/stream/vars.h"

namespace penstock {

namespace {

struct VarAction : ActionData {
  VarId id;
  u32 conditions = 0;
  Expr expr;
  LogFormat format;
};

std::unique_ptr<VarAction> parse_name(Compiler &compiler) {
  auto data = std::make_unique<VarAction>();
  string_view inside = compiler.action_argument();
  std::string error;
  size_t comma = inside.find(',');
  auto id = parse_variable(inside.substr(0, comma), compiler.config(), error);
  if (id && comma != string_view::npos)
    for (string_view word : split(inside.substr(comma + 1), ','))
      if (!add_var_condition(word, data->conditions, error)) id.reset();
  if (!id) {
    compiler.words().alert_last(error);
    return nullptr;
  }
  data->id = *id;
  return data;
}

bool parse_set(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  auto data = parse_name(compiler);
  if (!data) return false;
  auto expr = compiler.expression();
  if (!expr) return false;
  data->expr = std::move(*expr);
  out = std::move(data);
  return true;
}
bool parse_set_format(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  auto data = parse_name(compiler);
  if (!data) return false;
  auto format = compiler.log_format_word("a log format");
  if (!format) return false;
  data->format = std::move(*format);
  out = std::move(data);
  return true;
}
bool parse_unset(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  auto data = parse_name(compiler);
  out = std::move(data);
  return out != nullptr;
}

const VarAction &of(const ActionData *d) { return *static_cast<const VarAction *>(d); }

Verdict run_set(EvalContext &ctx, const ActionData *d) {
  Sample s;
  if (evaluate(ctx, of(d).expr, s) && var_conditions_hold(ctx, of(d).id, of(d).conditions, s)) set_variable(ctx, of(d).id, s);
  return Verdict::Next;
}
Verdict run_set_format(EvalContext &ctx, const ActionData *d) {
  Sample s;
  s.set_str(format(ctx, of(d).format));
  if (var_conditions_hold(ctx, of(d).id, of(d).conditions, s)) set_variable(ctx, of(d).id, s);
  return Verdict::Next;
}
Verdict run_unset(EvalContext &ctx, const ActionData *d) {
  unset_variable(ctx, of(d).id);
  return Verdict::Next;
}

// ------------------------------------------------------------------------------------------ capture

struct CaptureAction : ActionData {
  Expr expr;
  u32 slot = 0, length = 0;
  bool into_response = false;
};

u32 slots_of(const Proxy &p, bool request) {
  u32 n = 0;
  for (const CaptureSlot &c : p.captures) n += c.is_request == request;
  return n;
}
u32 length_of(const Proxy &p, bool request, u32 slot) {
  for (const CaptureSlot &c : p.captures)
    if (c.is_request == request && slot-- == 0) return c.length;
  return 0;
}

bool parse_capture(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  auto data = std::make_unique<CaptureAction>();
  auto expr = compiler.expression();
  if (!expr) return false;
  data->expr = std::move(*expr);
  data->into_response = compiler.rule_set() & (at_http_response | at_http_after | at_tcp_response);
  Words &words = compiler.words();
  if (words.take("len")) {
    if (data->into_response || !compiler.proxy() || !compiler.proxy()->is_frontend) {
      words.alert_last("'len' makes a new slot, which only requests of a frontend can do: declare one with 'declare capture' and name it with 'id'");
      return false;
    }
    auto length = words.need_int("a length", 1, 65535);
    if (!length) return false;
    data->length = static_cast<u32>(*length);
    data->slot = slots_of(*compiler.proxy(), true);
    compiler.proxy()->captures.push_back({"", data->length, true});
  } else if (words.take("id")) {
    auto id = words.need_int("the number of a slot", 0, 1023);
    if (!id) return false;
    data->slot = static_cast<u32>(*id);
    bool own = compiler.proxy() && compiler.proxy()->is_frontend;
    if (own && data->slot >= slots_of(*compiler.proxy(), !data->into_response)) {
      words.alert_last("there is no capture slot " + std::to_string(*id) + " here: declare it with 'declare capture' first");
      return false;
    }
  } else {
    words.alert("'capture' expects 'len' and a length or 'id' and a slot after the expression");
    return false;
  }
  out = std::move(data);
  return true;
}

Verdict run_capture(EvalContext &ctx, const ActionData *d) {
  const auto &a = *static_cast<const CaptureAction *>(d);
  Stream *s = ctx.stream;
  Sample value;
  if (!s || !evaluate_as(ctx, a.expr, Type::Str, value)) return Verdict::Next;
  u32 length = a.length ? a.length : length_of(s->frontend(), !a.into_response, a.slot);
  string_view text = value.str.substr(0, length);
  if (length == 0) return Verdict::Next; // the frontend has no such slot
  if (a.into_response) s->capture_response(a.slot, text);
  else s->capture_request(a.slot, text);
  return Verdict::Next;
}

constexpr u32 all = at_any_tcp | at_any_http;
constexpr ActionDef rows[] = {
    {.name = "capture", .sets = at_tcp_request | at_any_http, .doc = {"Keeps a value for the log, beside captured headers.", "With len a new slot is made; with id the value goes into a slot that exists.", "http-request capture req.hdr(user-agent) len 64"}, .parse = parse_capture, .run = run_capture},
    {.name = "set-var(", .sets = all, .doc = {"Sets a variable to the value of an expression.", "After the name, conditions may follow: ifexists, ifnotexists, ifempty, ifnotempty, ifset, ifnotset, ifgt, iflt.", "http-request set-var(txn.host) req.hdr(host),lower"}, .parse = parse_set, .run = run_set},
    {.name = "set-var-fmt(", .sets = all, .doc = {"Sets a variable to a log format's text.", "Conditions as of set-var.", "http-request set-var-fmt(txn.from) %ci:%cp"}, .parse = parse_set_format, .run = run_set_format},
    {.name = "unset-var(", .sets = all, .doc = {"Forgets a variable.", "", "http-request unset-var(txn.host)"}, .parse = parse_unset, .run = run_unset},
};
static_assert(sorted_and_documented<ActionDef>(rows));

} // namespace

std::span<const ActionDef> act_vars() { return rows; }

} // namespace penstock
