// SPDX-License-Identifier: BSD-2-Clause
// A change writes down what it is about to do (Notes), then does it in steps of which each leaves rows and
// indexes readable. Whoever takes the lock after a death in between does the rest: adding what is not there
// yet, deleting what still is. All steps can be done twice.
#include "shared/expr/pattern_store.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "shared/base/text.h"

namespace penstock {

namespace {

constexpr size_t run_time_room = size_t{1} << 30; // that a store may grow beyond twice what was loaded
constexpr size_t roots_for_few = 1024;            // of lists that may grow at run time

size_t row_bytes(size_t key) { return sizeof(PatternRow) + key; }
size_t value_bytes(size_t value) { return sizeof(PatternValue) + value; }

bool is_inline(KeyKind k) { return k == KeyKind::Bytes || k == KeyKind::Number || k == KeyKind::V4 || k == KeyKind::V6; }
size_t posting_bytes(KeyKind kind, u32 bits) {
  switch (kind) {
    case KeyKind::Bytes: return 12 + std::max<size_t>(4, bits / 8);
    case KeyKind::Number: return 12 + 8;
    case KeyKind::V6: return 12 + 16;
    default: return sizeof(Posting);
  }
}

struct Shape {
  MatchMethod method;
  KeyKind kind;
  u8 hashed;
};
constexpr Shape shapes[] = {
    {MatchMethod::Str, KeyKind::Whole, 0},   {MatchMethod::Beg, KeyKind::Start, 4}, {MatchMethod::End, KeyKind::End, 4},
    {MatchMethod::Sub, KeyKind::Part, 4},    {MatchMethod::Dir, KeyKind::Word, 4},  {MatchMethod::Dom, KeyKind::Word, 4},
    {MatchMethod::Reg, KeyKind::Literal, 4}, {MatchMethod::Bin, KeyKind::Bytes, 0}, {MatchMethod::Int, KeyKind::Number, 8},
    {MatchMethod::Len, KeyKind::Number, 8},  {MatchMethod::Ip, KeyKind::V4, 2},     {MatchMethod::Ip, KeyKind::V6, 4},
};

/// A key as the trie reads it; `text` is the row's.
BitKey bits_of(const IndexHead &index, const IndexKey &key, string_view text) {
  if (key.data) return {key.data, 1, byte_maps.map[0], key.bits};
  string_view part = text.substr(key.at, key.bits / 8);
  return index.kind == KeyKind::End ? backward_key(part, index.fold) : forward_key(part, index.fold);
}

} // namespace

// ---------------------------------------------------------------------------------------------- store

std::unique_ptr<PatternStore> PatternStore::create(std::string &error) {
  static_assert(sizeof(Notes) <= SharedHeap::user_bytes);
  auto heap = SharedHeap::create("penstock-patterns", error);
  if (!heap) return nullptr;
  std::unique_ptr<PatternStore> store(new PatternStore(std::move(heap)));
  std::memset(store->heap_->user(), 0, SharedHeap::user_bytes);
  return store;
}

std::unique_ptr<PatternList> PatternStore::make_list(u32 indexes) {
  const size_t bytes = sizeof(PatternHead) + indexes * sizeof(IndexHead);
  u32 address = heap_->allocate(bytes);
  if (address == 0) return nullptr;
  auto &head = *heap_->at<PatternHead>(address);
  std::memset(static_cast<void *>(&head), 0, bytes);
  auto list = std::make_unique<PatternList>(*this, address);
  IndexHead &exact = head.indexes()[0]; // all zero is no fold, no dots, all of the key hashed
  exact.method = static_cast<u8>(MatchMethod::Str);
  exact.kind = KeyKind::Whole;
  head.index_count = 1;
  head.index_room = indexes;
  list->make_table(exact, 1);
  return exact.table ? std::move(list) : nullptr;
}

void PatternStore::loaded() { heap_->set_limit(heap_->used_bytes() * 2 + run_time_room); }

void PatternStore::upkeep() {
  heap_->forget_dead_readers();
  Guard guard(*this);
  heap_->tidy();
}

void PatternStore::forget_cursors() {
  Guard guard(*this);
  for (Cursor &c : notes().cursors) c = {};
}

void PatternStore::Guard::repair(void *context, RobustStripe &) {
  auto &store = *static_cast<PatternStore *>(context);
  Notes &notes = store.notes();
  if (notes.change == Change::None) return;
  PatternList list(store, notes.list);
  if (notes.change == Change::Delete) {
    list.finish_delete(notes.row);
    return;
  }
  PatternHead &head = list.head();
  bool whole = true;
  for (u32 i = 0; i < head.index_count && whole; i++) whole = list.index_row(head.indexes()[i], notes.row, true);
  if (whole) list.link_by_age(notes.row);
  else list.finish_delete(notes.row); // no memory for the rest: as if it had never begun
  notes.change = Change::None;
}

// --------------------------------------------------------------------------------------------- set-up

PatternHead &PatternList::head() const { return *store_.heap().at<PatternHead>(head_); }
PatternRow &PatternList::row(u32 address) const { return *store_.heap().at<PatternRow>(address); }
string_view PatternList::value(const PatternRow &row) const {
  u32 v = row.value.load(std::memory_order_acquire);
  return v ? store_.heap().at<PatternValue>(v)->text() : string_view();
}

void PatternList::make_table(IndexHead &index, size_t roots) {
  roots = std::bit_ceil(std::clamp<size_t>(roots, 1, SharedHeap::largest_block / sizeof(u32)));
  index.table = store_.heap().allocate(roots * sizeof(u32));
  if (index.table == 0) return;
  index.mask = static_cast<u32>(roots - 1);
  std::memset(store_.heap().at<char>(index.table), 0, roots * sizeof(u32));
}

void PatternList::expect_rows(size_t n) {
  IndexHead &index = head().indexes()[0];
  if (count() != 0) return;
  store_.heap().release(index.table, (index.mask + u64{1}) * sizeof(u32));
  make_table(index, std::max(n, roots_for_few));
}

bool PatternList::use(MatchMethod method, bool ignore_case, bool dotted, Ahead ahead, u32 &index, std::string &error) {
  PatternHead &h = head();
  bool fold = ignore_case && method != MatchMethod::Bin && method != MatchMethod::Int && method != MatchMethod::Len && method != MatchMethod::Ip;
  for (u32 i = 0; i < h.index_count; i++)
    if (h.indexes()[i].method == static_cast<u8>(method) && h.indexes()[i].fold == fold && h.indexes()[i].dotted == dotted) {
      index = i;
      return true;
    }
  index = h.index_count;
  for (const Shape &s : shapes) {
    if (s.method != method) continue;
    PENSTOCK_ENSURE(h.index_count < h.index_room);
    IndexHead &made = h.indexes()[h.index_count];
    made.method = static_cast<u8>(method);
    made.kind = s.kind;
    made.fold = fold;
    made.dotted = dotted;
    made.hashed = s.hashed;
    size_t rows = std::max<size_t>(count(), ahead.rows);
    if (s.kind == KeyKind::V6) {
      rows = ahead.v6;
      for (u32 at = h.oldest; at != 0; at = row(at).newer) rows += row(at).text().find(':') != string_view::npos;
    }
    make_table(made, s.kind == KeyKind::V4 ? std::min<size_t>(rows, 65536) : rows);
    bool good = made.table != 0;
    if (!good) error = "no memory for patterns";
    for (u32 at = h.oldest; at != 0 && good; at = row(at).newer) {
      good = check_pattern(method, fold, dotted, row(at).text(), error);
      if (good && !index_row(made, at, false)) good = false, error = "no memory for patterns";
    }
    if (!good) return false;
    h.index_count++;
  }
  return true;
}

bool PatternList::check_value(string_view value, u8 values, std::string &error) const {
  if ((values & numbers) && !parse_i64(value)) {
    error = "the value '" + std::string(value) + "' is no number";
    return false;
  }
  if ((values & addresses) && !parse_ip(value)) {
    error = "the value '" + std::string(value) + "' is no IP address";
    return false;
  }
  return true;
}

bool PatternList::demand(u8 values, std::string &error) {
  PatternHead &h = head();
  for (u32 at = h.oldest; at != 0; at = row(at).newer)
    if (!check_value(value(row(at)), values, error)) return false;
  h.values = static_cast<u8>(h.values | values);
  return true;
}

bool PatternList::check(string_view key, string_view value, std::string &error) const {
  PatternHead &h = head();
  if (key.size() >= SharedHeap::largest_block / 2 || value.size() >= SharedHeap::largest_block / 2) {
    error = "a key or value of more than 128 MB";
    return false;
  }
  for (u32 i = 1; i < h.index_count; i++)
    if (!check_pattern(static_cast<MatchMethod>(h.indexes()[i].method), h.indexes()[i].fold, h.indexes()[i].dotted, key, error)) return false;
  return h.values == any_text || check_value(value, h.values, error);
}

// ---------------------------------------------------------------------------------------------- rows

bool PatternList::index_row(IndexHead &index, u32 address, bool again) {
  SharedHeap &heap = store_.heap();
  PatternTrie trie(heap, index);
  string_view text = row(address).text();
  if (&index == &head().indexes()[0]) return (again && trie.settle(trie.key_of(row(address).key), address)) || trie.insert(address);
  return each_key(index, text, [&](const IndexKey &key) {
    if (again && trie.settle(bits_of(index, key, text), address)) return true;
    size_t bytes = posting_bytes(index.kind, key.bits);
    u32 p = heap.allocate(bytes);
    if (p == 0) return false;
    auto &posting = *heap.at<Posting>(p);
    posting.bits = key.bits;
    posting.row = address;
    posting.at = key.at;
    if (is_inline(index.kind)) {
      size_t width = bytes - offsetof(Posting, at), known = std::min(width, index.kind == KeyKind::V4 ? 4 : index.kind == KeyKind::V6 ? 16 : index.kind == KeyKind::Number ? 8 : size_t{key.bits / 8});
      std::memcpy(heap.at<char>(p) + offsetof(Posting, at), key.data, known);
    }
    if (trie.insert(p)) return true;
    heap.release(p, bytes);
    return false;
  });
}

void PatternList::unindex_row(IndexHead &index, u32 address) {
  SharedHeap &heap = store_.heap();
  PatternTrie trie(heap, index);
  string_view text = row(address).text();
  if (&index == &head().indexes()[0]) {
    trie.remove(trie.key_of(row(address).key), address);
    return;
  }
  each_key(index, text, [&](const IndexKey &key) {
    u32 p = trie.remove(bits_of(index, key, text), address);
    if (p) heap.retire(p, posting_bytes(index.kind, key.bits));
    return true;
  });
}

void PatternList::link_by_age(u32 address) {
  PatternHead &h = head();
  if (h.newest != address) {
    PatternRow &r = row(address);
    r.older = h.newest;
    if (h.newest) row(h.newest).newer = address;
    else h.oldest = address;
    h.newest = address;
  }
  h.count = store_.notes().count_after;
}

PatternChange PatternList::add_row(string_view key, string_view value, u32 version) {
  SharedHeap &heap = store_.heap();
  PatternHead &h = head();
  u32 address = heap.allocate(row_bytes(key.size()));
  if (address == 0) return PatternChange::Full;
  u32 v = 0;
  if (!value.empty() && (v = heap.allocate(value_bytes(value.size()))) == 0) {
    heap.release(address, row_bytes(key.size()));
    return PatternChange::Full;
  }
  PatternRow &r = row(address);
  r.key.bits = static_cast<u32>(key.size()) * 8;
  r.key.row = address;
  r.key.at = 0;
  r.value.store(v, std::memory_order_relaxed);
  r.version.store(version, std::memory_order_relaxed);
  r.newer = r.older = 0;
  r.order = ++h.last_order;
  std::memcpy(r.bytes(), key.data(), key.size());
  if (v) {
    auto &text = *heap.at<PatternValue>(v);
    text.length = static_cast<u32>(value.size());
    std::memcpy(text.bytes(), value.data(), value.size());
  }
  StripeChange change(heap.lock());
  auto &notes = store_.notes();
  notes.list = head_, notes.row = address, notes.count_after = h.count + 1;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  notes.change = PatternStore::Change::Add;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  for (u32 i = 0; i < h.index_count; i++) {
    if (index_row(h.indexes()[i], address, false)) continue;
    for (u32 j = 0; j <= i; j++) unindex_row(h.indexes()[j], address);
    notes.change = PatternStore::Change::None;
    heap.retire(address, row_bytes(key.size()));
    if (v) heap.retire(v, value_bytes(value.size()));
    return PatternChange::Full;
  }
  link_by_age(address);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  notes.change = PatternStore::Change::None;
  return PatternChange::Done;
}

void PatternList::delete_row(u32 address) {
  StripeChange change(store_.heap().lock());
  auto &notes = store_.notes();
  notes.list = head_, notes.row = address, notes.count_after = head().count - 1;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  notes.change = PatternStore::Change::Delete;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  finish_delete(address);
}

/// Its own links stay as they are, so that all of it can be done again.
void PatternList::finish_delete(u32 address) {
  PatternHead &h = head();
  PatternRow &r = row(address);
  auto &notes = store_.notes();
  for (u32 i = h.index_count; i-- > 0;) unindex_row(h.indexes()[i], address);
  for (PatternStore::Cursor &c : notes.cursors)
    if (c.row == address) c.row = r.newer;
  if (h.oldest == address || r.older) { // an addition that was cut short may not be linked
    if (r.older) row(r.older).newer = r.newer;
    else h.oldest = r.newer;
    if (r.newer) row(r.newer).older = r.older;
    else if (h.newest == address) h.newest = r.older;
  }
  if (notes.change == PatternStore::Change::Delete) h.count = notes.count_after;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  notes.change = PatternStore::Change::None;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  u32 v = r.value;
  if (v) store_.heap().retire(v, value_bytes(store_.heap().at<PatternValue>(v)->length));
  store_.heap().retire(address, row_bytes(r.text().size()));
}

PatternChange PatternList::change_value(u32 address, string_view value) {
  SharedHeap &heap = store_.heap();
  PatternRow &r = row(address);
  u32 fresh = 0, old = r.value;
  if (old && heap.at<PatternValue>(old)->text() == value) return PatternChange::Done;
  if (!value.empty()) {
    fresh = heap.allocate(value_bytes(value.size()));
    if (fresh == 0) return PatternChange::Full;
    auto &text = *heap.at<PatternValue>(fresh);
    text.length = static_cast<u32>(value.size());
    std::memcpy(text.bytes(), value.data(), value.size());
  }
  r.value.store(fresh, std::memory_order_release);
  if (old) heap.retire(old, value_bytes(heap.at<PatternValue>(old)->length));
  return PatternChange::Done;
}

u32 PatternList::find_row(string_view key, u32 version) const {
  PatternTrie trie(store_.heap(), head().indexes()[0]);
  BitKey k = forward_key(key, false);
  u32 found = 0;
  trie.walk(trie.hashed_root(k), k, [&](u32 ring, u32 bits) {
    return bits == k.bits && trie.each_row(ring, [&](PatternRow &r) {
      if (r.version.load() != version) return false;
      found = store_.heap().address_of(&r);
      return true;
    });
  });
  return found;
}

bool PatternList::is_row(u64 address) const {
  SharedHeap &heap = store_.heap();
  if (!heap.holds(address, sizeof(PatternRow))) return false;
  const PatternRow &r = row(static_cast<u32>(address));
  if (r.key.bits % 8 || !heap.holds(address, row_bytes(r.key.bits / 8))) return false;
  std::string key(r.text());
  PatternTrie trie(heap, head().indexes()[0]);
  BitKey k = forward_key(key, false);
  return trie.walk(trie.hashed_root(k), k, [&](u32 ring, u32 bits) {
    return bits == k.bits && trie.each_row(ring, [&](PatternRow &x) { return heap.address_of(&x) == address; });
  });
}

// --------------------------------------------------------------------------------------------- changes

PatternChange PatternList::load(string_view key, string_view value, std::string &error) {
  if (!check(key, value, error)) return PatternChange::Malformed;
  PatternChange done = add_row(key, value, current());
  if (done == PatternChange::Full) error = "no memory for patterns";
  return done;
}

namespace {
PatternChange told(PatternChange c, std::string &error) {
  if (c == PatternChange::Full) error = "the store of patterns is full";
  return c;
}
} // namespace

PatternChange PatternList::add(string_view key, string_view value, u32 version, std::string &error) {
  if (!check(key, value, error)) return PatternChange::Malformed;
  PatternStore::Guard guard(store_);
  if (store_.heap().retire_room() < SharedHeap::few) return told(PatternChange::Full, error);
  head().changes++;
  return told(add_row(key, value, version), error);
}

PatternChange PatternList::set(string_view key, string_view value, std::string &error) {
  if (!check_value(value, head().values, error)) return PatternChange::Malformed;
  PatternStore::Guard guard(store_);
  if (store_.heap().retire_room() < SharedHeap::few) return told(PatternChange::Full, error);
  const u32 version = current();
  u32 first = find_row(key, version);
  if (first == 0) return PatternChange::NotFound;
  PatternTrie trie(store_.heap(), head().indexes()[0]);
  BitKey k = forward_key(key, false);
  PatternChange done = PatternChange::Done;
  trie.walk(trie.hashed_root(k), k, [&](u32 ring, u32 bits) {
    return bits == k.bits && trie.each_row(ring, [&](PatternRow &r) {
      if (r.version.load() == version) done = change_value(store_.heap().address_of(&r), value);
      return done != PatternChange::Done;
    });
  });
  return told(done, error);
}

PatternChange PatternList::set_row(u32 address, string_view value, std::string &error) {
  if (!check_value(value, head().values, error)) return PatternChange::Malformed;
  PatternStore::Guard guard(store_);
  if (!is_row(address)) return PatternChange::NotFound;
  return told(change_value(address, value), error);
}

PatternChange PatternList::put(string_view key, string_view value, std::string &error) {
  PatternChange done = set(key, value, error);
  if (done != PatternChange::NotFound) return done;
  if (!check(key, value, error)) return PatternChange::Malformed;
  PatternStore::Guard guard(store_);
  if (store_.heap().retire_room() < SharedHeap::few) return told(PatternChange::Full, error);
  if (u32 row = find_row(key, current())) return told(change_value(row, value), error); // somebody was faster
  head().changes++;
  return told(add_row(key, value, current()), error);
}

PatternChange PatternList::add_once(string_view key, std::string &error) {
  if (!check(key, {}, error)) return PatternChange::Malformed;
  if (find_row(key, current())) return PatternChange::Done; // no lock where nothing is to do
  PatternStore::Guard guard(store_);
  if (find_row(key, current())) return PatternChange::Done;
  if (store_.heap().retire_room() < SharedHeap::few) return told(PatternChange::Full, error);
  head().changes++;
  return told(add_row(key, {}, current()), error);
}

PatternChange PatternList::remove(string_view key) {
  if (find_row(key, current()) == 0) return PatternChange::NotFound;
  PatternStore::Guard guard(store_);
  const u32 version = current();
  PatternChange done = PatternChange::NotFound;
  while (u32 row = find_row(key, version)) {
    head().changes++;
    delete_row(row);
    done = PatternChange::Done;
  }
  return done;
}

PatternChange PatternList::remove_row(u32 address) {
  PatternStore::Guard guard(store_);
  if (!is_row(address)) return PatternChange::NotFound;
  head().changes++;
  delete_row(address);
  return PatternChange::Done;
}

// -------------------------------------------------------------------------------------------- versions

u32 PatternList::prepare() {
  PatternStore::Guard guard(store_);
  return ++head().next;
}

/// Version numbers wrap: differences count.
bool PatternList::commit(u32 version) {
  PatternStore::Guard guard(store_);
  PatternHead &h = head();
  u32 ahead = version - h.current;
  if (ahead == 0 || ahead > h.next - h.current) return false;
  h.changes++;
  h.current.store(version, std::memory_order_release);
  return true;
}

// --------------------------------------------------------------------------------------------- cursors

PatternCursor::PatternCursor(PatternList &list) : list_(list), cell_(~u32{0}) {
  PatternStore::Guard guard(list.store());
  auto &notes = list.store().notes();
  for (u32 i = 0; i < PatternStore::max_cursors; i++) {
    if (notes.cursors[i].list != 0) continue;
    notes.cursors[i] = {list.store().heap().address_of(&list.head()), list.head().oldest};
    cell_ = i;
    return;
  }
}

PatternCursor::~PatternCursor() {
  if (!valid()) return;
  PatternStore::Guard guard(list_.store());
  list_.store().notes().cursors[cell_] = {};
}

bool PatternCursor::step(u32 at_most, void (*use)(void *, u32, const PatternRow &), void *context, u32 version) {
  PatternStore::Guard guard(list_.store());
  u32 &at = list_.store().notes().cursors[cell_].row;
  for (u32 n = 0; at != 0 && n < at_most; n++) {
    const PatternRow &row = list_.row(at);
    if (row.version.load() == version) use(context, at, row);
    at = row.newer;
  }
  return at != 0;
}

bool PatternPurge::step(u32 at_most) {
  PatternList &list = cursor_.list_;
  PatternStore::Guard guard(list.store());
  PatternHead &h = list.head();
  u32 &at = list.store().notes().cursors[cursor_.cell_].row;
  h.changes++;
  for (u32 n = 0; at != 0 && n < at_most && list.store().heap().retire_room() > 4 * SharedHeap::few; n++) {
    PatternRow &row = list.row(at);
    const u32 version = row.version.load();
    const bool stale = version_ ? version == *version_ : h.next - version > h.next - h.current;
    if (stale) list.delete_row(at); // moves the cursor on
    else at = row.newer;
  }
  return at == 0;
}

} // namespace penstock
