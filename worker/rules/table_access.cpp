// SPDX-License-Identifier: BSD-2-Clause
// See table_access.h.
#include "worker/rules/table_access.h"

#include <cstring>

#include "worker/runtime.h"

namespace penstock {

bool table_key(const StickTable &table, Sample &s, Arena &arena, TableKey &out) {
  const TableDef &def = table.def();
  switch (def.key) {
    case KeyType::Ipv4:
    case KeyType::Ipv6: {
      bool v4 = def.key == KeyType::Ipv4;
      if (!cast(s, v4 ? Type::Ipv4 : Type::Ipv6, arena)) return false;
      out = table.key(arena.copy({reinterpret_cast<const char *>(s.ip.bytes.data()), v4 ? 4u : 16u}));
      return true;
    }
    case KeyType::Integer: {
      if (!cast(s, Type::Int, arena)) return false;
      u32 n = static_cast<u32>(s.num);
      out = table.key(arena.copy({reinterpret_cast<const char *>(&n), sizeof n}));
      return true;
    }
    case KeyType::String:
      if (!cast(s, Type::Str, arena)) return false;
      out = table.key(s.str);
      return true;
    case KeyType::Binary:
      if (!cast(s, Type::Bin, arena)) return false;
      out = table.key(s.str);
      return true;
  }
  return false;
}

void key_sample(const StickTable &table, string_view key, Sample &out) {
  switch (table.def().key) {
    case KeyType::Ipv4:
    case KeyType::Ipv6: {
      Ip ip;
      ip.family = key.size() == 4 ? 4 : 6;
      std::memcpy(ip.bytes.data(), key.data(), key.size());
      return out.set_ip(ip);
    }
    case KeyType::Integer: {
      u32 n;
      std::memcpy(&n, key.data(), sizeof n);
      return out.set_int(n);
    }
    case KeyType::String: out.set_str(key); break;
    case KeyType::Binary: out.set_bin(key); break;
  }
  out.is_const = true;
}

static Tick tick_now() { return this_worker() ? this_worker()->loop.now() : monotonic_ms(); }

bool TableAccess::look(Changes changes, EntryFacts *facts) {
  if (tracker != nullptr) return tracker->run(changes, facts), true;
  Tick now = tick_now();
  if (!table->look_up(key, now, changes, facts)) return false;
  // What this stream's own tracking made of the same entry this turn counts, see track.h.
  for (TrackSet *set : {ctx.stream ? ctx.stream->tracked : nullptr, ctx.session ? ctx.session->tracked : nullptr})
    for (u32 id = 0; set != nullptr && id < set->size; id++) {
      Tracker *t = set->trackers[id];
      if (t == nullptr || t->held.table != table || t->own_at != now || table->key(table->key_of(t->held)).bytes != key.bytes) continue;
      for (ColumnChange &c : changes)
        if (const u64 *own = t->own_value(c.column, now)) c.result = *own;
    }
  return true;
}

bool TableAccess::update(Changes changes) {
  if (tracker != nullptr) return tracker->run(changes), true;
  return table->update(key, tick_now(), changes);
}

static bool give(Sample &out, u64 v) {
  out.set_int(static_cast<i64>(v));
  return true;
}

bool table_value(TableAccess &access, const ValueSpec &spec, u32 index, Sample &out) {
  const StickTable &table = *access.table;
  ColumnChange c[] = {{table.column(spec.type, index)}, {}};
  bool stored = c[0].column != no_column;
  if (spec.op == ValueOp::Increment) {
    c[1] = {table.column(spec.rate, index), ColumnOp::Add, 1};
    c[0].op = ColumnOp::Add, c[0].amount = 1;
    if ((!stored && c[1].column == no_column) || !access.update(c)) return false;
    return give(out, stored ? c[0].result : c[1].result);
  }
  if (spec.op == ValueOp::Clear) {
    c[0].op = ColumnOp::Take;
    return stored && access.update(c) && give(out, c[0].result);
  }
  if (!access.look({c, 1})) return give(out, 0);
  if (!stored) return false;
  u64 v = c[0].result;
  if (spec.op == ValueOp::Kilobytes) v >>= 10;
  if (spec.op == ValueOp::ByteRate) v *= table.def().brates_factor;
  return give(out, v);
}

} // namespace penstock
