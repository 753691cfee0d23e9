// SPDX-License-Identifier: BSD-2-Clause
// How rules reach entries of stick tables: keys from samples and back, and one way of asking whether the
// entry is tracked or found by its key. For fetch_table.cpp, conv_table.cpp, act_track.cpp and stick rules.
#pragma once

#include "shared/expr/sample.h"
#include "worker/stream/track.h"

namespace penstock {

/// The key that a sample makes for the table; false when its type cannot be had (no match then).
bool table_key(const StickTable &table, Sample &s, Arena &arena, TableKey &out);
/// A stored key as a sample of the table's type.
void key_sample(const StickTable &table, string_view key, Sample &out);

/// An entry that a rule asks for.
struct TableAccess {
  EvalContext &ctx;
  StickTable *table = nullptr;
  Tracker *tracker = nullptr; // it is tracked: nothing is looked up
  TableKey key;

  /// False: there is no such entry.
  bool look(Changes changes, EntryFacts *facts = nullptr);
  /// Made if there is none. False: the table is full.
  bool update(Changes changes);
};

/// What is looked up or changed; `op` of several columns at once where events have a rate.
enum class ValueOp : u8 { Get, Kilobytes, ByteRate, Increment, Clear };
struct ValueSpec {
  ValueOp op;
  DataType type;
  DataType rate = DataType::count_; // Increment: what counts along
};

/// The value of the entry. False: no match, as where the table does not store it. Where there is no entry,
/// looking gives 0 and changing makes one.
bool table_value(TableAccess &access, const ValueSpec &spec, u32 index, Sample &out);

} // namespace penstock
