// SPDX-License-Identifier: BSD-2-Clause
// Variables (manual, section 2.8): values that rules keep. A variable is a node in its owner's arena
// (session, stream, check), found by its slot in a short list; a value that is set again reuses the
// node's memory, so that nothing is allocated from the heap in steady state. Those of scope proc live in
// this process' own memory.
#pragma once

#include "shared/expr/eval.h"
#include "shared/expr/sample.h"
#include "shared/expr/var_name.h"

namespace penstock {

struct VarNode {
  VarNode *next = nullptr;
  u32 slot = 0;
  bool is_set = false;
  Sample value;      // its text lies in `text`
  char *text = nullptr;
  u32 capacity = 0;  // of `text`
};

/// False when it is not set, or its scope does not exist here.
bool get_variable(const EvalContext &ctx, VarId id, Sample &out);
/// Copies the value. False when the scope does not exist here or tune.vars.*-max-size forbids it.
bool set_variable(EvalContext &ctx, VarId id, const Sample &value);
void unset_variable(EvalContext &ctx, VarId id);
/// The owner of so many bytes of variables is no more.
void variables_gone(u64 bytes);

/// A number out of a literal argument or the variable that it names (ArgType::IntOrVar).
bool number_argument(EvalContext &ctx, const struct ArgValue &arg, i64 &out);
/// Text out of a literal argument or variable (ArgType::StrOrVar, Var).
bool text_argument(EvalContext &ctx, const struct ArgValue &arg, string_view &out);

} // namespace penstock
