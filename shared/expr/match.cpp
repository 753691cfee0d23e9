// SPDX-License-Identifier: BSD-2-Clause
#include "shared/expr/match.h"

namespace penstock {

namespace {
struct MethodRow {
  string_view name;
  MatchMethod method;
  Type input;
};
constexpr MethodRow rows[] = {
    {"found", MatchMethod::Found, Type::Any}, {"bool", MatchMethod::Bool, Type::Bool}, {"int", MatchMethod::Int, Type::Int},
    {"ip", MatchMethod::Ip, Type::Addr},      {"bin", MatchMethod::Bin, Type::Bin},    {"len", MatchMethod::Len, Type::Str},
    {"str", MatchMethod::Str, Type::Str},     {"beg", MatchMethod::Beg, Type::Str},    {"sub", MatchMethod::Sub, Type::Str},
    {"dir", MatchMethod::Dir, Type::Str},     {"dom", MatchMethod::Dom, Type::Str},    {"end", MatchMethod::End, Type::Str},
    {"reg", MatchMethod::Reg, Type::Str},
};
} // namespace

std::optional<MatchMethod> match_method_of(string_view word) {
  for (const MethodRow &r : rows)
    if (r.name == word) return r.method;
  return std::nullopt;
}
string_view match_method_name(MatchMethod m) { return rows[static_cast<size_t>(m)].name; }
Type match_input(MatchMethod m) { return rows[static_cast<size_t>(m)].input; }

std::optional<MatchMethod> default_match(Type t) {
  switch (t) {
    case Type::Bool: return MatchMethod::Bool;
    case Type::Int: return MatchMethod::Int;
    case Type::Addr:
    case Type::Ipv4:
    case Type::Ipv6: return MatchMethod::Ip;
    case Type::Str:
    case Type::Meth: return MatchMethod::Str;
    default: return std::nullopt;
  }
}

} // namespace penstock
