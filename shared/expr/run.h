// SPDX-License-Identifier: BSD-2-Clause
// Running what compile.h made. Nothing here allocates from the heap; text comes from ctx.scratch.
#pragma once

#include "shared/expr/compile.h"

namespace penstock {

/// Three values: a condition whose fetch lacks bytes is Unknown, and ctx.need_more is set.
enum class Truth : u8 { No, Yes, Unknown };

/// The expression's value; false is "no match".
bool evaluate(EvalContext &ctx, const Expr &expr, Sample &out);
/// The same, cast to `to`.
bool evaluate_as(EvalContext &ctx, const Expr &expr, Type to, Sample &out);
Truth evaluate(EvalContext &ctx, const Condition &condition);
Truth evaluate(EvalContext &ctx, const Acl &acl);

/// Formats into [out, out+capacity); returns the length, cut at the capacity.
size_t format(EvalContext &ctx, const LogFormat &format, char *out, size_t capacity);
/// The formatted text in ctx.scratch.
string_view format(EvalContext &ctx, const LogFormat &format, size_t limit = 65536);

struct RuleOutcome {
  Verdict verdict = Verdict::Next; // Next: the list ran to its end
  size_t index = 0;                // of the rule that decided (or must run again, for Yield)
};
/// Runs `rules` from `from` on until one decides.
RuleOutcome run_rules(EvalContext &ctx, const RuleList &rules, size_t from = 0);

} // namespace penstock
