// SPDX-License-Identifier: BSD-2-Clause
// See stick.h.
#include "worker/stream/stick.h"

#include <new>

#include "shared/expr/run.h"
#include "shared/shm/server_state.h"
#include "worker/rules/table_access.h"
#include "worker/stream/flow.h"

namespace penstock {

inline constexpr u32 most_keys = 8; // stored by one request or response (manual)

struct StickKeys {
  u32 count = 0;
  struct Item {
    StickTable *table;
    string_view key;
  } items[most_keys];
  bool has(const StickTable *table) const {
    for (u32 i = 0; i < count; i++)
      if (items[i].table == table) return true;
    return false;
  }
};

namespace {

StickTable *table_of(const StickRule &rule) {
  auto *def = static_cast<const TableDef *>(rule.table->target);
  return def != nullptr ? def->live : nullptr;
}

bool applies(EvalContext &ctx, const StickRule &rule) { return !rule.condition.present || evaluate(ctx, rule.condition) == Truth::Yes; }

/// How the table names a server.
string_view name_of(const Server &server, const TableDef &def, Arena &arena) {
  if (!def.key_is_address) return server.name;
  Address address;
  if (!runtime_address(runtime->service->server(server.row), address)) address = server.address;
  return arena.copy(address.text());
}

const Server *named_server(const Proxy &backend, StickTable &table, u64 name, u64 id, Arena &arena) {
  if (string_view text = table.name_of_number(static_cast<u32>(name)); !text.empty())
    for (const auto &s : backend.servers)
      if (name_of(*s, table.def(), arena) == text) return s.get();
  for (const auto &s : backend.servers)
    if (id != 0 && s->id == id) return s.get();
  return nullptr;
}

const Server *look_up(EvalContext &ctx, const StickRule &rule, StickTable &table, const Proxy &backend) {
  Sample key;
  TableKey k;
  if (!evaluate(ctx, rule.key, key) || !table_key(table, key, ctx.scratch, k)) return nullptr;
  ColumnChange known[] = {{table.column(DataType::ServerId)}, {table.column(DataType::ServerKey)}};
  if (!table.look_up(k, now(), known, nullptr, true)) return nullptr;
  return named_server(backend, table, known[1].result, known[0].result, ctx.scratch);
}

void note_key(Stream &s, EvalContext &ctx, const StickRule &rule, StickTable &table, StickKeys *&keys) {
  Sample key;
  TableKey k;
  if (!evaluate(ctx, rule.key, key) || !table_key(table, key, ctx.scratch, k)) return;
  if (keys == nullptr) keys = new (s.arena().take(sizeof(StickKeys), alignof(StickKeys))) StickKeys;
  if (keys->count < most_keys) keys->items[keys->count++] = {&table, s.arena().copy(k.bytes)};
}

void store(Stream &s, const StickKeys &keys) {
  const Server *server = s.server();
  if (server == nullptr || server->options->non_stick) return;
  for (u32 i = 0; i < keys.count; i++) {
    StickTable &table = *keys.items[i].table;
    ColumnChange columns[] = {
        {table.column(DataType::ServerId), ColumnOp::Set, server->id},
        {table.column(DataType::ServerKey), ColumnOp::Set, table.number_of_name(name_of(*server, table.def(), runtime->scratch))},
    };
    table.update(table.key(keys.items[i].key), now(), columns);
  }
}

} // namespace

const Server *find_stick_server(Stream &s, EvalContext &ctx, bool match) {
  const Server *found = nullptr;
  StickKeys *&keys = s.flow().stick;
  keys = nullptr;
  for (const StickRule &rule : s.backend().stick_rules) {
    StickTable *table = table_of(rule);
    if (rule.response || table == nullptr) continue;
    bool looks = rule.match && match && found == nullptr, stores = rule.store && (keys == nullptr || !keys->has(table));
    if ((!looks && !stores) || !applies(ctx, rule)) continue;
    if (looks) found = look_up(ctx, rule, *table, s.backend());
    if (stores) note_key(s, ctx, rule, *table, keys);
  }
  return found;
}

void store_stick_request(Stream &s) {
  store(s, *s.flow().stick);
  s.flow().stick = nullptr;
}

void store_stick_response(Stream &s) {
  StickKeys *keys = nullptr;
  runtime->scratch.reset();
  EvalContext ctx = s.context(Phase::Response, s.backend(), true);
  for (const StickRule &rule : s.backend().stick_rules) {
    StickTable *table = table_of(rule);
    if (!rule.response || table == nullptr || (keys != nullptr && keys->has(table)) || !applies(ctx, rule)) continue;
    note_key(s, ctx, rule, *table, keys);
  }
  if (keys != nullptr) store(s, *keys);
}

} // namespace penstock
