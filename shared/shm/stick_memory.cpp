// SPDX-License-Identifier: BSD-2-Clause
// The memory of a stick table: its segment made, mapped, and fitted to a configuration.
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "shared/base/hash.h"
#include "shared/shm/rows.h"
#include "shared/shm/stick_held.h"

namespace penstock {

using namespace stick;

namespace {

constexpr u32 least_stripes = 16;
constexpr u64 least_capacity = 1 << 20; // a table may grow by a reload: places cost nothing until they are used
constexpr u64 most_capacity = 0x7ffffff0; // a ledger's cell has 31 bits for it
constexpr u64 bytes_for_later = 256;    // columns that reloads add, per entry

constexpr u64 layout = layout_mix(layout_mix(layout_mix(0x5ab1e, sizeof(Header)), sizeof(Stripe) << 8 | sizeof(Entry)), max_slots << 8 | 2);

u64 paged(u64 bytes) { return (bytes + 4095) & ~u64{4095}; }
u32 words(u32 bytes) { return (bytes + 3) & ~3u; }

u32 stripes_for(u32 size) {
  u32 wanted = std::bit_ceil(std::max(size / 256, 1u));
  return std::clamp(wanted, least_stripes, max_stripes);
}
u64 capacity_for(u32 size) { return std::clamp<u64>(std::bit_ceil(u64{size}) * 4, least_capacity, most_capacity); }

u32 bytes_of(DataType t) {
  constexpr u32 by_kind[] = {4, 8, sizeof(RateCell)};
  return by_kind[static_cast<u8>(info_of(t).kind)];
}

/// gpc0 is the first of the array gpc, and so on: a reload may change from one to the other.
struct Alias { DataType alone, array; u8 index; };
constexpr Alias aliases[] = {
    {DataType::Gpt0, DataType::Gpt, 0}, {DataType::Gpc0, DataType::Gpc, 0}, {DataType::Gpc1, DataType::Gpc, 1},
    {DataType::Gpc0Rate, DataType::GpcRate, 0}, {DataType::Gpc1Rate, DataType::GpcRate, 1},
};

/// The columns that an item of `store` means.
std::vector<Column> columns_of(const StoredType &stored) {
  std::vector<Column> out;
  for (const Alias &a : aliases)
    if (a.alone == stored.type) return {{.type = static_cast<u8>(a.array), .index = a.index, .period_ms = stored.period_ms}};
  for (u32 i = 0; i < stored.count; i++) out.push_back({.type = static_cast<u8>(stored.type), .index = static_cast<u8>(i), .period_ms = stored.period_ms});
  return out;
}

bool same(const Column &a, const Column &b) { return a.type == b.type && a.index == b.index && a.period_ms == b.period_ms; }

} // namespace

StickTable::StickTable(std::unique_ptr<Segment> segment) : segment_(std::move(segment)) {}

std::unique_ptr<StickTable> StickTable::create(const TableDef &def, std::string &error) {
  Header h{};
  h.key_type = static_cast<u32>(def.key), h.key_length = def.key_length;
  h.stripes = stripes_for(def.size);
  h.stripe_shift = 32 - static_cast<u32>(std::bit_width(h.stripes) - 1);
  h.capacity = static_cast<u32>(capacity_for(def.size));
  u32 record = sizeof(Entry) + words(def.key_length);
  u32 fixed = record;
  std::vector<Column> columns;
  for (const StoredType &stored : def.stored)
    for (Column c : columns_of(stored)) {
      if (std::any_of(columns.begin(), columns.end(), [&](const Column &k) { return same(k, c); })) continue;
      c.offset = record;
      record += bytes_of(static_cast<DataType>(c.type));
      columns.push_back(c);
    }
  record = (record + 7) & ~7u; // heads hold a 64-bit word
  u64 at = paged(sizeof(SegmentHeader) + 64 + sizeof(Header));
  auto part = [&](u64 bytes) { return std::exchange(at, paged(at + bytes)); };
  h.stripes_at = part(sizeof(Stripe) * h.stripes);
  h.slots_at = part(sizeof(Slot) * max_slots);
  h.owners_at = part(sizeof(u16) * (h.capacity / block_entries + 1));
  h.buckets_at = part(sizeof(u32) * (u64{h.capacity} * 2 + h.stripes * 2));
  h.ledgers_at = part(sizeof(u32) * u64{cells_per_slot} * max_slots);
  h.dictionary_at = part(sizeof(Name) * u64{dictionary_entries});
  u64 entries_at = part(u64{record} * h.capacity);
  h.end = at;
  h.bytes = at + bytes_for_later * h.capacity;
  auto segment = Segment::create("penstock table", layout, h.bytes, h.bytes, error);
  if (!segment) return nullptr;
  auto table = std::unique_ptr<StickTable>(new StickTable(std::move(segment)));
  Header *made = table->header_ = new (table->segment_->base() + 64) Header{};
  std::memcpy(static_cast<void *>(made), &h, offsetof(Header, size));
  def.name.copy(made->name, sizeof made->name - 1);
  if (getrandom(&made->seed, sizeof made->seed, 0) != sizeof made->seed) made->seed = static_cast<u64>(monotonic_us());
  init_stripe(made->names_lock);
  made->strips[0] = {entries_at, record, fixed};
  made->strip_count = 1;
  std::copy(columns.begin(), columns.end(), made->columns);
  made->column_count = static_cast<u32>(columns.size());
  table->map();
  for (u32 s = 0; s < made->stripes; s++) {
    Stripe &st = *new (&table->stripes_[s]) Stripe{};
    init_stripe(st.lock);
    st.oldest = INT64_MAX, st.buckets = 4;
  }
  table->adopt(def);
  table->apply_limits();
  return table;
}

std::unique_ptr<StickTable> StickTable::attach(int fd, std::string &error) {
  SegmentHeader head;
  if (pread(fd, &head, sizeof head, 0) != ssize_t{sizeof head}) {
    error = "descriptor is no shared segment";
    return nullptr;
  }
  auto segment = Segment::attach(fd, layout, head.capacity, error);
  if (!segment) return nullptr;
  auto table = std::unique_ptr<StickTable>(new StickTable(std::move(segment)));
  table->header_ = reinterpret_cast<Header *>(table->segment_->base() + 64);
  table->map();
  table->map_columns();
  return table;
}

void StickTable::map() {
  char *base = segment_->base();
  stripes_ = reinterpret_cast<Stripe *>(base + header_->stripes_at);
  slots_ = reinterpret_cast<Slot *>(base + header_->slots_at);
  owners_ = reinterpret_cast<std::atomic<u16> *>(base + header_->owners_at);
  buckets_ = reinterpret_cast<u32 *>(base + header_->buckets_at);
  ledgers_ = reinterpret_cast<u32 *>(base + header_->ledgers_at);
  names_ = reinterpret_cast<Name *>(base + header_->dictionary_at);
  entries_ = base + header_->strips[0].at;
  record_ = header_->strips[0].record;
}

void StickTable::map_columns() {
  places_.clear();
  for (u32 i = 0, n = header_->column_count; i < n; i++) {
    const Column &c = header_->columns[i];
    const Strip &strip = header_->strips[c.strip];
    places_.push_back({segment_->base() + strip.at + c.offset, strip.record, info_of(static_cast<DataType>(c.type)).kind, c.period_ms});
  }
}

bool StickTable::fits(const TableDef &def) const {
  return name() == def.name && header_->key_type == static_cast<u32>(def.key) && header_->key_length == def.key_length &&
         u64{def.size} + u64{def.size} / 2 <= header_->capacity;
}

bool StickTable::adopt(const TableDef &def) {
  Header &h = *header_;
  u32 columns = h.column_count, strips = h.strip_count, record = 0;
  auto find_column = [&](const Column &wanted) {
    u32 i = 0;
    while (i < columns && !same(h.columns[i], wanted)) i++;
    return i;
  };
  for (const StoredType &stored : def.stored)
    for (Column c : columns_of(stored)) {
      if (find_column(c) < columns) continue;
      if (columns == max_columns || strips == max_strips) return false;
      c.strip = static_cast<u16>(strips), c.offset = record;
      record += bytes_of(static_cast<DataType>(c.type));
      h.columns[columns++] = c;
    }
  if (record) {
    record = (record + 7) & ~7u;
    u64 bytes = u64{record} * h.capacity;
    if (h.end + bytes > h.bytes) return false;
    h.strips[strips] = {std::exchange(h.end, paged(h.end + bytes)), record, 0};
    // Columns count only once their strip is there; who makes an entry meanwhile wipes what it knows, and the rest is zero.
    h.strip_count.store(strips + 1, std::memory_order_release);
    h.column_count.store(columns, std::memory_order_release);
  }
  map_columns();
  def_ = &def;
  own_.clear();
  for (auto &ids : by_type_) ids.clear();
  for (const StoredType &stored : def.stored) {
    auto &ids = by_type_[static_cast<size_t>(stored.type)];
    for (const Column &c : columns_of(stored)) ids.push_back(static_cast<ColumnId>(find_column(c)));
    own_.insert(own_.end(), ids.begin(), ids.end());
  }
  for (const Alias &a : aliases) {
    const auto &array = by_type_[static_cast<size_t>(a.array)];
    auto &alone = by_type_[static_cast<size_t>(a.alone)];
    if (alone.empty() && a.index < array.size()) alone.push_back(array[a.index]);
  }
  copies_.keys.resize(size_t{block_entries} * h.key_length);
  copies_.values.resize(block_entries * own_.size());
  return true;
}

void StickTable::apply_limits() {
  header_->size = def_->size;
  header_->expire_ms = def_->expire;
  header_->nopurge = def_->nopurge;
  header_->shrinking = used() > def_->size;
}

// ----------------------------------------------------------------------------------- another table's

void StickTable::copy_from(const StickTable &from) {
  StickTable &other = const_cast<StickTable &>(from); // its locks
  struct Pair { ColumnId mine, theirs; u32 bytes; };
  std::vector<Pair> shared;
  for (ColumnId mine = 0; mine < places_.size(); mine++)
    for (ColumnId theirs = 0; theirs < other.places_.size(); theirs++) {
      const Column &c = header_->columns[mine];
      if (c.type == static_cast<u8>(DataType::ConnCur)) continue; // its connections are not ours
      if (same(c, other.header_->columns[theirs])) shared.push_back({mine, theirs, bytes_of(static_cast<DataType>(c.type))});
    }
  Tick now = monotonic_ms();
  for (u32 b = 0; b < other.blocks(); b++) {
    u32 owner = other.owners_[b].load();
    if (owner == 0) continue;
    Held held(other, owner - 1);
    for (u32 e = b * block_entries; e < (b + 1) * block_entries; e++) {
      const Entry &x = other.entry(e);
      if (!x.live || other.expired(x, now)) continue;
      TableKey k = key(other.stored_key(e));
      Held own(*this, stripe_of(k.hash));
      u32 link = find(stripe_of(k.hash), k);
      if (link == 0 && admit(false)) link = insert(stripe_of(k.hash), k, now);
      if (link == 0) continue;
      for (const Pair &p : shared) std::memcpy(at(link - 1, p.mine), other.at(e, p.theirs), p.bytes);
      entry(link - 1).touched = x.touched;
    }
  }
  for (u32 s = 0; s < header_->stripes; s++) {
    Held held(*this, s);
    StripeChange change(stripe(s).lock);
    rebuild(s);
  }
  recount();
}

// --------------------------------------------------------------------------------------------- names

u32 StickTable::number_of_name(string_view text) {
  text = text.substr(0, dictionary_text);
  if (auto known = known_names_.find(std::string(text)); known != known_names_.end()) return known->second;
  u32 hash = static_cast<u32>(xxh3(text, 0)), number = 0;
  {
    StripeGuard guard(header_->names_lock, [](void *, RobustStripe &) {}, nullptr); // never half-made: counted last
    u32 n = header_->names.load(std::memory_order_relaxed), i = 0;
    while (i < n && (names_[i].hash != hash || string_view(names_[i].text, names_[i].length) != text)) i++;
    if (i == dictionary_entries) return 0;
    if (i == n) {
      names_[i].length = static_cast<u32>(text.size()), names_[i].hash = hash;
      text.copy(names_[i].text, text.size());
      header_->names.store(n + 1, std::memory_order_release);
    }
    number = i + 1;
  }
  return known_names_[std::string(text)] = number;
}

string_view StickTable::name_of_number(u32 number) const {
  if (number == 0 || number > header_->names.load(std::memory_order_acquire)) return {};
  return {names_[number - 1].text, names_[number - 1].length};
}

} // namespace penstock
