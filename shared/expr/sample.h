// SPDX-License-Identifier: BSD-2-Clause
// A sample: the typed value that a fetch yields and converters change (manual, section 7.1 and 7.3).
#pragma once

#include <string>

#include "shared/base/address.h"
#include "shared/base/arena.h"

namespace penstock {

enum class Type : u8 {
  Any,  // "depends": known when it runs
  Same, // of a converter: what came in
  Bool,
  Int,  // signed 64 bits
  Addr, // IPv4 or IPv6, as input type and as a fetch's declared output
  Ipv4,
  Ipv6,
  Str,
  Bin,
  Meth,
};
string_view type_name(Type t); // the manual's word: "bool", "sint", "addr", "ipv4", …

struct Sample {
  Type type = Type::Bool; // never Any, Same or Addr
  bool is_const = false;  // `str` points at memory that outlives the evaluation and must not be written
  bool may_change = false; // another evaluation of the same expression may yield the next value
  bool may_grow = false;  // more bytes may make it another value: no match is not the last word yet
  i64 num = 0;            // Bool (0/1), Int, Meth (Method)
  Ip ip;                  // Ipv4, Ipv6
  string_view str;        // Str, Bin, Meth of an unknown method; lives until the evaluation's arena is reset

  void set_bool(bool v) { type = Type::Bool, num = v; }
  void set_int(i64 v) { type = Type::Int, num = v; }
  void set_str(string_view v) { type = Type::Str, str = v; }
  void set_bin(string_view v) { type = Type::Bin, str = v; }
  void set_ip(const Ip &v) { type = v.is_v4() ? Type::Ipv4 : Type::Ipv6, ip = v; }
};

/// The manual's table of conversions (section 7.1). False where there is none or the text does not
/// parse; `s` is then unspecified. Text results are taken from `arena`.
bool cast(Sample &s, Type to, Arena &arena);
/// Whether the table has an entry at all; known when the configuration is read.
bool castable(Type from, Type to);

} // namespace penstock
