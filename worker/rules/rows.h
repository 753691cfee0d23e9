// SPDX-License-Identifier: BSD-2-Clause
// What every file of rows starts from: how its functions look, and few helpers. A file holds one family
// of rows; the lists of files are in rules_list.cpp.
#pragma once

#include "shared/table/registry.h"

/// Heads of the functions in rows; unused parameters are the rule, not the exception.
#define PENSTOCK_FETCH(name)                                                                             \
  static bool name([[maybe_unused]] EvalContext &ctx, [[maybe_unused]] const Args &args,                 \
                   [[maybe_unused]] FetchCursor &cursor, [[maybe_unused]] Sample &out)
#define PENSTOCK_CONVERTER(name) \
  static bool name([[maybe_unused]] EvalContext &ctx, [[maybe_unused]] const Args &args, [[maybe_unused]] Sample &s)

namespace penstock {

inline bool give_bool(Sample &out, bool v) { return out.set_bool(v), true; }
inline bool give_int(Sample &out, i64 v) { return out.set_int(v), true; }
inline bool give_str(Sample &out, string_view v) { return out.set_str(v), true; }
/// Text that may be missing.
inline bool give_some(Sample &out, string_view v) { return out.set_str(v), !v.empty(); }

} // namespace penstock
