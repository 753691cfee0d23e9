// SPDX-License-Identifier: BSD-2-Clause
// Converters that look something up or keep it: maps, variables, captures (manual, section 7.3.1).
#include "shared/expr/pattern.h"
#include "shared/model/config.h"
#include "worker/rules/http_view.h"
#include "worker/rules/rows.h"
#include "worker/rules/var_conditions.h"
#include "worker/stream/vars.h"

namespace penstock {

namespace {

enum class Out : u8 { Str, Int, Ip, Key };
constexpr Type type_of(Out o) { return o == Out::Int ? Type::Int : o == Out::Ip ? Type::Addr : Type::Str; }

/// The value of the entry that matches, else the default, else none. `groups`: \1 … in it come from the expression.
template <Out out, bool groups> bool map_value(EvalContext &ctx, const Args &args, Sample &s) {
  const PatternSet &set = *args[0].as<PatternSet>();
  const PatternRow *row = set.find(s);
  if (!row) {
    if (!args[1]) return false;
    s.set_str(args[1].str);
  } else if (out == Out::Key) {
    s.set_str(set.key(*row));
  } else if (groups) {
    Regex::Captures found;
    string_view subject = s.str;
    const Regex *re = set.regex(*row);
    if (!re || !re->search(subject, found)) return false;
    s.set_str(expand_groups(set.value(*row), subject, found, ctx.scratch));
  } else {
    s.set_str(set.value(*row));
  }
  s.is_const = true;
  return cast(s, type_of(out), ctx.scratch);
}

/// A default must have the type that comes out.
template <Out out> bool check_map(Args &args, std::string &error) {
  if (!args[1]) return true;
  Arena arena(64);
  Sample s;
  s.set_str(args[1].str);
  bool good = out == Out::Int ? !args[1].str.empty() && cast(s, Type::Int, arena) : cast(s, type_of(out), arena);
  if (!good) error = "the default '" + args[1].str + "' has not the type that the map gives";
  return good;
}

constexpr ArgSpecs map_args = {req(ArgType::Map, "file"), opt(ArgType::Str, "default")};
constexpr ArgSpecs key_args = {req(ArgType::Map, "file")};

template <Out out> constexpr ConverterDef map_row(string_view name, Type in, string_view summary, string_view example) {
  return {.name = name, .args = out == Out::Key ? key_args : map_args, .in = in, .out = type_of(out),
          .doc = {summary, "The file has a key and a value on each line. Without a match it is the default, or no value without one.", example},
          .eval = map_value<out, false>, .check = check_map<out>};
}

/// Stores what comes in and passes it on.
PENSTOCK_CONVERTER(set_var) {
  VarId id = VarId::unpacked(args[0].num);
  if (var_conditions_hold(ctx, id, static_cast<u32>(args[1].num), s)) set_variable(ctx, id, s);
  return true;
}
bool check_set_var(Args &args, std::string &error) {
  u32 bits = 0;
  for (size_t i = 1; i < args.size() && args[i]; i++)
    if (!add_var_condition(args[i].str, bits, error)) return false;
  args[1].num = bits;
  return true;
}
PENSTOCK_CONVERTER(unset_var) {
  unset_variable(ctx, VarId::unpacked(args[0].num));
  return true;
}

template <bool response> bool capture(EvalContext &ctx, const Args &args, Sample &s) {
  if (!ctx.stream) return false;
  auto slot = static_cast<u32>(args[0].num);
  u32 left = slot, length = 0;
  for (const CaptureSlot &c : ctx.stream->frontend().captures)
    if (c.is_request != response && left-- == 0) length = c.length;
  if (length == 0) return false;
  if (response) ctx.stream->capture_response(slot, s.str.substr(0, length));
  else ctx.stream->capture_request(slot, s.str.substr(0, length));
  return true;
}

constexpr Type S = Type::Str, I = Type::Int, A = Type::Addr;
#define PENSTOCK_MAPS(method, in, what)                                                                                              \
  map_row<Out::Str>("map_" method, in, "The value that a map has for " what ".", ""),                                            \
      map_row<Out::Int>("map_" method "_int", in, "The number that a map has for " what ".", ""),                               \
      map_row<Out::Ip>("map_" method "_ip", in, "The address that a map has for " what ".", ""),                                \
      map_row<Out::Key>("map_" method "_key", in, "The key itself that a map has for " what ".", ""),                          \
      map_row<Out::Str>("map_" method "_str", in, "The value that a map has for " what ".", "")

constexpr ConverterDef rows[] = {
    {.name = "capture-req", .args = {req(ArgType::Int, "slot")}, .in = S, .out = S, .doc = {"Keeps the value in a capture slot of the request.", "", "declare capture request len 20\nhttp-request set-var(txn.p) path,capture-req(0)"}, .eval = capture<false>},
    {.name = "capture-res", .args = {req(ArgType::Int, "slot")}, .in = S, .out = S, .doc = {"Keeps the value in a capture slot of the response.", "", "declare capture response len 20\nhttp-response set-var(txn.p) res.hdr(server),capture-res(0)"}, .eval = capture<true>},
    map_row<Out::Str>("map", S, "The value that a map has for exactly the text.", ""),
    PENSTOCK_MAPS("beg", S, "the longest key with which the text begins"),
    PENSTOCK_MAPS("dir", S, "a key that is a part of the text between slashes"),
    PENSTOCK_MAPS("dom", S, "a key that is a part of the text between dots"),
    PENSTOCK_MAPS("end", S, "the longest key with which the text ends"),
    PENSTOCK_MAPS("int", I, "the number"),
    PENSTOCK_MAPS("ip", A, "the smallest network that holds the address"),
    PENSTOCK_MAPS("reg", S, "the first expression that matches"),
    {.name = "map_regm", .args = map_args, .in = S, .out = S, .doc = {"The value that a map has for the first expression that matches, with \\1 to \\9 replaced by its groups.", "", ""}, .eval = map_value<Out::Str, true>, .check = check_map<Out::Str>},
    PENSTOCK_MAPS("str", S, "exactly the text"),
    PENSTOCK_MAPS("sub", S, "a key that occurs in the text"),
    {.name = "set-var", .args = {req(ArgType::Var, "variable"), opt(ArgType::Str, "condition"), opt(ArgType::Str, "condition"), opt(ArgType::Str, "condition"), opt(ArgType::Str, "condition"), opt(ArgType::Str, "condition")}, .in = Type::Any, .out = Type::Same, .doc = {"Stores the value in a variable and passes it on.", "Conditions as of the action set-var.", "http-request set-header X-Path %[path,set-var(txn.path)]"}, .eval = set_var, .check = check_set_var},
    {.name = "unset-var", .args = {req(ArgType::Var, "variable")}, .in = Type::Any, .out = Type::Same, .doc = {"Forgets a variable and passes the value on.", "", "http-request set-header X-Path %[path,unset-var(txn.path)]"}, .eval = unset_var},
};
static_assert(sorted_and_documented<ConverterDef>(rows));

} // namespace

std::span<const ConverterDef> conv_lookup() { return rows; }

} // namespace penstock
