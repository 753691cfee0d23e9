// SPDX-License-Identifier: BSD-2-Clause
// `stick-table` of a proxy and `table` of a peers section (manual, section 11.1). What else may stand in a
// peers section is refused as not supported yet.
#include <algorithm>

#include "master/config/choice.h"
#include "master/config/kw_proxy.h"
#include "shared/base/text.h"

namespace penstock {

namespace {

constexpr u32 most_elements = 100;      // of gpc, gpt, gpc_rate
constexpr u32 most_entries = 1u << 30;
constexpr u32 longest_key = 16'384;
constexpr Millis longest = 2'147'483'647; // ms: about 24.8 days

// ---------------------------------------------------------------------------------------------- store

/// What is wrong with an item of `store`, or "".
std::string read_item(string_view item, StoredType &out) {
  size_t open = item.find('(');
  string_view name = trim(item.substr(0, open));
  NearMiss near(name);
  size_t type = data_types;
  for (size_t i = 0; i < data_types; i++) {
    if (data_type_info[i].name == name) type = i;
    near.consider(data_type_info[i].name);
  }
  if (type == data_types) {
    std::string hint = near.hint();
    return "a table cannot store '" + std::string(name) + "'" + (hint.empty() ? "" : ": " + hint);
  }
  out.type = static_cast<DataType>(type);
  const DataTypeInfo &info = data_type_info[type];
  bool rate = info.kind == DataKind::Rate;
  std::string form = std::string(name) + (info.array ? rate ? "(NUMBER,PERIOD)" : "(NUMBER)" : rate ? "(PERIOD)" : "");
  std::vector<string_view> arguments;
  if (open != string_view::npos) {
    if (!item.ends_with(')')) return "')' is missing at the end of '" + std::string(item) + "'";
    arguments = split(item.substr(open + 1, item.size() - open - 2), ',');
  }
  if (arguments.size() != size_t{info.array} + rate) return "'" + std::string(item) + "' must be written as '" + form + "'";
  if (info.array) {
    auto n = parse_u64(trim(arguments[0]));
    if (!n || *n < 1 || *n > most_elements) return "'" + form + "' takes a number from 1 to 100, got '" + std::string(arguments[0]) + "'";
    out.count = static_cast<u32>(*n);
  }
  if (rate) {
    DelayResult period = parse_delay(trim(arguments.back()));
    if (!period.value || *period.value < 1 || *period.value > longest) return "'" + form + "' takes a period such as 10s, got '" + std::string(arguments.back()) + "'";
    out.period_ms = static_cast<u32>(*period.value);
  }
  return {};
}

/// Items at commas that stand outside of parentheses.
std::vector<string_view> items_of(string_view list) {
  std::vector<string_view> out;
  size_t begin = 0, depth = 0;
  for (size_t i = 0; i <= list.size(); i++) {
    if (i < list.size() && list[i] == '(') depth++;
    if (i < list.size() && list[i] == ')' && depth > 0) depth--;
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    out.push_back(trim(list.substr(begin, i - begin)));
    begin = i + 1;
  }
  return out;
}

bool read_store(Words &words, TableDef &table) {
  auto list = words.need("what to store, such as 'conn_cur,http_req_rate(10s)'");
  if (!list) return false;
  for (string_view item : items_of(*list)) {
    StoredType stored{DataType::ServerId};
    if (std::string error = read_item(item, stored); !error.empty()) return words.alert_last(error), false;
    if (const StoredType *known = table.stores(stored.type)) {
      if (known->count == stored.count && known->period_ms == stored.period_ms) continue;
      return words.alert_last("'" + std::string(info_of(stored.type).name) + "' is stored already, with other arguments"), false;
    }
    table.stored.push_back(stored);
  }
  return true;
}

/// The arrays take the place of the single counters.
bool check_arrays(Words &words, const TableDef &table) {
  struct Pair { DataType alone, array; };
  constexpr Pair pairs[] = {{DataType::Gpt0, DataType::Gpt},
                            {DataType::Gpc0, DataType::Gpc},
                            {DataType::Gpc1, DataType::Gpc},
                            {DataType::Gpc0Rate, DataType::GpcRate},
                            {DataType::Gpc1Rate, DataType::GpcRate}};
  for (const Pair &p : pairs) {
    if (!table.stores(p.alone) || !table.stores(p.array)) continue;
    std::string alone(info_of(p.alone).name), array(info_of(p.array).name);
    words.alert_last("a table stores either '" + alone + "' or '" + array + "'", "leave '" + alone + "' out: it is an element of '" + array + "'");
    return false;
  }
  return true;
}

// -------------------------------------------------------------------------------------------- options

struct KeyWord { KeyType type; string_view shown; u32 length; bool takes_length; };
constexpr Choice<KeyWord> key_words[] = {
    {"ip", {KeyType::Ipv4, "ip", 4, false}},           {"ipv4", {KeyType::Ipv4, "ip", 4, false}},
    {"ipv6", {KeyType::Ipv6, "ipv6", 16, false}},      {"integer", {KeyType::Integer, "integer", 4, false}},
    {"string", {KeyType::String, "string", 32, true}}, {"binary", {KeyType::Binary, "binary", 32, true}},
};

bool read_type(Words &words, TableDef &table) {
  const KeyWord *k = need_choice(words, key_words);
  if (!k) return false;
  table.key = k->type, table.type_word = k->shown, table.key_length = k->length;
  if (!k->takes_length || !words.take("len")) return true;
  auto length = words.need_int("the length of keys", 1, longest_key);
  if (length) table.key_length = static_cast<u32>(*length);
  return length.has_value();
}
bool read_size(Words &words, TableDef &table) {
  auto size = words.need_size("a number of entries such as 100k");
  if (!size) return false;
  if (*size < 1 || *size > most_entries) return words.alert_last("the size of a table is a number of entries from 1 to 1g"), false;
  table.size = static_cast<u32>(*size);
  return true;
}
bool read_expire(Words &words, TableDef &table) {
  auto delay = words.need_delay("a delay");
  if (!delay) return false;
  if (*delay > longest) return words.alert_last("'expire' is at most 24.8 days (2147483647ms)"), false;
  table.expire = *delay;
  return true;
}
bool read_factor(Words &words, TableDef &table) {
  auto factor = words.need_int("a factor", 1, 1024);
  if (factor) table.brates_factor = static_cast<u32>(*factor);
  return factor.has_value();
}
bool read_srvkey(Words &words, TableDef &table) {
  constexpr Choice<bool> choices[] = {{"addr", true}, {"name", false}};
  const bool *address = need_choice(words, choices);
  if (address) table.key_is_address = *address;
  return address != nullptr;
}
bool read_write_to(Words &words, TableDef &table) {
  auto name = words.need("the name of another table");
  if (name) table.write_to = *name;
  return name.has_value();
}
bool refuse_peers(Words &words, TableDef &) {
  words.alert_last("'peers' is known but not supported yet: tables are not shared with other hosts", "all workers of this host share them already; leave it out");
  return false;
}

struct TableOption {
  string_view name;
  bool (*read)(Words &, TableDef &);
};
constexpr TableOption options[] = {
    {"brates-factor", read_factor},
    {"expire", read_expire},
    {"nopurge", [](Words &, TableDef &t) { return t.nopurge = true; }},
    {"peers", refuse_peers},
    {"recv-only", [](Words &, TableDef &t) { return t.recv_only = true; }},
    {"size", read_size},
    {"srvkey", read_srvkey},
    {"store", read_store},
    {"type", read_type},
    {"write-to", read_write_to},
};

/// The rest of the line. Null after an alert.
std::unique_ptr<TableDef> read_table(LineContext &ctx, std::string name) {
  auto table = std::make_unique<TableDef>();
  table->name = std::move(name);
  table->place = ctx.words.line_place();
  if (const TableDef *other = ctx.config.table(table->name)) {
    ctx.words.alert_last("there is a stick table '" + table->name + "' already, at " + other->place.file + ":" + std::to_string(other->place.line));
    return nullptr;
  }
  while (!ctx.words.at_end()) {
    string_view word = ctx.words.next();
    auto option = std::find_if(std::begin(options), std::end(options), [&](const TableOption &o) { return o.name == word; });
    if (option == std::end(options)) {
      NearMiss near(word);
      for (const TableOption &o : options) near.consider(o.name);
      ctx.words.alert_last("'" + std::string(ctx.words.subject()) + "' has no option '" + std::string(word) + "'", near.hint());
      return nullptr;
    }
    if (!option->read(ctx.words, *table)) return nullptr;
  }
  if (table->type_word.empty()) return alert_expected(ctx.words, "'type' and the type of its keys, such as 'type ip'"), nullptr;
  if (table->size == 0) return alert_expected(ctx.words, "'size' and a number of entries, such as 'size 100k'"), nullptr;
  if (!check_arrays(ctx.words, *table)) return nullptr;
  std::sort(table->stored.begin(), table->stored.end(), [](const StoredType &a, const StoredType &b) { return a.type < b.type; });
  return table;
}

void stick_table(LineContext &ctx) {
  if (ctx.proxy->table) {
    ctx.words.alert_last("'" + ctx.proxy->name + "' has a stick table already, at line " + std::to_string(ctx.proxy->table->place.line),
                         "declare further ones in backends of their own, or in a 'peers' section");
    return;
  }
  auto table = read_table(ctx, ctx.proxy->name);
  if (!table) return;
  table->proxy = ctx.proxy;
  ctx.proxy->table = table.get();
  ctx.config.tables.push_back(std::move(table));
}

void named_table(LineContext &ctx) {
  auto name = ctx.words.need("the name of the table");
  if (!name) return;
  auto table = read_table(ctx, ctx.config.peers_name + "/" + std::string(*name));
  if (table) ctx.config.tables.push_back(std::move(table));
}

constexpr KeywordDef planned(string_view name, string_view summary) {
  return {.name = name, .sections = in_peers, .doc = {summary, "", ""}, .standing = Standing::Planned};
}

constexpr string_view about =
    "type ip|ipv6|integer|string [len N]|binary [len N] size N [expire DELAY] [nopurge] [store TYPE[,TYPE]…] [srvkey name|addr] [brates-factor N] "
    "[recv-only] [write-to TABLE]\n\n"
    "There is one table for the whole host: all workers count into it, and a reload keeps it, also when size, expire or what is stored change. When it is "
    "full, the entry that was not used for longest makes room; with 'nopurge' new keys are refused instead. Entries that are tracked are never removed.";

constexpr KeywordDef rows[] = {
    planned("bind", "Where this host listens for its peers."),
    planned("default-bind", "Options of the peers' bind lines."),
    planned("default-server", "Options of the peers' server lines."),
    planned("disabled", "Turns a peers section off."),
    planned("enabled", "Turns a peers section on."),
    planned("log", "Where events of peers are logged."),
    planned("peer", "Another host that shares the tables."),
    planned("server", "Another host that shares the tables."),
    planned("shards", "Spreads the entries over peers."),
    {.name = "stick-table", .sections = in_frontend | in_backend | in_listen,
     .doc = {"A table of keys and what is known of each: counters, rates, the server that was used.", about,
             "backend per_ip\n    stick-table type ip size 1m expire 10m store http_req_rate(10s),conn_cur\nfrontend www\n    mode http\n"
             "    http-request track-sc0 src table per_ip\n    http-request deny deny_status 429 if { sc_http_req_rate(0) gt 100 }"},
     .parse = stick_table},
    {.name = "table", .sections = in_peers,
     .doc = {"A stick table that belongs to no proxy.", "Its full name is SECTION/NAME. Options as of 'stick-table'.",
             "peers limits\n    table per_ip type ip size 100k expire 10m store conn_cur\nfrontend www\n    tcp-request connection track-sc0 src table limits/per_ip\n"
             "    tcp-request connection reject if { sc_conn_cur(0) gt 20 }"},
     .parse = named_table},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> stick_table_keywords() { return rows; }

} // namespace penstock
