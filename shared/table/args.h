// SPDX-License-Identifier: BSD-2-Clause
// Typed arguments of fetches, converters and actions: `req.hdr(host,-1)`. The row declares them,
// the compiler checks and converts them once, the function reads values.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "shared/base/address.h"

namespace penstock {

enum class ArgType : u8 {
  None,
  Str,      // any text
  Int,      // signed number
  Time,     // delay, ms
  Size,     // bytes
  Ip,       // IPv4 or IPv6 address
  Mask4,    // /24 or 255.255.255.0 or 24
  Mask6,
  Regex,
  Frontend, // a name, resolved to const Proxy *
  Backend,
  Table,    // a proxy (or peers section) that has a stick table
  Server,   // [backend/]server, resolved to const Server *
  Userlist,
  Map,      // a map or pattern file
  Var,      // scope.name
};

struct ArgSpec {
  ArgType type = ArgType::None;
  string_view name; // as the manual calls it; for messages and documentation
  bool optional = false;
};
constexpr ArgSpec req(ArgType t, string_view name) { return {t, name, false}; }
constexpr ArgSpec opt(ArgType t, string_view name) { return {t, name, true}; }
using ArgSpecs = std::array<ArgSpec, 6>;

struct ArgValue {
  ArgType type = ArgType::None; // None: left out
  i64 num = 0;                  // Int, Time (ms), Size; Mask: prefix bits; Var: slot
  Ip ip;
  std::string str;              // Str; the written text of every type
  const void *ref = nullptr;    // what a name resolved to: Proxy, Server, Userlist, Regex, PatternSet
  explicit operator bool() const { return type != ArgType::None; }
};
using Args = std::vector<ArgValue>; // as many as the row declares; trailing ones may be None

} // namespace penstock
