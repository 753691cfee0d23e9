// SPDX-License-Identifier: BSD-2-Clause
// Actions on stick tables: track-sc0 …, and those that change general purpose counters and tags of what is
// tracked (manual, section 4.3).
#include "shared/base/text.h"
#include "shared/expr/run.h"
#include "shared/model/config.h"
#include "worker/rules/rows.h"
#include "worker/rules/table_access.h"

namespace penstock {

namespace {

/// The number of a counter within tune.stick-counters; nothing after an alert.
std::optional<u32> counter_number(Compiler &compiler, string_view text) {
  u32 limit = compiler.config().global.tune.stick_counters;
  auto n = parse_u64(trim(text));
  if (n && *n < limit) return static_cast<u32>(*n);
  if (limit == 0) compiler.words().alert_last("nothing can be tracked with 'tune.stick-counters 0'");
  else
    compiler.words().alert_last("'" + std::string(text) + "' is not the number of a counter: they go from 0 to " + std::to_string(limit - 1),
                                "'tune.stick-counters' in the global section allows more");
  return std::nullopt;
}

// ---------------------------------------------------------------------------------------------- track

struct TrackAction : ActionData {
  u32 id = 0;
  Expr key;
  std::shared_ptr<const NameRef> table;
};

bool parse_track(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  auto data = std::make_unique<TrackAction>();
  std::string name = "track-sc" + std::string(compiler.action_argument());
  auto id = counter_number(compiler, compiler.action_argument());
  if (!id) return false;
  data->id = *id;
  auto key = compiler.expression();
  if (!key) return false;
  data->key = std::move(*key);
  data->table = compiler.table_option(data->key, name);
  out = std::move(data);
  return static_cast<TrackAction *>(out.get())->table != nullptr;
}

Verdict run_track(EvalContext &ctx, const ActionData *d) {
  const auto &a = *static_cast<const TrackAction *>(d);
  auto *def = static_cast<const TableDef *>(a.table->target);
  if (def == nullptr || def->live == nullptr || ctx.session == nullptr || find_tracker(ctx, a.id) != nullptr) return Verdict::Next;
  Sample key;
  TableKey k;
  if (!evaluate(ctx, a.key, key)) return ctx.need_more && !ctx.final ? Verdict::Yield : Verdict::Next;
  if (table_key(*def->live, key, ctx.scratch, k)) begin_tracking(ctx, a.id, *def->live, k);
  return Verdict::Next;
}

// ------------------------------------------------------------------------------------ counters and tags

struct ChangeAction : ActionData {
  DataType type, rate = DataType::count_;
  ColumnOp op = ColumnOp::Add;
  u32 element = 0, id = 0;
  u64 amount = 1;
  Expr expr;
  bool from_expr = false;
};

/// `(ELEMENT,COUNTER)`, or `(COUNTER)` of the single ones.
bool parse_numbers(Compiler &compiler, bool indexed, ChangeAction &data) {
  auto arguments = split(compiler.action_argument(), ',');
  if (arguments.size() != (indexed ? 2u : 1u)) {
    compiler.words().alert_last(indexed ? "expects an element and a counter in the parentheses, such as (0,1)" : "expects the number of a counter in the parentheses, such as (0)");
    return false;
  }
  if (indexed) {
    auto element = parse_u64(trim(arguments[0]));
    if (!element || *element > 99) {
      compiler.words().alert_last("the element is a number from 0 to 99, got '" + std::string(arguments[0]) + "'");
      return false;
    }
    data.element = static_cast<u32>(*element);
  }
  auto id = counter_number(compiler, arguments.back());
  if (id) data.id = *id;
  return id.has_value();
}

/// A number, or an expression.
bool parse_amount(Compiler &compiler, ChangeAction &data) {
  if (auto n = parse_u64(compiler.words().peek()); n && *n <= 0xffffffff) {
    compiler.words().next();
    data.amount = *n;
    return true;
  }
  auto expr = compiler.expression();
  if (!expr) return false;
  if (!castable(expr->out, Type::Int)) {
    compiler.words().alert_last("an integer is expected, got an expression of type " + std::string(type_name(expr->out)));
    return false;
  }
  data.expr = std::move(*expr);
  return data.from_expr = true;
}

struct ChangeKind {
  DataType type, rate;
  ColumnOp op;
  bool indexed, amount;
};

template <ChangeKind K> bool parse_change(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  auto data = std::make_unique<ChangeAction>();
  data->type = K.type, data->rate = K.rate, data->op = K.op;
  if (!parse_numbers(compiler, K.indexed, *data) || (K.amount && !parse_amount(compiler, *data))) return false;
  out = std::move(data);
  return true;
}

Verdict run_change(EvalContext &ctx, const ActionData *d) {
  const auto &a = *static_cast<const ChangeAction *>(d);
  Tracker *t = find_tracker(ctx, a.id);
  if (t == nullptr) return Verdict::Next;
  u64 amount = a.amount;
  if (a.from_expr) {
    Sample s;
    if (!evaluate_as(ctx, a.expr, Type::Int, s) || s.num < 0 || s.num > 0xffffffff) return Verdict::Next;
    amount = static_cast<u64>(s.num);
  }
  ColumnChange changes[] = {{t->table().column(a.type, a.element), a.op, amount}, {t->table().column(a.rate, a.element), a.op, amount}};
  t->run(changes);
  return Verdict::Next;
}

constexpr DataType none = DataType::count_;
constexpr ChangeKind add_gpc{DataType::Gpc, DataType::GpcRate, ColumnOp::Add, true, true}, inc_gpc{DataType::Gpc, DataType::GpcRate, ColumnOp::Add, true, false},
    inc_gpc0{DataType::Gpc0, DataType::Gpc0Rate, ColumnOp::Add, false, false}, inc_gpc1{DataType::Gpc1, DataType::Gpc1Rate, ColumnOp::Add, false, false},
    set_gpt{DataType::Gpt, none, ColumnOp::Set, true, true}, set_gpt0{DataType::Gpt0, none, ColumnOp::Set, false, true};

constexpr u32 all = at_any_tcp | at_any_http;
constexpr u32 tracking = at_tcp_connection | at_tcp_session | at_tcp_request | at_http_request | at_http_response;
constexpr ActionDef rows[] = {
    {.name = "sc-add-gpc(", .sets = all, .doc = {"Adds to an element of gpc of what a counter tracks.", "(ELEMENT,COUNTER) NUMBER|EXPRESSION. gpc_rate counts along. Where nothing is tracked or stored, nothing happens.", "stick-table type ip size 1k store gpc(2)\nhttp-request track-sc0 src\nhttp-request sc-add-gpc(0,0) req.hdr(x-score)"}, .parse = parse_change<add_gpc>, .run = run_change},
    {.name = "sc-inc-gpc(", .sets = all, .doc = {"Increments an element of gpc of what a counter tracks.", "(ELEMENT,COUNTER)", "stick-table type ip size 1k store gpc(2)\nhttp-request track-sc0 src\nhttp-request sc-inc-gpc(1,0) if { path_beg /login }"}, .parse = parse_change<inc_gpc>, .run = run_change},
    {.name = "sc-inc-gpc0(", .sets = all, .doc = {"Increments gpc0 of what a counter tracks.", "(COUNTER)", "stick-table type ip size 1k store gpc0\nhttp-request track-sc0 src\nhttp-request sc-inc-gpc0(0) if { path_beg /login }"}, .parse = parse_change<inc_gpc0>, .run = run_change},
    {.name = "sc-inc-gpc1(", .sets = all, .doc = {"Increments gpc1 of what a counter tracks.", "(COUNTER)", "stick-table type ip size 1k store gpc1\nhttp-request track-sc0 src\nhttp-request sc-inc-gpc1(0) if { path_beg /login }"}, .parse = parse_change<inc_gpc1>, .run = run_change},
    {.name = "sc-set-gpt(", .sets = all, .doc = {"Sets an element of gpt of what a counter tracks.", "(ELEMENT,COUNTER) NUMBER|EXPRESSION", "stick-table type ip size 1k store gpt(2)\nhttp-request track-sc0 src\nhttp-request sc-set-gpt(1,0) 7 if { path_beg /admin }"}, .parse = parse_change<set_gpt>, .run = run_change},
    {.name = "sc-set-gpt0(", .sets = all, .doc = {"Sets gpt0 of what a counter tracks.", "(COUNTER) NUMBER|EXPRESSION", "stick-table type ip size 1k store gpt0\nhttp-request track-sc0 src\nhttp-request sc-set-gpt0(0) 1 if { path_beg /admin }"}, .parse = parse_change<set_gpt0>, .run = run_change},
    {.name = "track-sc#", .sets = tracking, .doc = {"Tracks an entry of a stick table: events of the connection, or of the request, count into it.", "KEY [table TABLE]. Without 'table' it is the proxy's own. The entry is made if there is none, and stays while it is tracked. The first rule that tracks with a number counts; tcp-request connection and session rules track for the whole connection.", "backend per_ip\n    stick-table type ip size 1m expire 10m store http_req_rate(10s)\nfrontend www\n    mode http\n    http-request track-sc0 src table per_ip\n    http-request deny deny_status 429 if { sc_http_req_rate(0) gt 100 }"}, .parse = parse_track, .run = run_track},
};
static_assert(sorted_and_documented<ActionDef>(rows));

} // namespace

std::span<const ActionDef> act_track() { return rows; }

} // namespace penstock
