// SPDX-License-Identifier: BSD-2-Clause
// Converters that look their input up in a stick table: table_*, in_table (manual, section 7.3.1). None of
// them refreshes the entry; those that change it do.
#include "worker/rules/rows.h"
#include "worker/rules/table_rows.h"
#include "worker/worker.h"

namespace penstock {

namespace {

using table_rows::values;

constexpr string_view name_of(size_t i) { return values[i].conv.empty() ? values[i].name : values[i].conv; }

bool find_entry(const ArgValue &arg, Sample &s, TableAccess &access) {
  const TableDef *def = arg.target<TableDef>();
  access.table = def != nullptr ? def->live : nullptr;
  return access.table != nullptr && table_key(*access.table, s, access.ctx.scratch, access.key);
}

template <size_t I> bool value(EvalContext &ctx, const Args &args, Sample &s) {
  constexpr const table_rows::Value &v = values[I];
  TableAccess access{.ctx = ctx, .key = {}};
  return find_entry(args[v.indexed ? 1 : 0], s, access) && table_value(access, v.spec, v.indexed ? static_cast<u32>(args[0].num) : 0, s);
}

bool check_element(Args &args, std::string &error) {
  if (args[0].type != ArgType::Int || (args[0].num >= 0 && args[0].num < 100)) return true;
  return error = "the element is a number from 0 to 99, got '" + args[0].str + "'", false;
}

// ------------------------------------------------------------------------------------------- the rest

PENSTOCK_CONVERTER(in_table) {
  TableAccess access{.ctx = ctx, .key = {}};
  return find_entry(args[0], s, access) && give_bool(s, access.look({}));
}

PENSTOCK_CONVERTER(server_id) {
  TableAccess access{.ctx = ctx, .key = {}};
  return find_entry(args[0], s, access) && table_value(access, {ValueOp::Get, DataType::ServerId}, 0, s);
}

PENSTOCK_CONVERTER(trackers) {
  TableAccess access{.ctx = ctx, .key = {}};
  EntryFacts facts;
  return find_entry(args[0], s, access) && give_int(s, access.look({}, &facts) ? facts.refs : 0);
}

enum class Clock : u8 { Idle, Expire };
/// How long the entry has been idle, or will live; without one, the default or no match.
template <Clock C> bool clock_of(EvalContext &ctx, const Args &args, Sample &s) {
  TableAccess access{.ctx = ctx, .key = {}};
  if (!find_entry(args[0], s, access)) return false;
  EntryFacts facts;
  if (!access.look({}, &facts)) return args[1] && give_int(s, args[1].num);
  Tick now = this_worker() ? this_worker()->loop.now() : monotonic_ms();
  Millis idle = std::max<Millis>(0, now - facts.touched_us / 1000);
  if (C == Clock::Idle) return give_int(s, idle);
  Millis limit = access.table->expire();
  return give_int(s, limit == eternity ? 0 : limit - idle);
}

// ----------------------------------------------------------------------------------------------- rows

constexpr ArgSpecs indexed_specs = {req(ArgType::Int, "element"), opt(ArgType::OwnTable, "table")};
constexpr ArgSpecs plain_specs = {opt(ArgType::OwnTable, "table")};
constexpr ArgSpecs default_specs = {opt(ArgType::OwnTable, "table"), opt(ArgType::Int, "default")};
constexpr string_view about = "Of the entry that the proxy's own table, or the one that is named, has for the input. 0 where there is none; no match where the table does not store it.";

template <size_t I> struct Row {
  static constexpr auto build_name() {
    table_rows::Text<40> t;
    t.add("table_"), t.add(name_of(I));
    return t;
  }
  static constexpr auto name = build_name();
  static constexpr auto build_example() {
    table_rows::Text<240> t;
    t.add("stick-table type ip size 100k expire 10m store "), t.add(values[I].store);
    t.add("\nhttp-request deny if { src,"), t.add(name.view()), t.add(values[I].indexed ? "(1)" : ""), t.add(" gt 100 }");
    return t;
  }
  static constexpr auto example = build_example();
  static constexpr ConverterDef def() {
    return {.name = name.view(), .args = values[I].indexed ? indexed_specs : plain_specs, .in = Type::Any, .out = Type::Int,
            .doc = {values[I].summary, about, example.view()}, .eval = value<I>, .check = values[I].indexed ? check_element : nullptr};
  }
};

template <size_t... I> constexpr auto value_rows(std::index_sequence<I...>) { return std::array{Row<I>::def()...}; }
constexpr auto rows = value_rows(std::make_index_sequence<table_rows::count>{});

constexpr ConverterDef others[] = {
    {.name = "in_table", .args = plain_specs, .in = Type::Any, .out = Type::Bool, .doc = {"Whether the table has an entry for the input.", "", "stick-table type ip size 1k\nhttp-request deny unless { src,in_table }"}, .eval = in_table},
    {.name = "table_expire", .args = default_specs, .in = Type::Any, .out = Type::Int, .doc = {"Milliseconds until the entry expires.", "Where there is none: the default, or no match.", "stick-table type ip size 1k expire 10m\nhttp-request set-header X-Expire %[src,table_expire]"}, .eval = clock_of<Clock::Expire>},
    {.name = "table_idle", .args = default_specs, .in = Type::Any, .out = Type::Int, .doc = {"Milliseconds since the entry was last used.", "Where there is none: the default, or no match.", "stick-table type ip size 1k expire 10m\nhttp-request set-header X-Idle %[src,table_idle]"}, .eval = clock_of<Clock::Idle>},
    {.name = "table_server_id", .args = plain_specs, .in = Type::Any, .out = Type::Int, .doc = {"The number of the server that 'stick' rules stored for the input; 0 where there is none.", "", "stick-table type ip size 1k store server_id\nhttp-request set-header X-Server %[src,table_server_id]"}, .eval = server_id},
    {.name = "table_trackers", .args = plain_specs, .in = Type::Any, .out = Type::Int, .doc = {"How many connections and streams track the entry; 0 where there is none.", "", "stick-table type ip size 1k\nhttp-request deny if { src,table_trackers gt 20 }"}, .eval = trackers},
};
static_assert(sorted_and_documented<ConverterDef>(others));

} // namespace

std::span<const ConverterDef> conv_table() { return others; }
std::span<const ConverterDef> conv_table_values() { return rows; }

} // namespace penstock
