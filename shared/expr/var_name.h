// SPDX-License-Identifier: BSD-2-Clause
// Names of variables, "txn.session_id" (manual, section 2.8): a scope and a slot. The configuration
// gives every name its slot once (Config::variable_slot), so that running code compares numbers.
#pragma once

#include <optional>
#include <string>

#include "shared/base/basic.h"

namespace penstock {

struct Config;

enum class VarScope : u8 { Proc, Sess, Txn, Req, Res, Check };

struct VarId {
  VarScope scope = VarScope::Txn;
  u32 slot = 0;
  /// As one number, for ArgValue::num.
  i64 packed() const { return static_cast<i64>(scope) << 32 | slot; }
  static VarId unpacked(i64 v) { return {static_cast<VarScope>(v >> 32), static_cast<u32>(v)}; }
};

/// Checks the name and gives it its slot. On a mistake: nothing, and `error` says what a name looks like.
std::optional<VarId> parse_variable(string_view name, Config &config, std::string &error);

} // namespace penstock
