// SPDX-License-Identifier: BSD-2-Clause
#include "shared/expr/run.h"

#include "shared/expr/pattern.h"

namespace penstock {

static bool run_converters(EvalContext &ctx, const Expr &expr, Sample &s) {
  for (const ConverterStep &step : expr.converters) {
    Type in = step.def->in;
    if (s.type != in && !cast(s, in, ctx.scratch)) return false;
    if (!step.def->eval(ctx, step.args, s)) return false;
  }
  return true;
}

bool evaluate(EvalContext &ctx, const Expr &expr, Sample &out) {
  FetchCursor cursor;
  return expr.fetch->eval(ctx, expr.args, cursor, out) && run_converters(ctx, expr, out);
}

bool evaluate_as(EvalContext &ctx, const Expr &expr, Type to, Sample &out) {
  return evaluate(ctx, expr, out) && cast(out, to, ctx.scratch);
}

// -------------------------------------------------------------------------------------- ACLs, conditions

static bool matches_any(const AclTest &test, const Sample &s) {
  if (test.match == MatchMethod::Bool) return s.num != 0;
  for (const auto &set : test.patterns)
    if (set->matches(s)) return true;
  return false;
}

/// All values that the fetch has, one after the other, until one matches.
static Truth run_test(EvalContext &ctx, const AclTest &test) {
  FetchCursor cursor;
  cursor.iterate = true;
  const Type input = match_input(test.match);
  bool needed_more = ctx.need_more;
  for (;;) {
    Sample s;
    if (!test.expr.fetch->eval(ctx, test.expr.args, cursor, s)) {
      bool lacks = ctx.need_more && !ctx.final;
      ctx.need_more = needed_more || lacks;
      return lacks ? Truth::Unknown : Truth::No;
    }
    bool again = s.may_change, grows = s.may_grow && !ctx.final;
    s.may_change = s.may_grow = false;
    if (run_converters(ctx, test.expr, s)) {
      if (test.match == MatchMethod::Found) return Truth::Yes;
      if (cast(s, input, ctx.scratch) && matches_any(test, s)) return Truth::Yes;
    }
    if (again) continue;
    if (!grows) return Truth::No;
    ctx.need_more = true;
    return Truth::Unknown;
  }
}

Truth evaluate(EvalContext &ctx, const Acl &acl) {
  Truth result = Truth::No;
  for (const AclTest &test : acl.tests) {
    Truth t = run_test(ctx, test);
    if (t == Truth::Yes) return t;
    if (t == Truth::Unknown) result = t;
  }
  return result;
}

static Truth evaluate_term(EvalContext &ctx, const ConditionTerm &term) {
  Truth t = evaluate(ctx, *term.acl);
  if (!term.negated || t == Truth::Unknown) return t;
  return t == Truth::Yes ? Truth::No : Truth::Yes;
}

Truth evaluate(EvalContext &ctx, const Condition &condition) {
  if (!condition.present) return Truth::Yes;
  Truth result = Truth::No;
  for (const auto &all_of : condition.any_of) {
    Truth group = Truth::Yes;
    for (const ConditionTerm &term : all_of) {
      Truth t = evaluate_term(ctx, term);
      if (t == Truth::Yes) continue;
      group = t;
      break; // No decides the group; Unknown must be known before what follows is looked at
    }
    if (group == Truth::Yes) {
      result = Truth::Yes;
      break;
    }
    if (group == Truth::Unknown) {
      result = Truth::Unknown;
      break;
    }
  }
  if (result == Truth::Unknown || !condition.unless) return result;
  return result == Truth::Yes ? Truth::No : Truth::Yes;
}

RuleOutcome run_rules(EvalContext &ctx, const RuleList &rules, size_t from) {
  for (size_t i = from; i < rules.size(); i++) {
    const Rule &rule = *rules[i];
    if (rule.condition.present) {
      Truth t = evaluate(ctx, rule.condition);
      if (t == Truth::Unknown) return {Verdict::Yield, i};
      if (t == Truth::No) continue;
    }
    if (!rule.action->run) continue;
    Verdict v = rule.action->run(ctx, rule.data.get());
    if (v != Verdict::Next) return {v, i};
  }
  return {Verdict::Next, rules.size()};
}

} // namespace penstock
