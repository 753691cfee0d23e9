// SPDX-License-Identifier: BSD-2-Clause
// The conditions of set-var(name,cond,…), which actions and the converter share.
#pragma once

#include <string>

#include "worker/stream/vars.h"

namespace penstock {

/// Adds the condition of that name to the bits; false and `error` on an unknown word.
bool add_var_condition(string_view word, u32 &bits, std::string &error);
/// Whether `value` may be stored.
bool var_conditions_hold(const EvalContext &ctx, VarId id, u32 bits, const Sample &value);

} // namespace penstock
