// SPDX-License-Identifier: BSD-2-Clause
// What a stick table does about deaths and time: a stripe made anew from its entries, references of a
// dead worker given back from its ledger, the expired and the excess swept away, and copies for those who
// look at all entries.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "shared/shm/rows.h"
#include "shared/shm/stick_held.h"

namespace penstock {

using namespace stick;

// --------------------------------------------------------------------------------------------- repair

/// Merge sort of a list linked by `newer`, oldest first; needs no memory.
u32 StickTable::sort_by_age(u32 list) {
  for (u32 width = 1;; width *= 2) {
    u32 left = list, tail = 0, merges = 0;
    list = 0;
    while (left) {
      merges++;
      u32 right = left, n = 0;
      while (n < width && right) right = entry(right - 1).newer, n++;
      u32 a = n, b = width;
      while (a > 0 || (b > 0 && right)) {
        bool from_left = b == 0 || right == 0 || (a > 0 && entry(left - 1).touched <= entry(right - 1).touched);
        u32 &side = from_left ? left : right;
        u32 taken = side;
        side = entry(taken - 1).newer;
        (from_left ? a : b)--;
        (tail ? entry(tail - 1).newer : list) = taken;
        tail = taken;
      }
      left = right;
    }
    if (tail) entry(tail - 1).newer = 0;
    if (merges <= 1) return list;
  }
}

/// From its blocks alone; `live` of each entry says whether it counts.
void StickTable::rebuild(u32 s) {
  Stripe &st = stripe(s);
  for (u32 b = 0; b < st.buckets + 1; b++) bucket(s, b) = 0; // one more: a split may have been under way
  u32 blocks = header_->next_block.load(std::memory_order_acquire), by_age = 0;
  st.used = 0, st.free = 0;
  for (u32 b = 0; b < blocks; b++) {
    if (owners_[b].load(std::memory_order_acquire) != s + 1) continue;
    for (u32 e = b * block_entries; e < (b + 1) * block_entries; e++) {
      Entry &x = entry(e);
      if (!x.live) {
        x.next = st.free, st.free = e + 1;
        continue;
      }
      st.used++;
      u32 &head = bucket(s, bucket_of(x.hash, st.buckets));
      x.next = head, head = e + 1;
      x.older = x.newer = 0;
      if (x.refs == 0) x.newer = by_age, by_age = e + 1;
    }
  }
  st.first = st.last = 0;
  for (u32 link = sort_by_age(by_age); link;) {
    u32 next = entry(link - 1).newer;
    append_age(s, link - 1);
    link = next;
  }
  note_oldest(s);
  header_->recount.store(1, std::memory_order_relaxed);
}

/// Sums `used` up again while nobody can change it.
void StickTable::recount() {
  std::array<std::optional<Held>, max_stripes> all;
  u32 sum = 0;
  for (u32 s = 0; s < header_->stripes; s++) {
    all[s].emplace(*this, s); // in their order: nobody else holds two
    sum += stripe(s).used;
  }
  header_->used.store(sum, std::memory_order_relaxed);
  header_->recount.store(0, std::memory_order_relaxed);
}

void StickTable::give_back(u32 slot, u32 c) {
  u32 noted = cell(slot, c), e = (noted & ~cell_counted) - 1, s = owner_of(e);
  Held held(*this, s);
  Entry &x = entry(e);
  if (noted & cell_counted) {
    for (ColumnId id = 0; id < places_.size(); id++) // its configuration may be another's
      if (header_->columns[id].type == static_cast<u8>(DataType::ConnCur)) {
        ColumnChange one{id, ColumnOp::Lower, 1};
        run(e, 0, {&one, 1});
      }
  }
  cell(slot, c) = 0;
  if (x.refs != 1) return void(x.refs -= x.refs != 0);
  StripeChange change(stripe(s).lock);
  x.refs = 0;
  append_age(s, e);
}

/// The dead was changing this entry's references: they are counted from all ledgers.
void StickTable::settle_doubt(u32 e) {
  if (e / block_entries >= blocks() || owners_[e / block_entries].load() == 0) return;
  u32 s = owner_of(e);
  Held held(*this, s);
  StripeChange change(stripe(s).lock);
  u32 refs = 0, counted = 0;
  for (u32 slot = 0; slot < max_slots; slot++)
    for (u32 c = 0, n = slots_[slot].cells_used.load(std::memory_order_acquire); c < n; c++) {
      u32 noted = __atomic_load_n(&cell(slot, c), __ATOMIC_ACQUIRE);
      if ((noted & ~cell_counted) != e + 1) continue;
      refs++, counted += noted >> 31;
    }
  entry(e).refs = refs;
  for (ColumnId id = 0; id < places_.size(); id++)
    if (header_->columns[id].type == static_cast<u8>(DataType::ConnCur)) std::memcpy(at(e, id), &counted, sizeof counted);
  rebuild(s);
}

void StickTable::fold_slot(u32 slot) {
  Slot &dead = slots_[slot];
  u32 cells = dead.cells_used.load(), pending = dead.pending.load();
  for (u32 c = 0; c < cells; c++) {
    u32 &noted = cell(slot, c);
    if (noted == 0) continue;
    if ((noted & ~cell_counted) == pending) noted = 0;
    else give_back(slot, c);
  }
  if (pending) settle_doubt(pending - 1);
  dead.pending = 0;
  dead.cells_used = 0;
  recount(); // visits every stripe: what the dead left locked is repaired now
}

// ---------------------------------------------------------------------------------------------- sweep

bool StickTable::sweep(Tick now) {
  constexpr u32 at_once = 64; // per stripe and call
  bool done = true;
  if (header_->recount.load(std::memory_order_relaxed)) recount();
  Millis limit = expire();
  for (u32 s = 0; limit != eternity && s < header_->stripes; s++) {
    i64 oldest = stripe(s).oldest.load(std::memory_order_relaxed);
    if (oldest == INT64_MAX || oldest / 1000 + limit > now) continue;
    Held held(*this, s);
    u32 n = 0;
    for (; n < at_once && stripe(s).first && expired(entry(stripe(s).first - 1), now); n++) erase(s, stripe(s).first - 1);
    done &= n < at_once;
  }
  if (!header_->shrinking.load(std::memory_order_relaxed)) return done;
  for (u32 n = 0; n < at_once * 4 && used() > size(); n++)
    if (!purge_oldest(now, false)) break;
  if (used() <= size()) header_->shrinking.store(0, std::memory_order_relaxed);
  return done && used() <= size();
}

// --------------------------------------------------------------------------------------------- copies

void StickTable::copy_live(u32 e, Tick now) {
  const Entry &x = entry(e);
  if (!x.live || expired(x, now)) return;
  u32 n = copies_.count++;
  copies_.entries[n] = e;
  copies_.facts[n] = {x.refs, x.touched};
  std::memcpy(copies_.keys.data() + size_t{n} * header_->key_length, key_at(e), header_->key_length);
  for (size_t i = 0; i < own_.size(); i++) copies_.values[n * own_.size() + i] = value_of(e, own_[i], now);
}

void StickTable::rows_from_copies(std::vector<Row> &out) const {
  for (u32 n = 0; n < copies_.count; n++) {
    const char *key = copies_.keys.data() + size_t{n} * header_->key_length;
    size_t length = header_->key_type == static_cast<u32>(KeyType::String) ? strnlen(key, header_->key_length) : header_->key_length;
    const u64 *values = copies_.values.data() + n * own_.size();
    out.push_back({copies_.entries[n], copies_.facts[n], std::string(key, length), {values, values + own_.size()}});
  }
}

void StickTable::copy_block(u32 block, Tick now, std::vector<Row> &out) {
  copies_.count = 0;
  u32 owner = owners_[block].load(std::memory_order_acquire);
  if (owner == 0) return;
  {
    Held held(*this, owner - 1);
    for (u32 e = block * block_entries; e < (block + 1) * block_entries; e++) copy_live(e, now);
  }
  rows_from_copies(out);
}

std::optional<StickTable::Row> StickTable::copy_entry(u32 e, Tick now) {
  copies_.count = 0;
  if (e / block_entries >= blocks() || owners_[e / block_entries].load(std::memory_order_acquire) == 0) return std::nullopt;
  {
    Held held(*this, owner_of(e));
    copy_live(e, now);
  }
  std::vector<Row> rows;
  rows_from_copies(rows);
  return rows.empty() ? std::nullopt : std::optional<Row>(std::move(rows.front()));
}

StickTable::Removal StickTable::remove_entry(u32 e, string_view key) {
  u32 s = owner_of(e);
  Held held(*this, s);
  if (!entry(e).live || stored_key(e) != key) return Removal::NotFound;
  if (entry(e).refs != 0) return Removal::InUse;
  erase(s, e);
  return Removal::Done;
}

} // namespace penstock
