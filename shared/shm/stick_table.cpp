// SPDX-License-Identifier: BSD-2-Clause
// Entries of a stick table: finding, making, changing, tracking. What makes and repairs the memory is in
// stick_memory.cpp and stick_repair.cpp.
#include "shared/shm/stick_table.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "shared/base/hash.h"
#include "shared/shm/stick_held.h"
#include "shared/shm/stick_rate.h"

namespace penstock {

using namespace stick;

// ---------------------------------------------------------------------------------------------- keys

TableKey StickTable::key(string_view bytes) const {
  bytes = bytes.substr(0, header_->key_length);
  if (header_->key_type >= static_cast<u32>(KeyType::String))
    while (!bytes.empty() && bytes.back() == '\0') bytes.remove_suffix(1);
  u64 h = xxh3(bytes, header_->seed);
  return {bytes, static_cast<u32>(h ^ h >> 32)};
}

bool StickTable::same_key(u32 e, string_view bytes) const {
  const char *own = key_at(e);
  if (std::memcmp(own, bytes.data(), bytes.size()) != 0) return false;
  return bytes.size() == header_->key_length || own[bytes.size()] == '\0';
}

/// Without the zeros that fill up texts; a block keeps its length.
string_view StickTable::stored_key(u32 e) const {
  const char *own = key_at(e);
  if (header_->key_type != static_cast<u32>(KeyType::String)) return {own, header_->key_length};
  return {own, strnlen(own, header_->key_length)};
}

std::string StickTable::padded(string_view key) const {
  std::string out(key);
  if (header_->key_type == static_cast<u32>(KeyType::Binary)) out.resize(header_->key_length);
  return out;
}

// -------------------------------------------------------------------------------------------- buckets

u32 StickTable::bucket_of(u32 hash, u32 buckets) {
  u32 low = (1u << (std::bit_width(buckets) - 1)) - 1;
  u32 b = hash & (2 * low + 1);
  return b < buckets ? b : hash & low;
}

/// The heads of all stripes lie side by side, doubling by doubling, so that few entries touch few pages.
u32 &StickTable::bucket(u32 s, u32 b) const {
  if (b == 0) return buckets_[s];
  u32 level = std::bit_width(b) - 1;
  u64 before = u64{header_->stripes} << level;
  return buckets_[before + (u64{s} << level) + (b - (1u << level))];
}

void StickTable::split_bucket(u32 s) {
  Stripe &st = stripe(s);
  if (u64{st.buckets} * header_->stripes >= header_->capacity) return;
  u32 fresh = st.buckets, from = fresh - (1u << (std::bit_width(fresh) - 1));
  u32 chain = bucket(s, from), stay = 0, go = 0;
  st.buckets = fresh + 1;
  while (chain) {
    Entry &x = entry(chain - 1);
    u32 next = x.next;
    u32 &list = bucket_of(x.hash, st.buckets) == fresh ? go : stay;
    x.next = list, list = chain;
    chain = next;
  }
  bucket(s, from) = stay, bucket(s, fresh) = go;
}

u32 StickTable::find(u32 s, const TableKey &key) const {
  for (u32 link = bucket(s, bucket_of(key.hash, stripe(s).buckets)); link; link = entry(link - 1).next)
    if (entry(link - 1).hash == key.hash && same_key(link - 1, key.bytes)) return link;
  return 0;
}

// -------------------------------------------------------------------------------------------- by age

i64 StickTable::next_touch(Tick now) { return last_touch_ = std::max(last_touch_ + 1, now * 1000); }

bool StickTable::expired(const Entry &e, Tick now) const {
  Millis limit = expire();
  return limit != eternity && e.refs == 0 && e.touched / 1000 + limit <= now;
}

void StickTable::note_oldest(u32 s) {
  Stripe &st = stripe(s);
  st.oldest.store(st.first ? entry(st.first - 1).touched : INT64_MAX, std::memory_order_relaxed);
}

void StickTable::unlink_age(u32 s, u32 e) {
  Stripe &st = stripe(s);
  Entry &x = entry(e);
  (x.older ? entry(x.older - 1).newer : st.first) = x.newer;
  (x.newer ? entry(x.newer - 1).older : st.last) = x.older;
  bool was_first = x.older == 0;
  x.older = x.newer = 0;
  if (was_first) note_oldest(s);
}

void StickTable::append_age(u32 s, u32 e) {
  Stripe &st = stripe(s);
  Entry &x = entry(e);
  x.older = st.last, x.newer = 0;
  (st.last ? entry(st.last - 1).newer : st.first) = e + 1;
  st.last = e + 1;
  if (x.older == 0) note_oldest(s);
}

void StickTable::touch(u32 s, u32 e, Tick now) {
  Entry &x = entry(e);
  if (x.refs != 0 || stripe(s).last == e + 1) {
    x.touched = next_touch(now);
    if (stripe(s).first == e + 1) note_oldest(s);
    return;
  }
  StripeChange change(stripe(s).lock);
  unlink_age(s, e);
  x.touched = next_touch(now);
  append_age(s, e);
}

// ------------------------------------------------------------------------------------ making, removing

void StickTable::wipe(u32 e) {
  for (u32 i = 0, n = header_->strip_count.load(std::memory_order_acquire); i < n; i++) {
    const Strip &strip = header_->strips[i];
    std::memset(segment_->base() + strip.at + u64{strip.record} * e + strip.data, 0, strip.record - strip.data);
  }
}

bool StickTable::take_block(u32 s) {
  u32 b = header_->next_block.load(std::memory_order_relaxed);
  do {
    if ((u64{b} + 1) * block_entries > header_->capacity) return false;
  } while (!header_->next_block.compare_exchange_weak(b, b + 1));
  owners_[b].store(static_cast<u16>(s + 1), std::memory_order_release);
  for (u32 i = block_entries; i-- > 0;) {
    Entry &x = entry(b * block_entries + i);
    x.live = 0, x.next = stripe(s).free;
    stripe(s).free = b * block_entries + i + 1;
  }
  return true;
}

u32 StickTable::insert(u32 s, const TableKey &key, Tick now) {
  Stripe &st = stripe(s);
  StripeChange change(st.lock);
  if (st.free == 0 && !take_block(s)) return 0;
  u32 link = st.free, e = link - 1;
  Entry &x = entry(e);
  st.free = x.next;
  x.hash = key.hash, x.refs = 0, x.older = x.newer = 0, x.touched = next_touch(now);
  std::memcpy(key_at(e), key.bytes.data(), key.bytes.size());
  std::memset(key_at(e) + key.bytes.size(), 0, header_->key_length - key.bytes.size());
  wipe(e);
  __atomic_store_n(&x.live, 1, __ATOMIC_RELEASE);
  u32 &head = bucket(s, bucket_of(key.hash, st.buckets));
  x.next = head, head = link;
  append_age(s, e);
  if (++st.used > st.buckets) split_bucket(s);
  return link;
}

/// An entry that nobody holds.
void StickTable::erase(u32 s, u32 e) {
  Stripe &st = stripe(s);
  Entry &x = entry(e);
  StripeChange change(st.lock);
  __atomic_store_n(&x.live, 0, __ATOMIC_RELEASE);
  u32 *link = &bucket(s, bucket_of(x.hash, st.buckets));
  while (*link != e + 1) link = &entry(*link - 1).next;
  *link = x.next;
  unlink_age(s, e);
  x.next = st.free, st.free = e + 1;
  st.used--;
  header_->used.fetch_sub(1, std::memory_order_relaxed);
}

bool StickTable::admit(bool in_excess) {
  if (header_->used.fetch_add(1, std::memory_order_relaxed) < size() || in_excess) return true;
  header_->used.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

u32 StickTable::oldest_stripe() const {
  u32 found = ~0u;
  i64 least = INT64_MAX;
  for (u32 s = 0; s < header_->stripes; s++) {
    i64 t = stripe(s).oldest.load(std::memory_order_relaxed);
    if (t < least) least = t, found = s;
  }
  return found;
}

bool StickTable::purge_oldest(Tick now, bool only_expired) {
  u32 s = oldest_stripe();
  if (s == ~0u) return false;
  Held held(*this, s);
  u32 link = stripe(s).first;
  if (link == 0) return true; // somebody else was faster: look again
  if (only_expired && !expired(entry(link - 1), now)) return false;
  erase(s, link - 1);
  return true;
}

/// Calls then(stripe, entry) with the stripe held.
template <class Then> bool StickTable::find_or_make(const TableKey &key, Tick now, Then then) {
  u32 s = stripe_of(key.hash);
  if (header_->recount.load(std::memory_order_relaxed)) [[unlikely]] recount();
  constexpr int attempts = 256; // others may take what we make room for
  for (int n = 0; n < attempts; n++) {
    {
      Held held(*this, s);
      u32 link = find(s, key);
      if (link) {
        if (expired(entry(link - 1), now)) wipe(link - 1);
      } else if (admit(n >= 2 && header_->shrinking.load(std::memory_order_relaxed))) {
        link = insert(s, key, now);
        if (link == 0) {
          header_->used.fetch_sub(1, std::memory_order_relaxed);
          return false;
        }
      }
      if (link) return then(s, link - 1), true;
    }
    if (!purge_oldest(now, header_->nopurge.load(std::memory_order_relaxed))) return false;
  }
  return false;
}

// -------------------------------------------------------------------------------------------- columns

u64 StickTable::value_of(u32 e, ColumnId c, Tick now) const {
  const Place &p = places_[c];
  const char *at = this->at(e, c);
  switch (p.kind) {
    case DataKind::Number: return *reinterpret_cast<const u32 *>(at);
    case DataKind::Total: {
      u64 v;
      std::memcpy(&v, at, sizeof v);
      return v;
    }
    case DataKind::Rate: return rate_read(*reinterpret_cast<const RateCell *>(at), static_cast<u32>(now), p.period_ms);
  }
  return 0;
}

static u64 changed(u64 value, const ColumnChange &c) {
  switch (c.op) {
    case ColumnOp::Get: return value;
    case ColumnOp::Add: return value + c.amount;
    case ColumnOp::Lower: return value > c.amount ? value - c.amount : 0;
    case ColumnOp::Set: return c.amount;
    case ColumnOp::Take: return 0;
  }
  return value;
}

void StickTable::run(u32 e, Tick now, Changes changes) {
  for (ColumnChange &c : changes) {
    if (c.column == no_column) continue;
    char *at = this->at(e, c.column);
    const Place &p = places_[c.column];
    c.result = c.op == ColumnOp::Take || c.op == ColumnOp::Get ? value_of(e, c.column, now) : 0;
    if (c.op == ColumnOp::Get) continue;
    if (p.kind == DataKind::Rate) {
      RateCell &rate = *reinterpret_cast<RateCell *>(at);
      if (c.op == ColumnOp::Add) rate_add(rate, static_cast<u32>(now), static_cast<u32>(c.amount), p.period_ms);
      else rate_set(rate, static_cast<u32>(now), c.op == ColumnOp::Set ? static_cast<u32>(c.amount) : 0);
    } else if (p.kind == DataKind::Number) {
      u32 &v = *reinterpret_cast<u32 *>(at);
      v = static_cast<u32>(changed(v, c));
    } else {
      u64 v = changed(value_of(e, c.column, now), c);
      std::memcpy(at, &v, sizeof v);
    }
    if (c.op != ColumnOp::Take) c.result = value_of(e, c.column, now);
  }
}

ColumnId StickTable::column(DataType t, u32 index) const {
  if (t == DataType::count_) return no_column; // an action that changes no rate
  const auto &ids = by_type_[static_cast<size_t>(t)];
  return index < ids.size() ? ids[index] : no_column;
}

// --------------------------------------------------------------------------------------------- by key

bool StickTable::look_up(const TableKey &key, Tick now, Changes changes, EntryFacts *facts, bool refresh, u32 *which) {
  u32 s = stripe_of(key.hash);
  Held held(*this, s);
  u32 link = find(s, key);
  if (link == 0 || expired(entry(link - 1), now)) return false;
  if (facts) *facts = {entry(link - 1).refs, entry(link - 1).touched};
  if (which) *which = link - 1;
  run(link - 1, now, changes);
  if (refresh) touch(s, link - 1, now);
  return true;
}

bool StickTable::update(const TableKey &key, Tick now, Changes changes) {
  return find_or_make(key, now, [&](u32 s, u32 e) {
    run(e, now, changes);
    touch(s, e, now);
  });
}

StickTable::Removal StickTable::remove(const TableKey &key, Tick now) {
  u32 s = stripe_of(key.hash);
  Held held(*this, s);
  u32 link = find(s, key);
  if (link == 0) return Removal::NotFound;
  if (entry(link - 1).refs != 0) return Removal::InUse;
  bool there = !expired(entry(link - 1), now);
  erase(s, link - 1);
  return there ? Removal::Done : Removal::NotFound;
}

// ------------------------------------------------------------------------------------------- tracking

u32 StickTable::take_cell() {
  if (!free_cells_.empty()) {
    u32 c = free_cells_.back();
    free_cells_.pop_back();
    return c;
  }
  std::atomic<u32> &used = slots_[slot_].cells_used;
  u32 c = used.load(std::memory_order_relaxed);
  if (c == cells_per_slot) return ~0u;
  used.store(c + 1, std::memory_order_release);
  return c;
}

std::optional<TrackedEntry> StickTable::track(const TableKey &key, Tick now, Changes changes) {
  u32 c = take_cell();
  if (c == ~0u) return std::nullopt;
  TrackedEntry t{this, 0, c};
  ColumnId current = column(DataType::ConnCur);
  std::atomic<u32> &pending = slots_[slot_].pending;
  bool held = find_or_make(key, now, [&](u32 s, u32 e) {
    Entry &x = entry(e);
    t.entry = e;
    pending.store(e + 1, std::memory_order_release);
    __atomic_store_n(&cell(slot_, c), (e + 1) | (current != no_column ? cell_counted : 0u), __ATOMIC_RELEASE);
    if (x.refs == 0) {
      StripeChange change(stripe(s).lock);
      unlink_age(s, e);
      x.refs = 1;
    } else {
      x.refs++;
    }
    x.touched = next_touch(now);
    ColumnChange one{current, ColumnOp::Add, 1};
    run(e, now, {&one, 1});
    pending.store(0, std::memory_order_release);
    run(e, now, changes);
  });
  if (held) return t;
  free_cells_.push_back(c);
  return std::nullopt;
}

void StickTable::change(const TrackedEntry &t, Tick now, Changes changes, EntryFacts *facts) {
  Held held(*this, owner_of(t.entry));
  Entry &x = entry(t.entry);
  run(t.entry, now, changes);
  if (facts) *facts = {x.refs, x.touched};
  bool writes = std::any_of(changes.begin(), changes.end(), [](const ColumnChange &c) { return c.column != no_column && c.op != ColumnOp::Get; });
  if (writes) x.touched = next_touch(now);
}

void StickTable::release(const TrackedEntry &t, Tick now) {
  u32 s = owner_of(t.entry);
  {
    Held held(*this, s);
    Entry &x = entry(t.entry);
    std::atomic<u32> &pending = slots_[slot_].pending;
    u32 &own = cell(slot_, t.cell);
    pending.store(t.entry + 1, std::memory_order_release);
    if (own & cell_counted) {
      ColumnChange one{column(DataType::ConnCur), ColumnOp::Lower, 1};
      run(t.entry, now, {&one, 1});
    }
    x.touched = next_touch(now);
    if (x.refs == 1) {
      StripeChange change(stripe(s).lock);
      x.refs = 0;
      append_age(s, t.entry);
    } else {
      x.refs--;
    }
    __atomic_store_n(&own, 0, __ATOMIC_RELEASE);
    pending.store(0, std::memory_order_release);
  }
  free_cells_.push_back(t.cell);
}

} // namespace penstock
