// SPDX-License-Identifier: BSD-2-Clause
#include "worker/rules/var_conditions.h"

namespace penstock {

namespace {
enum Bits : u32 { if_exists = 1, if_not_exists = 2, if_empty = 4, if_not_empty = 8, if_set = 16, if_not_set = 32, if_greater = 64, if_less = 128 };
struct Row { string_view word; u32 bit; };
constexpr Row rows[] = {
    {"ifexists", if_exists}, {"ifnotexists", if_not_exists}, {"ifempty", if_empty}, {"ifnotempty", if_not_empty},
    {"ifset", if_set}, {"ifnotset", if_not_set}, {"ifgt", if_greater}, {"iflt", if_less},
};

bool is_empty(const Sample &s) { return (s.type == Type::Str || s.type == Type::Bin) && s.str.empty(); }

bool both_numbers(const Sample &a, const Sample &b) { return a.type == Type::Int && b.type == Type::Int; }
} // namespace

bool add_var_condition(string_view word, u32 &bits, std::string &error) {
  for (const Row &r : rows)
    if (r.word == word) return bits |= r.bit, true;
  error = "unknown condition '" + std::string(word) + "'; there are ifexists, ifnotexists, ifempty, ifnotempty, ifset, ifnotset, ifgt and iflt";
  return false;
}

bool var_conditions_hold(const EvalContext &ctx, VarId id, u32 bits, const Sample &value) {
  if (!bits) return true;
  Sample old;
  bool set = get_variable(ctx, id, old);
  if (bits & (if_exists | if_set) && !set) return false;
  if (bits & (if_not_exists | if_not_set) && set) return false;
  if (bits & if_empty && !is_empty(value)) return false;
  if (bits & if_not_empty && is_empty(value)) return false;
  if (!set || !both_numbers(old, value)) return true; // nothing to compare
  if (bits & if_greater && old.num <= value.num) return false;
  if (bits & if_less && old.num >= value.num) return false;
  return true;
}

} // namespace penstock
