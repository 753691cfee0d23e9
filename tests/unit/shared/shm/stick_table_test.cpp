// SPDX-License-Identifier: BSD-2-Clause
#include "shared/shm/stick_table.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <set>

#include "shared/shm/stick_rate.h"

using namespace penstock;

namespace {

TableDef definition(u32 size, std::vector<StoredType> stored, Millis expire = eternity) {
  TableDef d;
  d.name = std::string("t"), d.key = KeyType::String, d.key_length = 16, d.size = size, d.expire = expire;
  d.stored = std::move(stored);
  return d;
}
std::unique_ptr<StickTable> table_of(const TableDef &d) {
  std::string error;
  auto t = StickTable::create(d, error);
  REQUIRE_MESSAGE(t, error);
  return t;
}
u64 change(StickTable &t, string_view key, DataType type, ColumnOp op, u64 amount, Tick now) {
  ColumnChange c{t.column(type), op, amount};
  REQUIRE(t.update(t.key(key), now, {&c, 1}));
  return c.result;
}
/// -1: not there.
i64 value(StickTable &t, string_view key, DataType type, Tick now) {
  ColumnChange c{t.column(type)};
  return t.look_up(t.key(key), now, {&c, 1}) ? static_cast<i64>(c.result) : -1;
}
std::set<std::string> keys_of(StickTable &t, Tick now) {
  std::set<std::string> out;
  std::vector<StickTable::Row> rows;
  for (u32 b = 0; b < t.blocks(); b++) t.copy_block(b, now, rows);
  for (auto &r : rows) out.insert(r.key);
  CHECK(out.size() == rows.size());
  return out;
}
/// The whole is sound: every entry is found by its key, and as many as `used` says.
void check_sound(StickTable &t, Tick now) {
  auto keys = keys_of(t, now);
  CHECK(keys.size() == t.used());
  for (auto &k : keys) CHECK(t.look_up(t.key(k), now, {}));
}

} // namespace

TEST_CASE("a table counts by key and forgets what is removed") {
  auto d = definition(10, {{DataType::Gpc0}, {DataType::BytesInCnt}});
  auto t = table_of(d);
  CHECK(change(*t, "a", DataType::Gpc0, ColumnOp::Add, 1, 1000) == 1);
  CHECK(change(*t, "a", DataType::Gpc0, ColumnOp::Add, 4, 1000) == 5);
  CHECK(change(*t, "b", DataType::BytesInCnt, ColumnOp::Add, u64{5} << 32, 1000) == u64{5} << 32);
  CHECK(value(*t, "b", DataType::Gpc0, 1000) == 0);
  CHECK(value(*t, "c", DataType::Gpc0, 1000) == -1);
  CHECK(t->column(DataType::ConnCur) == no_column);
  CHECK(change(*t, "a", DataType::Gpc0, ColumnOp::Take, 0, 1000) == 5);
  CHECK(value(*t, "a", DataType::Gpc0, 1000) == 0);
  CHECK(t->remove(t->key("a"), 1000) == StickTable::Removal::Done);
  CHECK(t->remove(t->key("a"), 1000) == StickTable::Removal::NotFound);
  CHECK(t->used() == 1);
  CHECK(change(*t, "0123456789abcdefgh", DataType::Gpc0, ColumnOp::Add, 1, 1000) == 1);
  CHECK(value(*t, "0123456789abcdefXX", DataType::Gpc0, 1000) == 1); // cut at the key's length
  CHECK(value(*t, "0123456789abcde", DataType::Gpc0, 1000) == -1);
}

TEST_CASE("a full table drops its oldest entries, in the exact order of their last use") {
  auto d = definition(100, {{DataType::Gpc0}});
  auto t = table_of(d);
  for (int i = 0; i < 100; i++) change(*t, std::to_string(i), DataType::Gpc0, ColumnOp::Set, 1, 50);
  for (int i = 0; i < 30; i++) change(*t, std::to_string(i), DataType::Gpc0, ColumnOp::Add, 1, 50); // used again
  for (int i = 100; i < 150; i++) change(*t, std::to_string(i), DataType::Gpc0, ColumnOp::Set, 1, 50);
  CHECK(t->used() == 100);
  auto keys = keys_of(*t, 50);
  for (int i = 0; i < 150; i++) CHECK(keys.contains(std::to_string(i)) == (i < 30 || i >= 80));
}

TEST_CASE("a full table with nopurge refuses, but not in place of what has expired") {
  auto d = definition(3, {{DataType::Gpc0}}, 1000);
  d.nopurge = true;
  auto t = table_of(d);
  for (const char *k : {"a", "b", "c"}) change(*t, k, DataType::Gpc0, ColumnOp::Set, 1, 0);
  ColumnChange c{t->column(DataType::Gpc0), ColumnOp::Add, 1};
  CHECK_FALSE(t->update(t->key("d"), 500, {&c, 1}));
  CHECK(t->update(t->key("a"), 500, {&c, 1}));
  CHECK(t->update(t->key("d"), 1200, {&c, 1}));
  CHECK(t->used() == 3);
}

TEST_CASE("tracked entries are never purged, and a table full of them refuses") {
  auto d = definition(2, {{DataType::ConnCur}}, 100);
  auto t = table_of(d);
  auto a = t->track(t->key("a"), 0, {}), b = t->track(t->key("b"), 0, {});
  REQUIRE((a && b));
  CHECK_FALSE(t->track(t->key("c"), 5000, {}));
  CHECK(value(*t, "a", DataType::ConnCur, 5000) == 1); // held: it has not expired
  t->release(*a, 5000);
  CHECK(value(*t, "a", DataType::ConnCur, 5000) == 0);
  auto c = t->track(t->key("c"), 5001, {});
  CHECK(c);
  CHECK(value(*t, "a", DataType::ConnCur, 5001) == -1);
  EntryFacts facts;
  CHECK(t->look_up(t->key("b"), 5001, {}, &facts));
  CHECK(facts.refs == 1);
  CHECK(t->remove(t->key("b"), 5001) == StickTable::Removal::InUse);
}

TEST_CASE("entries expire when they are looked at and when they are swept") {
  auto d = definition(5000, {{DataType::Gpc0}}, 1000);
  auto t = table_of(d);
  for (int i = 0; i < 3000; i++) change(*t, std::to_string(i), DataType::Gpc0, ColumnOp::Set, 7, i < 1500 ? 0 : 600);
  CHECK(value(*t, "3", DataType::Gpc0, 999) == 7);
  CHECK(value(*t, "3", DataType::Gpc0, 1000) == -1);
  CHECK(change(*t, "3", DataType::Gpc0, ColumnOp::Add, 1, 1001) == 1); // a new one in its place
  while (!t->sweep(1100)) {
  }
  CHECK(t->used() == 1501);
  check_sound(*t, 1100);
  while (!t->sweep(5000)) {
  }
  CHECK(t->used() == 0);
}

TEST_CASE("rates are two-period counters whose period begins with the first event") {
  // Seen with the reference on the same clock: events at {ms, how many}, then the rate at ms. Period 2 s.
  struct Step { Tick at; u32 events; i64 rate; };
  std::vector<std::vector<Step>> runs = {
      {{0, 100, 100}, {1999, 0, 100}, {2001, 0, 99}, {2500, 0, 75}, {3000, 0, 50}, {3980, 0, 1}, {3981, 0, 0}, {4000, 0, 0}},
      {{0, 1, 1}, {2001, 0, 1}, {3999, 0, 1}, {4000, 0, 0}},           // one event does not flicker
      {{0, 2, 2}, {2000, 0, 2}, {2001, 0, 1}, {3000, 0, 1}, {3001, 0, 0}},
      {{0, 3, 3}, {2001, 0, 2}, {2667, 0, 1}, {3334, 0, 0}},
      {{0, 100, 100}, {3000, 100, 150}, {3500, 0, 125}, {4000, 0, 100}, {4200, 0, 90}, {5000, 0, 50}, {6000, 0, 0}},
      {{0, 1, 1}, {2500, 1, 1}, {5999, 0, 1}, {6000, 0, 0}},
      {{0, 10, 10}, {4700, 100, 100}, {6699, 0, 100}, {6705, 0, 99}},  // after silence a new period
  };
  for (auto &run : runs) {
    auto d = definition(10, {{DataType::HttpReqRate, 1, 2000}});
    auto t = table_of(d);
    for (Tick base : {Tick{777'123}}) {
      for (const Step &s : run) {
        if (s.events) change(*t, "k", DataType::HttpReqRate, ColumnOp::Add, s.events, base + s.at);
        CHECK_MESSAGE(value(*t, "k", DataType::HttpReqRate, base + s.at) == s.rate, "at ", s.at);
      }
    }
  }
}

TEST_CASE("a rate bears a clock that is a turn behind, and one that has turned over") {
  stick::RateCell cell;
  stick::rate_add(cell, 1000, 5, 100);
  stick::rate_add(cell, 998, 1, 100); // another worker's
  CHECK(stick::rate_read(cell, 999, 100) == 6);
  CHECK(stick::rate_read(cell, 1000 + 30u * 86'400'000, 100) == 0);
  cell = {};
  stick::rate_add(cell, 0xffffffff, 5, 100);
  CHECK(stick::rate_read(cell, 49, 100) == 5);
  CHECK(stick::rate_read(cell, 149, 100) == 2);
}

TEST_CASE("chains grow with the entries and keep all of them") {
  auto d = definition(200'000, {{DataType::Gpc0}});
  auto t = table_of(d);
  constexpr u32 n = 60'000;
  u32 made = 0, found = 0, removed = 0, right = 0;
  for (u32 i = 0; i < n; i++) {
    ColumnChange c{t->column(DataType::Gpc0), ColumnOp::Set, i};
    made += t->update(t->key(std::to_string(i)), 0, {&c, 1});
  }
  CHECK(made == n);
  CHECK(t->used() == n);
  for (u32 i = 0; i < n; i++) found += value(*t, std::to_string(i), DataType::Gpc0, 0) == i;
  CHECK(found == n);
  for (u32 i = 0; i < n; i += 2) removed += t->remove(t->key(std::to_string(i)), 0) == StickTable::Removal::Done;
  CHECK(removed == n / 2);
  for (u32 i = 0; i < n; i++) right += value(*t, std::to_string(i), DataType::Gpc0, 0) == (i % 2 ? i64{i} : -1);
  CHECK(right == n);
}

TEST_CASE("memory is taken as the table fills") {
  auto d = definition(1 << 20, {{DataType::HttpReqRate, 1, 10'000}});
  d.key = KeyType::Ipv4, d.key_length = 4;
  auto t = table_of(d);
  auto taken = [&] {
    struct stat st;
    REQUIRE(fstat(t->fd(), &st) == 0);
    return static_cast<u64>(st.st_blocks) * 512;
  };
  CHECK(taken() < 200'000);
  u32 made = 0;
  for (u32 i = 0; i < 100'000; i++) {
    char key[4];
    std::memcpy(key, &i, 4);
    made += t->update(t->key({key, 4}), 0, {});
  }
  CHECK(made == 100'000);
  MESSAGE("bytes per entry at 100,000: ", taken() / 100'000);
  CHECK(taken() / 100'000 < 80);
}

TEST_CASE("another configuration adds its columns to the same entries") {
  auto d = definition(100, {{DataType::Gpc0}, {DataType::ConnRate, 1, 3000}}, 60'000);
  auto old = table_of(d);
  change(*old, "a", DataType::Gpc0, ColumnOp::Set, 5, 0);
  std::string error;
  auto next = StickTable::attach(dup(old->fd()), error);
  REQUIRE_MESSAGE(next, error);
  auto more = definition(50, {{DataType::HttpReqRate, 1, 3000}, {DataType::Gpc, 3}, {DataType::ConnRate, 1, 5000}}, 5'000);
  CHECK(next->fits(more));
  REQUIRE(next->adopt(more));
  CHECK(old->size() == 100); // until it is committed
  next->apply_limits();
  CHECK(old->size() == 50);
  CHECK(value(*next, "a", DataType::Gpc0, 1) == 5); // the first of the array
  change(*next, "a", DataType::HttpReqRate, ColumnOp::Add, 9, 1);
  change(*next, "a", DataType::Gpc0, ColumnOp::Add, 1, 1);
  CHECK(value(*old, "a", DataType::Gpc0, 1) == 6);
  ColumnChange third{next->column(DataType::Gpc, 2), ColumnOp::Add, 3};
  CHECK(next->update(next->key("a"), 1, {&third, 1}));
  // An entry that the old generation makes anew has nothing left in columns that it does not know.
  CHECK(old->remove(old->key("a"), 2) == StickTable::Removal::Done);
  change(*old, "a", DataType::Gpc0, ColumnOp::Set, 1, 2);
  CHECK(value(*next, "a", DataType::HttpReqRate, 2) == 0);
  CHECK(value(*next, "a", DataType::Gpc0, 2) == 1);
}

TEST_CASE("a smaller size is reached by sweeping, and nobody is refused meanwhile") {
  auto d = definition(2000, {{DataType::Gpc0}});
  auto t = table_of(d);
  for (int i = 0; i < 2000; i++) change(*t, std::to_string(i), DataType::Gpc0, ColumnOp::Set, 1, 0);
  auto small = definition(100, {{DataType::Gpc0}});
  REQUIRE(t->adopt(small));
  t->apply_limits();
  change(*t, "new", DataType::Gpc0, ColumnOp::Set, 1, 1);
  while (!t->sweep(1)) {
  }
  CHECK(t->used() == 100);
  CHECK(value(*t, "new", DataType::Gpc0, 1) == 1);
  CHECK(value(*t, "1999", DataType::Gpc0, 1) == 1);
  CHECK(value(*t, "0", DataType::Gpc0, 1) == -1);
}

TEST_CASE("entries are copied into a table with other keys' lengths") {
  auto d = definition(100, {{DataType::Gpc0}, {DataType::ConnRate, 1, 3000}});
  auto from = table_of(d);
  change(*from, "a", DataType::Gpc0, ColumnOp::Set, 5, 0);
  auto e = definition(100, {{DataType::Gpc, 2}});
  e.key_length = 32;
  auto to = table_of(e);
  to->copy_from(*from);
  CHECK(value(*to, "a", DataType::Gpc0, 0) == 5);
  CHECK(to->used() == 1);
  check_sound(*to, 0);
}

TEST_CASE("what a worker tracked is given back when it is gone") {
  auto d = definition(100, {{DataType::ConnCur}, {DataType::Gpc0}});
  auto t = table_of(d);
  t->use_slot(3);
  for (const char *k : {"a", "a", "c"}) REQUIRE(t->track(t->key(k), 0, {}));
  t->use_slot(4);
  auto kept = t->track(t->key("a"), 0, {});
  CHECK(value(*t, "a", DataType::ConnCur, 0) == 3);
  t->fold_slot(3);
  EntryFacts facts;
  CHECK(t->look_up(t->key("a"), 0, {}, &facts));
  CHECK(facts.refs == 1);
  CHECK(value(*t, "a", DataType::ConnCur, 0) == 1);
  CHECK(value(*t, "c", DataType::ConnCur, 0) == 0);
  t->release(*kept, 0);
  CHECK(value(*t, "a", DataType::ConnCur, 0) == 0);
  CHECK(t->remove(t->key("a"), 0) == StickTable::Removal::Done);
  CHECK(t->remove(t->key("c"), 0) == StickTable::Removal::Done);
}

TEST_CASE("four processes lose no event") {
  auto d = definition(1000, {{DataType::Gpc0}, {DataType::Gpc0Rate, 1, 100'000}});
  auto t = table_of(d);
  constexpr int each = 20'000, processes = 4;
  pid_t pids[processes];
  for (int p = 0; p < processes; p++) {
    if ((pids[p] = fork()) != 0) continue;
    for (int i = 0; i < each; i++) {
      ColumnChange c[] = {{t->column(DataType::Gpc0), ColumnOp::Add, 1}, {t->column(DataType::Gpc0Rate), ColumnOp::Add, 1}};
      t->update(t->key(std::to_string(i % 500)), 1000, c);
    }
    _exit(0);
  }
  for (pid_t p : pids) waitpid(p, nullptr, 0);
  for (int k = 0; k < 500; k++) {
    CHECK(value(*t, std::to_string(k), DataType::Gpc0, 1000) == each * processes / 500);
    CHECK(value(*t, std::to_string(k), DataType::Gpc0Rate, 1000) == each * processes / 500);
  }
}

TEST_CASE("a table stays whole while its users are killed at any instruction") {
  auto d = definition(300, {{DataType::ConnCur}, {DataType::Gpc0}}, 40);
  auto t = table_of(d);
  struct Child { pid_t pid; u32 slot; };
  std::vector<Child> children;
  auto start = [&](u32 slot) {
    pid_t pid = fork();
    if (pid == 0) {
      t->use_slot(slot);
      std::mt19937 random(static_cast<u32>(getpid()));
      std::vector<TrackedEntry> held;
      for (;;) {
        auto key = t->key(std::to_string(random() % 1000));
        Tick now = monotonic_ms();
        switch (random() % 6) {
          case 0:
          case 1:
            if (auto e = t->track(key, now, {})) held.push_back(*e);
            break;
          case 2:
          case 3:
            if (held.size() > 20) {
              std::swap(held[random() % held.size()], held.back());
              t->release(held.back(), now);
              held.pop_back();
            }
            break;
          case 4: t->update(key, now, {}); break;
          case 5: t->remove(key, now); break;
        }
      }
    }
    children.push_back({pid, slot});
  };
  for (u32 s = 0; s < 3; s++) start(s);
  std::mt19937 random(7);
  for (int kill_count = 0; kill_count < 150; kill_count++) {
    usleep(1000 + random() % 4000);
    Child victim = children[random() % children.size()];
    kill(victim.pid, SIGKILL);
    waitpid(victim.pid, nullptr, 0);
    children.erase(std::find_if(children.begin(), children.end(), [&](auto &c) { return c.pid == victim.pid; }));
    t->fold_slot(victim.slot);
    t->sweep(monotonic_ms());
    start(victim.slot);
  }
  for (auto &c : children) kill(c.pid, SIGKILL), waitpid(c.pid, nullptr, 0), t->fold_slot(c.slot);
  std::vector<StickTable::Row> rows;
  for (u32 b = 0; b < t->blocks(); b++) t->copy_block(b, 0, rows);
  CHECK(rows.size() == t->used());
  CHECK(t->used() <= 300);
  for (auto &r : rows) {
    CHECK(r.facts.refs == 0);
    CHECK(r.values[0] == 0); // conn_cur
  }
  check_sound(*t, 0);
  Tick later = monotonic_ms() + 1000;
  while (!t->sweep(later)) {
  }
  CHECK(t->used() == 0);
}
