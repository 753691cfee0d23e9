// SPDX-License-Identifier: BSD-2-Clause
// Commands about stick tables. They look at the one table in shared memory, a block of entries at a time:
// a million rows stream as fast as the client reads, while workers go on to count.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "shared/base/text.h"
#include "shared/shm/stick_table.h"
#include "worker/cli/cli_session.h"

namespace penstock {

namespace {

constexpr u32 most_filters = 4;
constexpr u32 rows_per_page = 16; // a row's name: its place, in a notation of old

const TableDef *find_table(CliCall &call) {
  const TableDef *def = call.control.config->table(call.arg(0));
  if (def != nullptr && def->live != nullptr) return def;
  call.fail("No such table");
  return nullptr;
}

// ----------------------------------------------------------------------------------------------- text

void add_heading(std::string &out, const StickTable &table) {
  ((out += "# table: ") += table.def().name) += ", type: ";
  out += table.def().type_word;
  out += ", size:" + std::to_string(table.size()) + ", used:" + std::to_string(table.used()) + '\n';
}

void add_escaped(std::string &out, string_view key) {
  char hex[8];
  for (char c : key) {
    if (static_cast<unsigned char>(c) < 32 || c == 127) out.append(hex, static_cast<size_t>(std::snprintf(hex, sizeof hex, "\\x%02X", static_cast<unsigned char>(c))));
    else {
      if (c == '\\' || c == ' ' || c == '=') out += '\\';
      out += c;
    }
  }
}

void add_key(std::string &out, KeyType type, string_view key) {
  char hex[4];
  switch (type) {
    case KeyType::Ipv4:
    case KeyType::Ipv6: {
      Ip ip;
      ip.family = type == KeyType::Ipv4 ? 4 : 6;
      std::memcpy(ip.bytes.data(), key.data(), key.size());
      out += ip.text();
      break;
    }
    case KeyType::Integer: {
      u32 n;
      std::memcpy(&n, key.data(), sizeof n);
      out += std::to_string(n);
      break;
    }
    case KeyType::String: add_escaped(out, key); break;
    case KeyType::Binary:
      for (char c : key) out.append(hex, static_cast<size_t>(std::snprintf(hex, sizeof hex, "%02X", static_cast<unsigned char>(c))));
      break;
  }
}

/// "gpc1", "gpc0_rate(5000)", "conn_cnt"
void add_column_name(std::string &out, const StoredType &stored, u32 element) {
  const DataTypeInfo &info = info_of(stored.type);
  string_view name = info.name;
  if (info.array && name.ends_with("_rate")) (out += name.substr(0, 3)) += std::to_string(element) + "_rate";
  else if (info.array) (out += name) += std::to_string(element);
  else out += name;
  if (info.kind == DataKind::Rate) out += '(' + std::to_string(stored.period_ms) + ')';
}

void add_row(std::string &out, const StickTable &table, const StickTable::Row &row, Tick now) {
  char name[20];
  out.append(name, static_cast<size_t>(std::snprintf(name, sizeof name, "0x%x: key=", (row.entry + 1) * rows_per_page)));
  add_key(out, table.def().key, row.key);
  Millis limit = table.expire(), left = limit == eternity ? 0 : std::max<Millis>(0, row.facts.touched_us / 1000 + limit - now);
  out += " use=" + std::to_string(row.facts.refs) + " exp=" + std::to_string(left) + " shard=0";
  size_t at = 0;
  for (const StoredType &stored : table.def().stored)
    for (u32 i = 0; i < stored.count; i++, at++) {
      out += ' ';
      add_column_name(out, stored, i);
      out += '=';
      u64 v = row.values[at];
      if (stored.type == DataType::BytesInRate || stored.type == DataType::BytesOutRate) v *= table.def().brates_factor;
      if (stored.type != DataType::ServerKey) out += std::to_string(v);
      else if (string_view text = table.name_of_number(static_cast<u32>(v)); !text.empty()) add_escaped(out, text);
      else out += '-';
    }
  out += '\n';
}

// ------------------------------------------------------------------------------------------- arguments

/// `data.TYPE` or `data.TYPE[ELEMENT]`. False: there is no such type.
struct DataWord {
  DataType type = DataType::count_;
  u32 element = 0;
};
bool read_data_word(string_view word, DataWord &out) {
  word.remove_prefix(std::min(word.size(), string_view("data.").size()));
  size_t open = word.find('[');
  string_view name = word.substr(0, open);
  for (size_t i = 0; i < data_types; i++)
    if (data_type_info[i].name == name) out.type = static_cast<DataType>(i);
  if (out.type == DataType::count_) return false;
  if (open == string_view::npos) return true;
  auto n = word.ends_with(']') ? parse_u64(word.substr(open + 1, word.size() - open - 2)) : std::nullopt;
  if (!n || !info_of(out.type).array) return false;
  out.element = static_cast<u32>(std::min<u64>(*n, 1000));
  return true;
}

enum class Operator : u8 { Eq, Ne, Le, Ge, Lt, Gt };
constexpr string_view operators[] = {"eq", "ne", "le", "ge", "lt", "gt"};

struct Filter {
  size_t value = ~size_t{0}; // of Row::values; none: past the end of an array, which matches nothing
  Operator op = Operator::Eq;
  i64 with = 0;
  bool passes(const StickTable::Row &row) const {
    if (value >= row.values.size()) return false;
    i64 v = static_cast<i64>(row.values[value]);
    switch (op) {
      case Operator::Eq: return v == with;
      case Operator::Ne: return v != with;
      case Operator::Le: return v <= with;
      case Operator::Ge: return v >= with;
      case Operator::Lt: return v < with;
      case Operator::Gt: return v > with;
    }
    return false;
  }
};
using Filters = std::vector<Filter>;
bool passes(const Filters &filters, const StickTable::Row &row) {
  for (const Filter &f : filters)
    if (!f.passes(row)) return false;
  return true;
}

/// `data.TYPE OPERATOR VALUE …` from argument `at` on. False after a message.
bool read_filters(CliCall &call, const StickTable &table, size_t at, Filters &out) {
  for (; at < call.args(); at += 3) {
    std::string who = "Filter entry #" + std::to_string(out.size() + 1) + ": ";
    if (out.size() == most_filters) {
      call.fail("Detected extra data in filter, " + std::to_string(at + call.at + 1) + "th word of input, after '" + std::string(call.arg(at - 1)) + "'");
      return false;
    }
    DataWord word;
    if (!call.arg(at).starts_with("data.") || !read_data_word(call.arg(at), word)) return call.fail(who + "Unknown data type"), false;
    if (!table.def().stores(word.type)) return call.fail(who + "Data type not stored in this table"), false;
    Filter f;
    auto op = std::find(std::begin(operators), std::end(operators), call.arg(at + 1));
    if (op == std::end(operators)) return call.fail(who + "Require an operator among \"eq\", \"ne\", \"le\", \"ge\", \"lt\", \"gt\""), false;
    f.op = static_cast<Operator>(op - std::begin(operators));
    auto with = parse_i64(call.arg(at + 2));
    if (!with) return call.fail(who + "Require a valid integer value to compare against"), false;
    f.with = *with;
    size_t value = 0;
    for (const StoredType &stored : table.def().stored) {
      if (stored.type == word.type && word.element < stored.count) f.value = value + word.element;
      value += stored.count;
    }
    out.push_back(f);
  }
  return true;
}

/// The key in the words' text. False after a message.
bool read_key(CliCall &call, const StickTable &table, string_view text, string_view doing, std::string &bytes, TableKey &out) {
  switch (table.def().key) {
    case KeyType::Ipv4:
    case KeyType::Ipv6: {
      auto ip = parse_ip(text);
      bool v4 = table.def().key == KeyType::Ipv4;
      if (ip && v4 && ip->is_v6()) ip = ip->to_v4();
      if (!ip) return call.fail("Invalid key"), false;
      if (!v4) ip = ip->to_v6();
      bytes.assign(reinterpret_cast<const char *>(ip->bytes.data()), v4 ? 4 : 16);
      break;
    }
    case KeyType::Integer: {
      auto n = parse_i64(text);
      u32 key = n ? static_cast<u32>(*n) : 0;
      if (!n) return call.fail("Invalid key"), false;
      bytes.assign(reinterpret_cast<const char *>(&key), sizeof key);
      break;
    }
    case KeyType::String: bytes = text; break;
    case KeyType::Binary: return call.fail(std::string(doing) + " tables of type other than ip, ipv6, string and integer is not supported"), false;
  }
  out = table.key(bytes);
  return true;
}

/// The entry that a row's name means, as it is now. Nothing after a message.
std::optional<StickTable::Row> read_pointer(CliCall &call, StickTable &table, string_view text) {
  std::string copy(text);
  char *end = nullptr;
  u64 name = std::strtoull(copy.c_str(), &end, 16);
  if (!copy.starts_with("0x") || *end != '\0') return call.fail("Pointer expected (0xffff notation)"), std::nullopt;
  std::optional<StickTable::Row> row;
  if (name % rows_per_page == 0 && name / rows_per_page != 0 && name / rows_per_page <= 0xffffffff)
    row = table.copy_entry(static_cast<u32>(name / rows_per_page) - 1, call.control.loop.now());
  if (!row) call.fail("No entry can be found matching ptr.");
  return row;
}

// ----------------------------------------------------------------------------------------------- show

constexpr u32 blocks_per_turn = 256; // looked at before others have theirs

CliAnswer::More next_turn(u64 session) {
  if (CliSession *s = CliSession::find(session)) s->wake();
  return CliAnswer::More::Later;
}

/// Blocks of entries, one after the other.
class TableRows : public CliAnswer {
 public:
  TableRows(CliCall &call, StickTable &table, Filters filters) : control_(call.control), session_(call.session.number()), table_(table), filters_(std::move(filters)) {}
  More next(std::string &out) override {
    if (block_ == 0) add_heading(out, table_);
    size_t begin = out.size();
    for (u32 n = 0; n < blocks_per_turn && out.size() - begin < 8192; n++) {
      if (block_ >= table_.blocks()) return More::Done;
      rows_.clear();
      table_.copy_block(block_++, control_.loop.now(), rows_);
      for (const auto &row : rows_)
        if (passes(filters_, row)) add_row(out, table_, row, control_.loop.now());
    }
    return next_turn(session_);
  }

 private:
  Control &control_;
  u64 session_;
  StickTable &table_;
  Filters filters_;
  u32 block_ = 0;
  std::vector<StickTable::Row> rows_;
};

void show_one(CliCall &call, StickTable &table, const StickTable::Row &row) {
  add_heading(call.out, table);
  add_row(call.out, table, row, call.control.loop.now());
}

/// There is no cheap way from a key to its row but to ask for the facts and the columns.
std::optional<StickTable::Row> row_of_key(StickTable &table, const TableKey &key, Tick now) {
  std::vector<ColumnChange> columns;
  for (ColumnId id : table.columns()) columns.push_back({id});
  StickTable::Row row{};
  if (!table.look_up(key, now, columns, &row.facts, false, &row.entry)) return std::nullopt;
  row.key = table.padded(key.bytes);
  for (const ColumnChange &c : columns) row.values.push_back(c.result);
  return row;
}

void show_table(CliCall &call) {
  if (call.args() == 0) {
    for (const auto &def : call.control.config->tables)
      if (def->live != nullptr) add_heading(call.out, *def->live);
    return;
  }
  const TableDef *def = find_table(call);
  if (def == nullptr) return;
  StickTable &table = *def->live;
  if (call.session.level < CliLevel::Operator) {
    add_heading(call.out, table);
    call.out += "# contents not dumped due to insufficient privileges\n";
    return;
  }
  string_view by = call.arg(1);
  if (by == "key") {
    std::string bytes;
    TableKey key;
    if (call.arg(2).empty()) return call.fail("Key value expected");
    if (!read_key(call, table, call.arg(2), "Showing keys from", bytes, key)) return;
    if (auto row = row_of_key(table, key, call.control.loop.now())) show_one(call, table, *row);
  } else if (by == "ptr") {
    if (auto row = read_pointer(call, table, call.arg(2))) show_one(call, table, *row);
  } else if (by.empty() || by.starts_with("data.")) {
    Filters filters;
    if (read_filters(call, table, 1, filters)) call.answer = std::make_unique<TableRows>(call, table, std::move(filters));
  } else {
    call.fail("Optional argument only supports \"data.<store_data_type>\" <operator> <value> or key <key> or ptr <ptr>");
  }
}

// ------------------------------------------------------------------------------------------- set, clear

/// `data.TYPE VALUE …` from argument `at` on. False after a message.
bool read_changes(CliCall &call, const StickTable &table, size_t at, std::vector<ColumnChange> &out) {
  for (; at < call.args(); at += 2) {
    if (!call.arg(at).starts_with("data.")) return call.fail("\"data.<type>\" followed by a value expected"), false;
    DataWord word;
    if (!read_data_word(call.arg(at), word)) return call.fail("Unknown data type"), false;
    if (!table.def().stores(word.type)) return call.fail("Data type not stored in this table"), false;
    ColumnId column = table.column(word.type, word.element);
    if (column == no_column) return call.fail("Data type not stored in this table"), false;
    auto value = parse_i64(call.arg(at + 1));
    if (!value || word.type == DataType::ServerKey) return call.fail("Require a valid integer value to store"), false;
    u64 v = static_cast<u64>(*value);
    if (word.type == DataType::BytesInRate || word.type == DataType::BytesOutRate) v /= table.def().brates_factor;
    out.push_back({column, ColumnOp::Set, v});
  }
  return true;
}

void set_table(CliCall &call) {
  if (call.arg(0).empty()) return call.fail("Required arguments: <table> key <key> or <table> ptr <ptr>, then \"data.<store_data_type>\" <value>");
  const TableDef *def = find_table(call);
  if (def == nullptr) return;
  StickTable &table = *def->live;
  std::string bytes;
  TableKey key;
  if (call.arg(1) == "key") {
    if (call.arg(2).empty()) return call.fail("Key value expected");
    if (!read_key(call, table, call.arg(2), "Inserting keys into", bytes, key)) return;
  } else if (call.arg(1) == "ptr") {
    auto row = read_pointer(call, table, call.arg(2));
    if (!row) return;
    bytes = row->key;
    key = table.key(bytes);
  } else {
    return call.fail("Required arguments: <table> key <key> or <table> ptr <ptr>, then \"data.<store_data_type>\" <value>");
  }
  std::vector<ColumnChange> changes;
  if (!read_changes(call, table, 3, changes)) return;
  if (!table.update(key, call.control.loop.now(), changes)) call.fail("Unable to allocate a new entry");
}

void say_removal(CliCall &call, StickTable::Removal r) {
  if (r == StickTable::Removal::InUse) call.fail("Entry currently in use, cannot remove");
}

/// Removes what passes, a few blocks at a time.
class Clearing : public CliAnswer {
 public:
  Clearing(CliCall &call, StickTable &table, Filters filters) : control_(call.control), session_(call.session.number()), table_(table), filters_(std::move(filters)) {}
  More next(std::string &) override {
    for (u32 n = 0; n < blocks_per_turn; n++) {
      if (block_ >= table_.blocks()) return More::Done;
      rows_.clear();
      table_.copy_block(block_++, control_.loop.now(), rows_);
      for (const auto &row : rows_)
        if (passes(filters_, row)) table_.remove_entry(row.entry, row.key);
    }
    return next_turn(session_);
  }

 private:
  Control &control_;
  u64 session_;
  StickTable &table_;
  Filters filters_;
  u32 block_ = 0;
  std::vector<StickTable::Row> rows_;
};

void clear_table(CliCall &call) {
  constexpr string_view usage = "Required arguments: <table> \"data.<store_data_type>\" <operator> <value> or <table> key <key> or <table> ptr <ptr>";
  if (call.arg(0).empty()) return call.fail(usage);
  const TableDef *def = find_table(call);
  if (def == nullptr) return;
  StickTable &table = *def->live;
  string_view by = call.arg(1);
  if (by == "key") {
    std::string bytes;
    TableKey key;
    if (call.arg(2).empty()) return call.fail("Key value expected");
    if (read_key(call, table, call.arg(2), "Removing keys from", bytes, key)) say_removal(call, table.remove(key, call.control.loop.now()));
  } else if (by == "ptr") {
    if (auto row = read_pointer(call, table, call.arg(2))) say_removal(call, table.remove_entry(row->entry, row->key));
  } else if (by.empty() || by.starts_with("data.")) {
    Filters filters;
    if (read_filters(call, table, 1, filters)) call.answer = std::make_unique<Clearing>(call, table, std::move(filters));
  } else {
    call.fail(usage);
  }
}

constexpr CliCommand rows[] = {
    {.words = "clear table", .usage = "<table> [<filter>]*", .level = CliLevel::Operator,
     .doc = {.summary = "Remove entries from a stick table.",
             .text = "'key <key>', 'ptr <ptr>', or up to four of 'data.<type> <operator> <value>'; without any, all. Entries that are tracked stay.",
             .example = "clear table per_ip key 192.0.2.1"}, .run = clear_table},
    {.words = "set table", .usage = "<table> key <key> [data.<type> <value>]*", .level = CliLevel::Operator,
     .doc = {.summary = "Make or change an entry of a stick table.", .text = "'ptr <ptr>' names an entry as 'show table' does. An element of an array: data.gpc[1].",
             .example = "set table per_ip key 192.0.2.1 data.gpc0 1"}, .run = set_table},
    {.words = "show table", .usage = "[<table> [<filter>]*]",
     .doc = {.summary = "The stick tables, or the entries of one.",
             .text = "'key <key>', 'ptr <ptr>', or up to four of 'data.<type> <operator> <value>' with eq, ne, le, ge, lt or gt.",
             .example = "show table per_ip data.http_req_rate gt 50"}, .run = show_table},
};

} // namespace

std::span<const CliCommand> table_commands() { return rows; }

} // namespace penstock
