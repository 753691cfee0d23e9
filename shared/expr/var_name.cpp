// SPDX-License-Identifier: BSD-2-Clause
#include "shared/expr/var_name.h"

#include "shared/base/text.h"
#include "shared/model/config.h"

namespace penstock {

static std::optional<VarScope> scope_of(string_view word) {
  constexpr string_view names[] = {"proc", "sess", "txn", "req", "res", "check"};
  for (size_t i = 0; i < std::size(names); i++)
    if (names[i] == word) return static_cast<VarScope>(i);
  return std::nullopt;
}

std::optional<VarId> parse_variable(string_view name, Config &config, std::string &error) {
  size_t dot = name.find('.');
  auto scope = scope_of(name.substr(0, dot));
  bool good = dot != string_view::npos && dot + 1 < name.size() && scope;
  if (!good) {
    error = "'" + std::string(name) + "' is no variable: a name starts with its scope (proc, sess, txn, req, res or check) and a dot, as in 'txn.id'";
    return std::nullopt;
  }
  for (char c : name.substr(dot + 1)) {
    if (is_alpha(c) || is_digit(c) || c == '_' || c == '.' || c == '-') continue;
    error = "'" + std::string(name) + "' is no variable: a name holds letters, digits and '_', not '" + std::string(1, c) + "'";
    return std::nullopt;
  }
  return VarId{*scope, config.variable_slot(std::string(name))};
}

} // namespace penstock
