// SPDX-License-Identifier: BSD-2-Clause
// Typed arguments of fetches, converters and actions: `req.hdr(host,-1)`. The row declares them,
// the compiler checks and converts them once, the function reads values.
#pragma once

#include <array>
#include <memory>
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
  Table,    // a stick table by name, resolved to const TableDef *
  OwnTable, // the same; left out, it is the table of the proxy in which the expression stands
  Server,   // [backend/]server, resolved to const Server *
  Userlist,
  Map,      // a map or pattern file
  Var,      // scope.name
  IntOrVar, // a number, or the variable that holds it
  StrOrVar, // text, or the variable that holds it
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
  i64 num = 0;                  // Int, Time (ms), Size; Mask: prefix bits; Var: VarId::packed()
  Ip ip;
  std::string str;              // Str; the written text of every type
  const void *ref = nullptr;    // Regex, PatternSet: the object. Of a name: see target()
  std::shared_ptr<const void> owner; // keeps `ref` alive; of names it is the NameRef
  template <class T> const T *as() const { return static_cast<const T *>(ref); }
  /// What a name (Frontend, Backend, Table, Server, Userlist) resolved to.
  template <class T> const T *target() const;
  explicit operator bool() const { return type != ArgType::None; }
};

/// A name that may be declared further down in the configuration: resolved once all is read
/// (resolve_names() in shared/expr/compile.h). Copies of an argument share it.
struct NameRef {
  ArgType type = ArgType::None;
  std::string text;
  const void *target = nullptr;
};
template <class T> const T *ArgValue::target() const {
  return ref ? static_cast<const T *>(static_cast<const NameRef *>(ref)->target) : nullptr;
}
using Args = std::vector<ArgValue>; // as many as the row declares; trailing ones may be None

} // namespace penstock
