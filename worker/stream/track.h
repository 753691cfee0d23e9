// SPDX-License-Identifier: BSD-2-Clause
// What a session or a stream tracks in stick tables (manual, `track-sc0` …), and the events that are counted
// there. Entries tracked by tcp-request connection and session rules belong to the session and see all its
// streams; those tracked later belong to their stream. Nothing is paid where nothing is tracked.
//
// A rule that counts and one that looks at the count must agree whatever other workers do in between: what
// a change of our own made of a column is remembered for the rest of the turn and answers reads of it.
#pragma once

#include "shared/shm/stick_table.h"
#include "worker/stream/stream.h"

namespace penstock {

struct Tracker {
  TrackedEntry held;
  Tick own_at = never; // when `own` was true
  u32 own_count = 0;
  struct Own { ColumnId column; u64 value; } own[8];

  StickTable &table() const { return *held.table; }
  /// Changes and reads columns; values of this turn's own changes are answered from memory.
  void run(Changes changes, EntryFacts *facts = nullptr);
  void remember(Changes changes, Tick now);
  const u64 *own_value(ColumnId c, Tick now) const;
};

/// By number; in the arena of its owner.
struct TrackSet {
  u32 size = 0;
  Tracker **trackers = nullptr; // null: not tracked
};

/// What sc<id> is now: the stream's, else the session's; null when neither tracks it.
Tracker *find_tracker(const EvalContext &ctx, u32 id);
/// Begins to track, unless sc<id> is tracked already. Counts a connection, and a request that has begun.
void begin_tracking(EvalContext &ctx, u32 id, StickTable &table, const TableKey &key);
/// Lets go of all.
void end_tracking(TrackSet *&set);

// ------------------------------------------------------------------ events
void count_tracked(TrackSet *set, DataType total, DataType rate);
inline bool is_tracked(Stream &s) { return s.tracked != nullptr || s.session().tracked != nullptr; }
/// The request has begun; counts once.
void count_tracked_request(Stream &s);
void count_tracked_error(Stream &s);   // of the client: http_err_*
void count_tracked_failure(Stream &s); // of the server: http_fail_*
void count_tracked_status(Stream &s, u16 status);
void count_tracked_bytes(Stream &s, u64 in, u64 out);

} // namespace penstock
