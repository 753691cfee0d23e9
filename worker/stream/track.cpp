// SPDX-License-Identifier: BSD-2-Clause
// See track.h.
#include "worker/stream/track.h"

#include <algorithm>
#include <new>

#include "worker/stream/flow.h"

namespace penstock {

const u64 *Tracker::own_value(ColumnId c, Tick now) const {
  if (own_at != now) return nullptr;
  for (u32 i = 0; i < own_count; i++)
    if (own[i].column == c) return &own[i].value;
  return nullptr;
}

void Tracker::remember(Changes changes, Tick now) {
  if (own_at != now) own_at = now, own_count = 0;
  for (const ColumnChange &c : changes) {
    if (c.column == no_column || c.op == ColumnOp::Get) continue;
    u32 i = 0;
    while (i < own_count && own[i].column != c.column) i++;
    if (i == std::size(own)) continue;
    own[i] = {c.column, c.op == ColumnOp::Take ? 0 : c.result};
    own_count = std::max(own_count, i + 1);
  }
}

void Tracker::run(Changes changes, EntryFacts *facts) {
  Tick now = runtime->loop.now();
  bool known = facts == nullptr;
  for (ColumnChange &c : changes) {
    if (c.column == no_column) continue;
    const u64 *value = c.op == ColumnOp::Get ? own_value(c.column, now) : nullptr;
    if (value != nullptr) c.result = *value;
    else known = false;
  }
  if (known) return;
  // One lock for all; those known already keep the value of our own change.
  held.table->change(held, now, changes, facts);
  for (ColumnChange &c : changes)
    if (c.op == ColumnOp::Get)
      if (const u64 *value = own_value(c.column, now)) c.result = *value;
  remember(changes, now);
}

// ------------------------------------------------------------------------------------ begin and end

namespace {

Tracker *in_set(const TrackSet *set, u32 id) { return set != nullptr && id < set->size ? set->trackers[id] : nullptr; }

TrackSet *make_set(Arena &arena) {
  u32 size = runtime->config->global.tune.stick_counters;
  auto *set = new (arena.take(sizeof(TrackSet), alignof(TrackSet))) TrackSet;
  set->size = size;
  set->trackers = static_cast<Tracker **>(arena.take(sizeof(Tracker *) * size, alignof(Tracker *)));
  std::fill_n(set->trackers, size, nullptr);
  return set;
}

} // namespace

Tracker *find_tracker(const EvalContext &ctx, u32 id) {
  if (ctx.stream != nullptr)
    if (Tracker *t = in_set(ctx.stream->tracked, id)) return t;
  return ctx.session != nullptr ? in_set(ctx.session->tracked, id) : nullptr;
}

void begin_tracking(EvalContext &ctx, u32 id, StickTable &table, const TableKey &key) {
  Stream *stream = ctx.stream;
  bool request = stream != nullptr && stream->is_http() && stream->flow().request_counted;
  ColumnChange events[] = {
      {table.column(DataType::ConnCnt), ColumnOp::Add, 1},
      {table.column(DataType::ConnRate), ColumnOp::Add, 1},
      {table.column(DataType::ConnCur)}, // raised by track() itself
      {request ? table.column(DataType::HttpReqCnt) : no_column, ColumnOp::Add, 1},
      {request ? table.column(DataType::HttpReqRate) : no_column, ColumnOp::Add, 1},
  };
  Tick now = runtime->loop.now();
  auto held = table.track(key, now, events);
  if (!held) return; // full
  Arena &arena = stream != nullptr ? stream->arena() : ctx.session->arena();
  TrackSet *&set = stream != nullptr ? stream->tracked : ctx.session->tracked;
  if (set == nullptr) set = make_set(arena);
  auto *t = new (arena.take(sizeof(Tracker), alignof(Tracker))) Tracker;
  t->held = *held;
  events[2].op = ColumnOp::Add; // its value is ours too
  t->remember(events, now);
  set->trackers[id] = t;
}

void end_tracking(TrackSet *&set) {
  Tick now = runtime->loop.now();
  for (u32 id = 0; id < set->size; id++)
    if (Tracker *t = set->trackers[id]) t->table().release(t->held, now);
  set = nullptr; // its memory is the arena's
}

// -------------------------------------------------------------------------------------------- events

void count_tracked(TrackSet *set, DataType total, DataType rate) {
  if (set == nullptr) return;
  for (u32 id = 0; id < set->size; id++) {
    Tracker *t = set->trackers[id];
    if (t == nullptr) continue;
    ColumnChange events[] = {{t->table().column(total), ColumnOp::Add, 1}, {t->table().column(rate), ColumnOp::Add, 1}};
    if (events[0].column != no_column || events[1].column != no_column) t->run(events);
  }
}

static void count_both(Stream &s, DataType total, DataType rate) {
  count_tracked(s.tracked, total, rate);
  count_tracked(s.session().tracked, total, rate);
}

void count_tracked_request(Stream &s) {
  StreamFlow &f = s.flow();
  if (f.request_counted) return;
  f.request_counted = true;
  if (is_tracked(s)) count_both(s, DataType::HttpReqCnt, DataType::HttpReqRate);
}
void count_tracked_error(Stream &s) {
  if (is_tracked(s)) count_both(s, DataType::HttpErrCnt, DataType::HttpErrRate);
}
void count_tracked_failure(Stream &s) {
  if (is_tracked(s)) count_both(s, DataType::HttpFailCnt, DataType::HttpFailRate);
}
void count_tracked_status(Stream &s, u16 status) {
  const Global &g = runtime->config->global;
  if (g.http_err_codes.has(status)) count_tracked_error(s);
  if (g.http_fail_codes.has(status)) count_tracked_failure(s);
}

void count_tracked_bytes(Stream &s, u64 in, u64 out) {
  if (in == 0 && out == 0) return;
  for (TrackSet *set : {s.tracked, s.session().tracked}) {
    if (set == nullptr) continue;
    for (u32 id = 0; id < set->size; id++) {
      Tracker *t = set->trackers[id];
      if (t == nullptr) continue;
      const StickTable &table = t->table();
      u64 factor = table.def().brates_factor;
      ColumnChange bytes[] = {
          {table.column(DataType::BytesInCnt), ColumnOp::Add, in},
          {table.column(DataType::BytesInRate), ColumnOp::Add, (in + factor / 2) / factor},
          {table.column(DataType::BytesOutCnt), ColumnOp::Add, out},
          {table.column(DataType::BytesOutRate), ColumnOp::Add, (out + factor / 2) / factor},
      };
      bool any = std::any_of(std::begin(bytes), std::end(bytes), [](const ColumnChange &c) { return c.column != no_column; });
      if (any) t->run(bytes);
    }
  }
}

} // namespace penstock
