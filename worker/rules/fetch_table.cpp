// SPDX-License-Identifier: BSD-2-Clause
// Fetches of stick table entries: tracked ones (sc_*, sc0_*, sc1_*, sc2_*), the client's address (src_*),
// and the tables themselves (manual, section 7.3.3).
#include "worker/rules/rows.h"
#include "worker/rules/table_rows.h"

namespace penstock {

namespace {

using table_rows::values;

/// Where a family finds its entry. Sc0 … Sc2 have the counter's number in their name.
enum class Family : u8 { Sc0, Sc1, Sc2, Sc, Src };
constexpr string_view prefixes[] = {"sc0_", "sc1_", "sc2_", "sc_", "src_"};

StickTable *live_table(const ArgValue &arg) {
  const TableDef *def = arg.target<TableDef>();
  return def != nullptr ? def->live : nullptr;
}

/// The tracked entry, or what another table has for its key. False: not tracked, or the key does not fit.
bool tracked_entry(EvalContext &ctx, u32 id, const ArgValue &other, TableAccess &access) {
  Tracker *t = find_tracker(ctx, id);
  if (t == nullptr) return false;
  StickTable *table = other ? live_table(other) : &t->table();
  if (table == nullptr) return false;
  access.table = table;
  if (table == &t->table()) return access.tracker = t, true;
  Sample key;
  key_sample(t->table(), t->table().key_of(t->held), key);
  return table_key(*table, key, ctx.scratch, access.key);
}

bool source_entry(EvalContext &ctx, const ArgValue &table, TableAccess &access) {
  access.table = live_table(table);
  if (access.table == nullptr || ctx.session == nullptr || !ctx.session->source().is_inet()) return false;
  Sample key;
  key.set_ip(ctx.session->source().ip);
  return table_key(*access.table, key, ctx.scratch, access.key);
}

/// The arguments of a family are, in this order: the element, the counter, the table.
template <Family F> bool find_entry(EvalContext &ctx, const Args &args, bool indexed, TableAccess &access) {
  size_t at = indexed ? 1 : 0;
  if constexpr (F == Family::Src) return source_entry(ctx, args[at], access);
  else if constexpr (F == Family::Sc) return tracked_entry(ctx, static_cast<u32>(args[at].num), args[at + 1], access);
  else return tracked_entry(ctx, static_cast<u32>(F), args[at], access);
}

template <Family F, size_t I> bool value(EvalContext &ctx, const Args &args, FetchCursor &, Sample &out) {
  constexpr const table_rows::Value &v = values[I];
  TableAccess access{.ctx = ctx, .key = {}};
  if (!find_entry<F>(ctx, args, v.indexed, access)) return false;
  return table_value(access, v.spec, v.indexed ? static_cast<u32>(args[0].num) : 0, out);
}

bool check_numbers(Args &args, std::string &error) {
  for (const ArgValue &a : args)
    if (a.type == ArgType::Int && (a.num < 0 || a.num > 255)) return error = "'" + a.str + "' is not the number of a counter", false;
  return true;
}

// ------------------------------------------------------------------------------------------- the rest

template <Family F> bool key(EvalContext &ctx, const Args &args, FetchCursor &, Sample &out) {
  u32 id = F == Family::Sc ? static_cast<u32>(args[0].num) : static_cast<u32>(F);
  const Tracker *t = find_tracker(ctx, id);
  if (t == nullptr) return false;
  key_sample(t->table(), t->table().key_of(t->held), out);
  return true;
}
template <Family F> bool tracked(EvalContext &ctx, const Args &args, FetchCursor &, Sample &out) {
  TableAccess access{.ctx = ctx, .key = {}};
  return give_bool(out, find_entry<F>(ctx, args, false, access) && access.look({}));
}
template <Family F> bool trackers(EvalContext &ctx, const Args &args, FetchCursor &, Sample &out) {
  TableAccess access{.ctx = ctx, .key = {}};
  if (!find_entry<F>(ctx, args, false, access)) return false;
  EntryFacts facts;
  return give_int(out, access.look({}, &facts) ? facts.refs : 0);
}

PENSTOCK_FETCH(update_connections) {
  TableAccess access{.ctx = ctx, .key = {}};
  if (!find_entry<Family::Src>(ctx, args, false, access)) return false;
  ColumnChange c{access.table->column(DataType::ConnCnt), ColumnOp::Add, 1};
  return c.column != no_column && access.update({&c, 1}) && give_int(out, static_cast<i64>(c.result));
}
PENSTOCK_FETCH(entries_used) {
  const StickTable *t = live_table(args[0]);
  return t && give_int(out, t->used());
}
PENSTOCK_FETCH(entries_free) {
  const StickTable *t = live_table(args[0]);
  return t && give_int(out, t->size() > t->used() ? t->size() - t->used() : 0);
}

// ----------------------------------------------------------------------------------------------- rows

template <Family F> constexpr ArgSpecs specs(bool indexed) {
  ArgSpecs out{};
  size_t n = 0;
  if (indexed) out[n++] = req(ArgType::Int, "element");
  if (F == Family::Sc) out[n++] = req(ArgType::Int, "counter");
  out[n] = F == Family::Src ? opt(ArgType::OwnTable, "table") : opt(ArgType::Table, "table");
  return out;
}

constexpr string_view about_tracked = "Of the entry that the counter tracks, or of what another table has for the same key. No match while nothing is tracked.";
constexpr string_view about_source = "Of the entry that the proxy's own table, or the one that is named, has for the client's address.";

template <Family F, size_t I> struct Row {
  static constexpr auto build_name() {
    table_rows::Text<40> t;
    t.add(prefixes[static_cast<size_t>(F)]), t.add(values[I].name);
    return t;
  }
  static constexpr auto name = build_name();
  static constexpr auto build_example() {
    constexpr string_view number[] = {"0", "1", "2", "0", ""};
    table_rows::Text<240> t;
    t.add("stick-table type ip size 100k expire 10m store "), t.add(values[I].store);
    if (F != Family::Src) t.add("\ntcp-request connection track-sc"), t.add(number[static_cast<size_t>(F)]), t.add(" src");
    t.add("\nhttp-request deny if { "), t.add(name.view());
    string_view arguments = F == Family::Sc ? values[I].indexed ? "(1,0)" : "(0)" : values[I].indexed ? "(1)" : "";
    t.add(arguments), t.add(" gt 100 }");
    return t;
  }
  static constexpr auto example = build_example();
  static constexpr FetchDef def() {
    return {.name = name.view(), .args = specs<F>(values[I].indexed), .out = Type::Int, .needs = needs_client,
            .doc = {values[I].summary, F == Family::Src ? about_source : about_tracked, example.view()}, .eval = value<F, I>, .check = check_numbers};
  }
};

/// The numbered families leave the arrays to sc_*.
constexpr bool has_row(Family f, size_t i) { return !(values[i].indexed && f < Family::Sc); }

template <Family F> constexpr size_t rows_of_family() {
  size_t n = 0;
  for (size_t i = 0; i < table_rows::count; i++) n += has_row(F, i);
  return n;
}
template <Family F, size_t... I> constexpr auto family_rows(std::index_sequence<I...>) {
  std::array<FetchDef, rows_of_family<F>()> out{};
  size_t n = 0;
  ((has_row(F, I) ? void(out[n++] = Row<F, I>::def()) : void()), ...);
  return out;
}
template <Family F> constexpr auto family = family_rows<F>(std::make_index_sequence<table_rows::count>{});

constexpr u32 C = needs_client;
constexpr FetchDef others[] = {
    {.name = "sc0_key", .out = Type::Any, .needs = C, .doc = {"The key that track-sc0 tracks.", "", "stick-table type ip size 1k\nhttp-request track-sc0 src\nhttp-request set-header X-Key %[sc0_key]"}, .eval = key<Family::Sc0>},
    {.name = "sc0_tracked", .args = specs<Family::Sc0>(false), .out = Type::Bool, .needs = C, .doc = {"Whether track-sc0 tracks something.", "", "stick-table type ip size 1k\nhttp-request track-sc0 src\nacl known sc0_tracked"}, .eval = tracked<Family::Sc0>},
    {.name = "sc0_trackers", .args = specs<Family::Sc0>(false), .out = Type::Int, .needs = C, .doc = {"How many connections and streams track the same entry as sc0.", "", "stick-table type ip size 1k\nhttp-request track-sc0 src\nacl many sc0_trackers gt 10"}, .eval = trackers<Family::Sc0>},
    {.name = "sc1_key", .out = Type::Any, .needs = C, .doc = {"The key that track-sc1 tracks.", "", "stick-table type ip size 1k\nhttp-request track-sc1 src\nhttp-request set-header X-Key %[sc1_key]"}, .eval = key<Family::Sc1>},
    {.name = "sc1_tracked", .args = specs<Family::Sc1>(false), .out = Type::Bool, .needs = C, .doc = {"Whether track-sc1 tracks something.", "", "stick-table type ip size 1k\nhttp-request track-sc1 src\nacl known sc1_tracked"}, .eval = tracked<Family::Sc1>},
    {.name = "sc1_trackers", .args = specs<Family::Sc1>(false), .out = Type::Int, .needs = C, .doc = {"How many connections and streams track the same entry as sc1.", "", "stick-table type ip size 1k\nhttp-request track-sc1 src\nacl many sc1_trackers gt 10"}, .eval = trackers<Family::Sc1>},
    {.name = "sc2_key", .out = Type::Any, .needs = C, .doc = {"The key that track-sc2 tracks.", "", "stick-table type ip size 1k\nhttp-request track-sc2 src\nhttp-request set-header X-Key %[sc2_key]"}, .eval = key<Family::Sc2>},
    {.name = "sc2_tracked", .args = specs<Family::Sc2>(false), .out = Type::Bool, .needs = C, .doc = {"Whether track-sc2 tracks something.", "", "stick-table type ip size 1k\nhttp-request track-sc2 src\nacl known sc2_tracked"}, .eval = tracked<Family::Sc2>},
    {.name = "sc2_trackers", .args = specs<Family::Sc2>(false), .out = Type::Int, .needs = C, .doc = {"How many connections and streams track the same entry as sc2.", "", "stick-table type ip size 1k\nhttp-request track-sc2 src\nacl many sc2_trackers gt 10"}, .eval = trackers<Family::Sc2>},
    {.name = "sc_key", .args = {req(ArgType::Int, "counter")}, .out = Type::Any, .needs = C, .doc = {"The key that a counter tracks.", "", "stick-table type ip size 1k\nhttp-request track-sc0 src\nhttp-request set-header X-Key %[sc_key(0)]"}, .eval = key<Family::Sc>, .check = check_numbers},
    {.name = "sc_tracked", .args = specs<Family::Sc>(false), .out = Type::Bool, .needs = C, .doc = {"Whether a counter tracks something.", "With a table: whether that one has an entry for the key.", "stick-table type ip size 1k\nhttp-request track-sc0 src\nacl known sc_tracked(0)"}, .eval = tracked<Family::Sc>, .check = check_numbers},
    {.name = "sc_trackers", .args = specs<Family::Sc>(false), .out = Type::Int, .needs = C, .doc = {"How many connections and streams track the same entry.", "Unlike conn_cur it needs nothing to be stored.", "stick-table type ip size 1k\nhttp-request track-sc0 src\nacl many sc_trackers(0) gt 10"}, .eval = trackers<Family::Sc>, .check = check_numbers},
    {.name = "src_updt_conn_cnt", .args = specs<Family::Src>(false), .out = Type::Int, .needs = C, .doc = {"Increments conn_cnt of the client's address, entered if it is new, and gives what it is now.", "Tracking is the better way in most cases.", "stick-table type ip size 20 expire 10s store conn_cnt\ntcp-request content reject if { src_updt_conn_cnt gt 3 }"}, .eval = update_connections},
    {.name = "table_avl", .args = specs<Family::Src>(false), .out = Type::Int, .doc = {"How many more entries the table can take.", "", "stick-table type ip size 1k\nhttp-request set-header X-Free %[table_avl]"}, .eval = entries_free},
    {.name = "table_cnt", .args = specs<Family::Src>(false), .out = Type::Int, .doc = {"How many entries the table has.", "", "stick-table type ip size 1k\nhttp-request set-header X-Used %[table_cnt]"}, .eval = entries_used},
};
static_assert(sorted_and_documented<FetchDef>(others));

} // namespace

std::span<const FetchDef> fetch_table() { return others; }
std::span<const FetchDef> fetch_table_sc0() { return family<Family::Sc0>; }
std::span<const FetchDef> fetch_table_sc1() { return family<Family::Sc1>; }
std::span<const FetchDef> fetch_table_sc2() { return family<Family::Sc2>; }
std::span<const FetchDef> fetch_table_sc() { return family<Family::Sc>; }
std::span<const FetchDef> fetch_table_src() { return family<Family::Src>; }

} // namespace penstock
