// SPDX-License-Identifier: BSD-2-Clause
// A stick table in shared memory: one for the whole host, exact over all workers (manual, section 11).
// Look-ups and changes hold the key's stripe, so what a call returns is what its own change made. A worker
// killed at any instruction leaves a table that the next one repairs, and the master gives back what it
// held (fold_slot). Nothing here allocates or calls the system inside a critical section.
//
// Who uses it: workers through worker/stream/track.h and the rows of worker/rules, the control process for
// expiry and the runtime socket, the master at its start and when a worker has died.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "shared/shm/segment.h"
#include "shared/shm/stick_layout.h"

namespace penstock {

/// A column as this configuration knows it.
using ColumnId = u16;
inline constexpr ColumnId no_column = 0xffff;

enum class ColumnOp : u8 { Get, Add, Lower /* not below 0 */, Set, Take /* gives the value and clears it */ };
/// One thing to do with a column while the entry is held; those of no_column are skipped, with result 0.
struct ColumnChange {
  ColumnId column = no_column;
  ColumnOp op = ColumnOp::Get;
  u64 amount = 0;
  u64 result = 0; // the value afterwards; of Take the one before
};
using Changes = std::span<ColumnChange>;

/// What is known of an entry beside its columns.
struct EntryFacts {
  u32 refs = 0;
  i64 touched_us = 0;
};

/// A tracked entry. Plain data: its owner gives it back with release().
struct TrackedEntry {
  StickTable *table = nullptr;
  u32 entry = 0, cell = 0;
  explicit operator bool() const { return table != nullptr; }
};

/// A key in the form in which the table keeps it: addresses in network order, integers as they are, text
/// and blocks cut at the length, without trailing zeros.
struct TableKey {
  string_view bytes;
  u32 hash = 0;
};

class StickTable : Pinned {
 public:
  // ------------------------------------------------------------------ master
  /// A new one for `def`. Null and `error` set when the system refuses.
  static std::unique_ptr<StickTable> create(const TableDef &def, std::string &error);
  /// One that an earlier image made; adopt() says what this configuration wants of it.
  static std::unique_ptr<StickTable> attach(int fd, std::string &error);
  /// Whether it can be the memory of `def`: same keys, room enough.
  bool fits(const TableDef &def) const;
  /// Whether its entries mean something to `def`: the same type of keys.
  bool same_kind(const TableDef &def) const { return header_->key_type == static_cast<u32>(def.key); }
  /// Finds or adds the columns of `def`. False: no room for more.
  bool adopt(const TableDef &def);
  /// Makes size, expire and nopurge those of the configuration that adopted it.
  void apply_limits();
  /// Takes back what a dead worker held, and repairs what it left.
  void fold_slot(u32 slot);
  /// Copies the entries of another table, as far as both store the same.
  void copy_from(const StickTable &other);
  int fd() const { return segment_->fd(); }
  string_view name() const { return header_->name; }

  // ------------------------------------------------------------------ columns and keys
  const TableDef &def() const { return *def_; }
  u32 size() const { return header_->size.load(std::memory_order_relaxed); }
  u32 used() const { return header_->used.load(std::memory_order_relaxed); }
  Millis expire() const { return header_->expire_ms.load(std::memory_order_relaxed); }
  /// no_column when it is not stored. gpc0 and the like are found whether stored alone or as elements of an array.
  ColumnId column(DataType t, u32 index = 0) const;
  TableKey key(string_view bytes) const;
  /// A key as entries show it.
  std::string padded(string_view key) const;

  // ------------------------------------------------------------------ entries by key
  /// False: there is none.
  bool look_up(const TableKey &key, Tick now, Changes changes, EntryFacts *facts = nullptr, bool refresh = false, u32 *entry = nullptr);
  /// Makes one if there is none. False: the table is full and nothing may be purged.
  bool update(const TableKey &key, Tick now, Changes changes);
  enum class Removal : u8 { Done, NotFound, InUse };
  Removal remove(const TableKey &key, Tick now);

  // ------------------------------------------------------------------ tracking, by a worker
  /// Once, before the process tracks anything.
  void use_slot(u32 slot) { slot_ = slot; }
  /// Holds the key's entry, made if there is none; it stays until it is released, whatever happens.
  /// conn_cur is raised before `changes` are looked at. Nothing: full.
  std::optional<TrackedEntry> track(const TableKey &key, Tick now, Changes changes);
  void change(const TrackedEntry &t, Tick now, Changes changes, EntryFacts *facts = nullptr);
  void release(const TrackedEntry &t, Tick now);
  /// The key of a tracked entry; lives as long as it is held.
  string_view key_of(const TrackedEntry &t) const { return stored_key(t.entry); }

  // ------------------------------------------------------------------ all entries, by control
  /// Removes what has expired, and the oldest where there are more than the size. A few dozen per
  /// stripe at a time; false: there is more to do.
  bool sweep(Tick now);
  u32 blocks() const { return header_->next_block.load(std::memory_order_acquire); }
  /// A private copy of an entry, to be looked at without a lock.
  struct Row {
    u32 entry;
    EntryFacts facts;
    std::string key;
    std::vector<u64> values; // of columns(), one by one
  };
  std::span<const ColumnId> columns() const { return own_; }
  const stick::Column &describe(ColumnId c) const { return header_->columns[c]; }
  /// The entries of one block that have not expired.
  void copy_block(u32 block, Tick now, std::vector<Row> &out);
  std::optional<Row> copy_entry(u32 entry, Tick now);
  /// Removes an entry that a row named, if it is still that key's.
  Removal remove_entry(u32 entry, string_view key);

  // ------------------------------------------------------------------ names of servers (server_key)
  /// A number for a text; 0 when there is no room for another.
  u32 number_of_name(string_view text);
  string_view name_of_number(u32 number) const;

 private:
  struct Place { // a column's
    char *base = nullptr;
    u32 record = 0;
    DataKind kind = DataKind::Number;
    u32 period_ms = 0;
  };
  struct Held; // a stripe, locked

  explicit StickTable(std::unique_ptr<Segment> segment);
  void map();
  void map_columns();
  stick::Stripe &stripe(u32 s) const { return stripes_[s]; }
  u32 stripe_of(u32 hash) const { return hash >> header_->stripe_shift & (header_->stripes - 1); }
  u32 owner_of(u32 entry) const { return owners_[entry / stick::block_entries] - 1u; }
  stick::Entry &entry(u32 e) const { return *reinterpret_cast<stick::Entry *>(entries_ + u64{record_} * e); }
  char *key_at(u32 e) const { return entries_ + u64{record_} * e + sizeof(stick::Entry); }
  string_view stored_key(u32 e) const;
  u32 &bucket(u32 s, u32 b) const;
  static u32 bucket_of(u32 hash, u32 buckets);
  u32 &cell(u32 slot, u32 c) const { return ledgers_[u64{slot} * stick::cells_per_slot + c]; }
  bool expired(const stick::Entry &e, Tick now) const;
  bool same_key(u32 e, string_view bytes) const;
  i64 next_touch(Tick now);

  // With the stripe held:
  u32 find(u32 s, const TableKey &key) const;
  u32 insert(u32 s, const TableKey &key, Tick now);
  void erase(u32 s, u32 e);
  void wipe(u32 e);
  void unlink_age(u32 s, u32 e);
  void append_age(u32 s, u32 e);
  void note_oldest(u32 s);
  bool take_block(u32 s);
  void split_bucket(u32 s);
  void touch(u32 s, u32 e, Tick now);
  void run(u32 e, Tick now, Changes changes);
  char *at(u32 e, ColumnId c) const { return places_[c].base + u64{places_[c].record} * e; }
  u64 value_of(u32 e, ColumnId c, Tick now) const;
  void rebuild(u32 s);
  u32 sort_by_age(u32 list);
  void copy_live(u32 e, Tick now);
  void rows_from_copies(std::vector<Row> &out) const;

  u32 oldest_stripe() const;
  bool purge_oldest(Tick now, bool only_expired);
  bool admit(bool in_excess); // with a stripe held: one more entry fits
  void recount();
  template <class Then> bool find_or_make(const TableKey &key, Tick now, Then then);
  void give_back(u32 slot, u32 c);
  void settle_doubt(u32 e);
  u32 take_cell();

  std::unique_ptr<Segment> segment_;
  stick::Header *header_ = nullptr;
  stick::Stripe *stripes_ = nullptr;
  stick::Slot *slots_ = nullptr;
  std::atomic<u16> *owners_ = nullptr;
  u32 *buckets_ = nullptr, *ledgers_ = nullptr;
  stick::Name *names_ = nullptr;
  char *entries_ = nullptr;
  u32 record_ = 0;

  // This process' own.
  const TableDef *def_ = nullptr;
  std::vector<Place> places_;     // of all columns that there were when it was mapped
  std::vector<ColumnId> own_;     // of this configuration, as `show table` lists them
  std::array<std::vector<ColumnId>, data_types> by_type_;
  u32 slot_ = 0;
  std::vector<u32> free_cells_;
  i64 last_touch_ = 0;
  std::unordered_map<std::string, u32> known_names_;
  /// Where entries are copied to while their stripe is held; made beforehand.
  struct Copies {
    u32 count = 0;
    u32 entries[stick::block_entries];
    EntryFacts facts[stick::block_entries];
    std::vector<char> keys;
    std::vector<u64> values;
  } copies_;
};

} // namespace penstock
