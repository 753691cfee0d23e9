// SPDX-License-Identifier: BSD-2-Clause
// The table of conversions between types (manual, section 7.3), asked twice: when the configuration is
// read (castable) and when an expression runs (cast).
#include "shared/expr/sample.h"

#include <charconv>

#include "shared/base/text.h"
#include "shared/http/names.h"

namespace penstock {

string_view type_name(Type t) {
  switch (t) {
    case Type::Any: return "any";
    case Type::Same: return "same";
    case Type::Bool: return "boolean";
    case Type::Int: return "integer";
    case Type::Addr: return "address";
    case Type::Ipv4: return "ipv4";
    case Type::Ipv6: return "ipv6";
    case Type::Str: return "string";
    case Type::Bin: return "binary";
    case Type::Meth: return "method";
  }
  return "?";
}

namespace {

string_view text_of_ip(const Ip &ip, Arena &arena) {
  char *p = arena.chars(46);
  return {p, ip.write(p)};
}

string_view text_of_int(i64 v, Arena &arena) {
  char *p = arena.chars(21);
  return {p, static_cast<size_t>(std::to_chars(p, p + 21, v).ptr - p)};
}

/// Digits up to the first other character, bound to the type's range; nothing for an empty text.
bool int_of_text(string_view s, i64 &out) {
  if (s.empty()) return false;
  bool negative = s[0] == '-';
  size_t i = s[0] == '-' || s[0] == '+';
  i64 v = 0;
  for (; i < s.size() && is_digit(s[i]); i++) {
    int digit = s[i] - '0';
    if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, negative ? -digit : digit, &v)) {
      out = negative ? INT64_MIN : INT64_MAX;
      return true;
    }
  }
  out = v;
  return true;
}

string_view big_endian(u64 v, Arena &arena) {
  char *p = arena.chars(8);
  for (int i = 7; i >= 0; i--, v >>= 8) p[i] = static_cast<char>(v);
  return {p, 8};
}

string_view method_text(const Sample &s) {
  auto m = static_cast<Method>(s.num);
  return m == Method::Other ? s.str : method_name(m);
}

bool to_int(Sample &s) {
  switch (s.type) {
    case Type::Bool: break;
    case Type::Ipv4: s.num = s.ip.v4_host_order(); break;
    case Type::Str: {
      i64 v;
      if (!int_of_text(s.str, v)) return false;
      s.num = v;
      break;
    }
    default: return false;
  }
  s.type = Type::Int;
  return true;
}

bool to_bool(Sample &s) {
  if (s.type != Type::Int && !(s.type == Type::Str && to_int(s))) return false;
  s.set_bool(s.num != 0);
  return true;
}

bool to_ip(Sample &s, Type to) {
  if (s.type == Type::Str) {
    auto ip = parse_ip(s.str);
    if (!ip) return false;
    s.set_ip(*ip);
  } else if (s.type == Type::Int) {
    s.set_ip(Ip::v4(static_cast<u32>(s.num)));
  } else if (s.type != Type::Ipv4 && s.type != Type::Ipv6) {
    return false;
  }
  if (to == Type::Ipv4 && s.type == Type::Ipv6) {
    auto v4 = s.ip.to_v4();
    if (!v4) return false;
    s.set_ip(*v4);
  } else if (to == Type::Ipv6 && s.type == Type::Ipv4) {
    s.set_ip(s.ip.to_v6());
  }
  return true;
}

bool to_str(Sample &s, Arena &arena) {
  switch (s.type) {
    case Type::Bool:
    case Type::Int: s.set_str(text_of_int(s.num, arena)); break;
    case Type::Ipv4:
    case Type::Ipv6: s.set_str(text_of_ip(s.ip, arena)); break;
    case Type::Bin: s.set_str(s.str.substr(0, s.str.find('\0'))); break;
    case Type::Meth: s.set_str(method_text(s)); break;
    default: return false;
  }
  s.is_const = true;
  return true;
}

bool to_bin(Sample &s, Arena &arena) {
  switch (s.type) {
    case Type::Bool:
    case Type::Int: s.set_bin(big_endian(static_cast<u64>(s.num), arena)); break;
    case Type::Ipv4: s.set_bin(arena.copy({reinterpret_cast<const char *>(s.ip.bytes.data()), 4})); break;
    case Type::Ipv6: s.set_bin(arena.copy({reinterpret_cast<const char *>(s.ip.bytes.data()), 16})); break;
    case Type::Str: s.type = Type::Bin; break;
    case Type::Meth: s.set_bin(method_text(s)); break;
    default: return false;
  }
  return true;
}

bool to_meth(Sample &s) {
  if (s.type != Type::Str) return false;
  s.num = static_cast<i64>(method_of(s.str));
  s.type = Type::Meth;
  return true;
}

constexpr u32 bit(Type t) { return 1u << static_cast<unsigned>(t); }
constexpr u32 ips = bit(Type::Addr) | bit(Type::Ipv4) | bit(Type::Ipv6);

/// To which types each type converts, itself aside.
u32 targets(Type from) {
  constexpr u32 str = bit(Type::Str), bin = bit(Type::Bin), num = bit(Type::Int), boolean = bit(Type::Bool);
  switch (from) {
    case Type::Bool: return num | str | bin;
    case Type::Int: return boolean | ips | str | bin;
    case Type::Addr: return ips | num | str | bin;
    case Type::Ipv4: return ips | num | str | bin;
    case Type::Ipv6: return ips | str | bin;
    case Type::Str: return boolean | num | ips | bin | bit(Type::Meth);
    case Type::Bin: return str;
    case Type::Meth: return str | bin;
    default: return 0;
  }
}

} // namespace

bool castable(Type from, Type to) {
  if (from == to || to == Type::Any || to == Type::Same || from == Type::Any || from == Type::Same) return true;
  return targets(from) & bit(to);
}

bool cast(Sample &s, Type to, Arena &arena) {
  if (s.type == to) return true;
  switch (to) {
    case Type::Any:
    case Type::Same: return true;
    case Type::Bool: return to_bool(s);
    case Type::Int: return to_int(s);
    case Type::Addr:
    case Type::Ipv4:
    case Type::Ipv6: return to_ip(s, to);
    case Type::Str: return to_str(s, arena);
    case Type::Bin: return to_bin(s, arena);
    case Type::Meth: return to_meth(s);
  }
  return false;
}

} // namespace penstock
