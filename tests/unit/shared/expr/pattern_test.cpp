// SPDX-License-Identifier: BSD-2-Clause
// Lists of patterns in shared memory: every match method against a plain walk over the rows, while rows come,
// go and change version; writers and readers in several processes, of which some are killed.
#include "shared/expr/pattern.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>

#include "shared/base/text.h"

using namespace penstock;

namespace {

using Rng = std::mt19937_64;
size_t pick(Rng &rng, size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(rng); }

std::string some_text(Rng &rng, size_t most) {
  static constexpr string_view letters = "abAB./?:x1";
  std::string s;
  for (size_t n = pick(rng, most + 1); n > 0; n--) s += letters[pick(rng, letters.size())];
  return s;
}
std::string some_v4(Rng &rng) {
  return "10." + std::to_string(pick(rng, 3)) + "." + std::to_string(pick(rng, 4)) + "." + std::to_string(pick(rng, 256));
}
std::string some_v6(Rng &rng) { return "2001:db8:" + std::to_string(pick(rng, 3)) + "::" + std::to_string(pick(rng, 40)); }

std::string some_key(Rng &rng, MatchMethod m) {
  switch (m) {
    case MatchMethod::Int:
    case MatchMethod::Len: {
      i64 low = static_cast<i64>(pick(rng, 60)) - 20;
      if (m == MatchMethod::Len && low < 0) low = -low;
      std::string s = std::to_string(low);
      switch (pick(rng, 4)) {
        case 0: return s + ":" + std::to_string(low + static_cast<i64>(pick(rng, 20)));
        case 1: return pick(rng, 8) ? s : s + ":";
        case 2: return pick(rng, 8) ? s : ":" + s;
        default: return s;
      }
    }
    case MatchMethod::Ip:
      if (pick(rng, 3) == 0) return some_v6(rng) + (pick(rng, 2) ? "/" + std::to_string(30 + pick(rng, 99)) : "");
      return some_v4(rng) + (pick(rng, 2) ? "/" + std::to_string(7 + pick(rng, 26)) : "");
    case MatchMethod::Bin: {
      std::string s;
      for (size_t n = pick(rng, 4); n > 0; n--) s += pick(rng, 2) ? "61" : "4a";
      return s;
    }
    case MatchMethod::Reg: {
      static constexpr string_view pieces[] = {"a", "b", "ab", "[ab]", "(a|b)", "x+", "a?", "\\.", "1*", "^", "$", "B", "/x", "a{2}", "(?:x)", "\\d"};
      std::string s;
      for (size_t n = 1 + pick(rng, 4); n > 0; n--) s += pieces[pick(rng, std::size(pieces))];
      std::string error;
      return Regex::check(s, false, error) ? s : "a";
    }
    default: return some_text(rng, 7);
  }
}

Sample some_sample(Rng &rng, MatchMethod m, std::string &memory) {
  Sample s;
  if (m == MatchMethod::Int) s.set_int(static_cast<i64>(pick(rng, 90)) - 30);
  else if (m == MatchMethod::Ip) s.set_ip(*parse_ip(pick(rng, 3) == 0 ? some_v6(rng) : pick(rng, 6) == 0 ? "::ffff:" + some_v4(rng) : some_v4(rng)));
  else {
    memory = m == MatchMethod::Bin ? std::string(pick(rng, 3), 'a') + (pick(rng, 2) ? "J" : "") : some_text(rng, m == MatchMethod::Len ? 40 : 12);
    s.set_str(memory);
  }
  return s;
}

/// One row as the naive side keeps it.
struct Plain {
  std::string key, value;
  u32 version;
  u64 number;
};

/// Whether one pattern alone matches: sets of one, which are compared directly.
struct Alone {
  PatternFiles files;
  std::unordered_map<std::string, PatternSet *> sets;
  bool matches(MatchMethod m, bool fold, const std::string &key, const Sample &s) {
    PatternSet *&set = sets[key];
    if (!set) {
      std::string error;
      set = files.of_words("test", m, fold, false, std::nullopt, {}, error);
      REQUIRE(set);
      REQUIRE(files.add_word(*set, key, error));
      set->copy_few();
    }
    return set->matches(s);
  }
};

size_t specificity(MatchMethod m, const std::string &key) {
  if (m == MatchMethod::Beg) return key.size();
  if (m == MatchMethod::Ip) return parse_pattern_network(key)->bits;
  return 0;
}

struct ListFixture {
  PatternFiles files;
  PatternSet *set;
  std::string error;
  ListFixture(MatchMethod m, bool fold) {
    PatternFiles::Wanted wanted{.kind = PatternFiles::Map, .method = m, .ignore_case = fold};
    set = const_cast<PatternSet *>(files.of_file("virt@test", wanted, error));
    REQUIRE(set);
    files.store().heap().claim_reader(0);
  }
  PatternList &list() { return set->list(); }
};

constexpr MatchMethod methods[] = {MatchMethod::Str, MatchMethod::Beg, MatchMethod::End, MatchMethod::Sub, MatchMethod::Dir, MatchMethod::Dom,
                                   MatchMethod::Reg, MatchMethod::Bin, MatchMethod::Int, MatchMethod::Len, MatchMethod::Ip};

void compare(MatchMethod m, bool fold, u64 seed, int steps) {
  Rng rng(seed);
  ListFixture f(m, fold);
  Alone alone;
  std::vector<Plain> plain;
  u64 number = 0;
  for (int step = 0; step < steps; step++) {
    size_t what = pick(rng, 100);
    u32 current = f.list().current();
    std::string key = some_key(rng, m), value = some_text(rng, 5), error;
    auto of_key = [&](const Plain &p) { return p.key == key && p.version == current; };
    bool there = std::any_of(plain.begin(), plain.end(), of_key);
    if (what < 40) {
      REQUIRE(f.list().add(key, value, current, error) == PatternChange::Done);
      plain.push_back({key, value, current, number++});
    } else if (what < 55) {
      REQUIRE(f.list().put(key, value, error) == PatternChange::Done);
      if (!there) plain.push_back({key, value, current, number++});
      for (Plain &p : plain)
        if (of_key(p)) p.value = value;
    } else if (what < 75 && !plain.empty()) {
      if (pick(rng, 2)) key = plain[pick(rng, plain.size())].key;
      there = std::any_of(plain.begin(), plain.end(), of_key);
      REQUIRE(f.list().remove(key) == (there ? PatternChange::Done : PatternChange::NotFound));
      std::erase_if(plain, of_key);
    } else if (what == 75) {
      u32 next = f.list().prepare();
      for (int i = 0; i < 10; i++) {
        key = some_key(rng, m);
        REQUIRE(f.list().add(key, value, next, error) == PatternChange::Done);
        plain.push_back({key, value, next, number++});
      }
    } else if (what == 76 && f.list().newest() != current) {
      REQUIRE(f.list().commit(f.list().newest()));
      if (pick(rng, 2)) {
        PatternPurge purge(f.list(), std::nullopt);
        while (!purge.step(3)) {
        }
        std::erase_if(plain, [&](const Plain &p) { return p.version != f.list().current(); });
      }
    }
    current = f.list().current();
    for (int q = 0; q < 3; q++) {
      std::string memory;
      Sample s = some_sample(rng, m, memory);
      const Plain *best = nullptr;
      bool longest = m == MatchMethod::Ip || (m == MatchMethod::Beg && !fold);
      bool own_family = false;
      for (const Plain &p : plain) {
        if (p.version != current || !alone.matches(m, fold, p.key, s)) continue;
        bool own = m == MatchMethod::Ip && parse_pattern_network(p.key)->ip.is_v4() == s.ip.is_v4();
        bool better = !best || (longest && specificity(m, p.key) > specificity(m, best->key));
        if (m == MatchMethod::Ip && best && own != own_family) better = own;
        if (better) best = &p, own_family = own;
      }
      const PatternRow *row = f.set->find(s);
      INFO(match_method_name(m), " fold ", fold, " seed ", seed, " step ", step, " text '", memory, "' found '", row ? row->text() : "nothing", "' expected '",
           best ? best->key : "nothing", "'");
      REQUIRE((row != nullptr) == (best != nullptr));
      if (row) {
        REQUIRE(row->text() == best->key);
        REQUIRE(f.set->value(*row) == best->value);
      }
    }
  }
  REQUIRE(f.list().count() >= plain.size());
}

} // namespace

TEST_CASE("every match method finds what a walk over all rows finds, while rows change") {
  for (MatchMethod m : methods)
    for (bool fold : {false, true})
      for (u64 seed = 1; seed <= 2; seed++) compare(m, fold, seed, 250);
}

TEST_CASE("a literal is taken only where every match must contain it") {
  CHECK(certain_literal("^/api/v1") == "/api/v1");
  CHECK(certain_literal("www\\.example\\.com") == "example");
  CHECK(certain_literal("ab+c") == "ab");
  CHECK(certain_literal("abcd?ef") == "abc");
  CHECK(certain_literal("abc{0,3}de") == "ab");
  CHECK(certain_literal("foo|bar") == "");
  CHECK(certain_literal("(foo|bar)quux") == "quux");
  CHECK(certain_literal("(?i)foo") == "");
  CHECK(certain_literal("[a|b]xyz[[:alpha:]|]") == "xyz");
  CHECK(certain_literal("\\x41bc") == "");
  CHECK(certain_literal("\\Qa.b\\E") == "");
  CHECK(certain_literal("a{b|c}") == "");
  CHECK(certain_literal(".*") == "");
}

TEST_CASE("networks in their usual form are read as any other") {
  for (const char *good : {"10.0.0.0/8", "192.0.2.255", "0.0.0.0/0", "1.2.3.4/32"}) {
    auto a = parse_pattern_network(good), b = parse_network(good);
    REQUIRE(a);
    CHECK(a->bits == b->bits);
    CHECK(a->contains(b->ip));
  }
  for (const char *bad : {"10.0.0.256", "1.2.3.4/33", "1.2.3.4/", "1.2.3.4.5", "1..2.3", "1.2.3.", "1234.1.1.1", "10.0.0.0/x", ""}) CHECK_FALSE(parse_pattern_network(bad));
  CHECK(parse_pattern_network("10.1")->contains(*parse_ip("10.0.0.1")));
}

TEST_CASE("a set of more expressions than are kept compiled finds the first that matches") {
  PatternFiles files;
  std::string error;
  const PatternSet *set = files.of_file("virt@many", {.kind = PatternFiles::Map, .method = MatchMethod::Reg}, error);
  REQUIRE(set);
  files.store().heap().claim_reader(0);
  for (int i = 0; i < 300; i++) REQUIRE(set->list().add("^/n" + std::to_string(i) + "x[0-9]+$", std::to_string(i), 0, error) == PatternChange::Done);
  REQUIRE(set->list().add("^[a-z]+$", "letters", 0, error) == PatternChange::Done);
  Sample s;
  for (auto [text, value] : {std::pair<string_view, string_view>{"/n7x12", "7"}, {"/n299x1", "299"}, {"abc", "letters"}, {"/n7x", ""}}) {
    s.set_str(text);
    const PatternRow *row = set->find(s);
    CHECK((row ? set->value(*row) : string_view()) == value);
  }
}

TEST_CASE("operators on numbers become ranges") {
  std::string out, error;
  CHECK(range_of_operator("gt", "5", false, out, error));
  CHECK(out == "6:");
  CHECK(range_of_operator("lt", "9", false, out, error));
  CHECK(out == ":8");
  CHECK(range_of_operator("le", "3.1", true, out, error));
  CHECK(out == ":3.1");
  CHECK(range_of_operator("gt", "3.1", true, out, error));
  CHECK(out == "3.2:");
  CHECK_FALSE(range_of_operator("eq", "x", false, out, error));
}

TEST_CASE("memory of deleted rows and old values is used again") {
  ListFixture f(MatchMethod::Beg, false);
  std::string error;
  ReaderCell &reader = f.files.store().heap().claim_reader(1);
  auto turn = [&] { reader.turn.store((reader.turn | 1) + 1), reader.turn.store(reader.turn | 1); };
  auto churn = [&](int rounds) {
    for (int r = 0; r < rounds; r++) {
      turn();
      for (int i = 0; i < 50; i++) REQUIRE(f.list().put("key" + std::to_string(i), std::string(static_cast<size_t>(20 + r % 30), 'v'), error) == PatternChange::Done);
      turn();
      for (int i = 0; i < 50; i++) REQUIRE(f.list().remove("key" + std::to_string(i)) == PatternChange::Done);
    }
  };
  churn(200);
  u64 used = f.files.store().heap().used_bytes();
  churn(1000);
  CHECK(f.files.store().heap().used_bytes() <= used + 16384);
  CHECK(f.list().count() == 0);
}

TEST_CASE("what a reader may still look at is not used again before its turn ends") {
  ListFixture f(MatchMethod::Str, false);
  std::string error;
  REQUIRE(f.list().put("k", "first", error) == PatternChange::Done);
  ReaderCell &reader = f.files.store().heap().claim_reader(1);
  reader.turn.store(reader.turn | 1);
  Sample s;
  s.set_str("k");
  const PatternRow *row = f.set->find(s);
  REQUIRE(row);
  string_view value = f.set->value(*row);
  for (int i = 0; i < 5000; i++) REQUIRE(f.list().put("k", "v" + std::to_string(i % 10), error) == PatternChange::Done);
  REQUIRE(f.list().remove("k") == PatternChange::Done);
  for (int i = 0; i < 5000; i++) REQUIRE(f.list().put("other" + std::to_string(i % 7), "w" + std::to_string(i), error) == PatternChange::Done);
  CHECK(value == "first");
  CHECK(row->text() == "k");
}

TEST_CASE("a full store refuses rows and stays readable") {
  ListFixture f(MatchMethod::Beg, false);
  std::string error, big(100'000, 'x');
  f.files.store().heap().set_limit(f.files.store().heap().used_bytes() + (2 << 20));
  u32 rows = 0;
  for (; rows < 1000; rows++)
    if (f.list().add("key" + std::to_string(rows), big, 0, error) != PatternChange::Done) break;
  CHECK(rows > 5);
  CHECK(rows < 100);
  CHECK(error.find("full") != std::string::npos);
  CHECK(f.list().count() == rows);
  Sample s;
  s.set_str("key0");
  CHECK(f.set->matches(s));
  s.set_str("key" + std::to_string(rows));
  const PatternRow *row = f.set->find(s);
  CHECK((!row || row->text() != s.str));
}

TEST_CASE("rows that come, go and change under readers are never torn, whoever is killed in between") {
  PatternFiles files;
  std::string error;
  std::vector<const PatternSet *> sets;
  for (MatchMethod m : {MatchMethod::Str, MatchMethod::Beg, MatchMethod::Sub, MatchMethod::Dom}) {
    sets.push_back(files.of_file("virt@test", {.kind = PatternFiles::Map, .method = m}, error));
    REQUIRE(sets.back());
  }
  PatternList &list = sets[0]->list();
  REQUIRE(list.put("fixed.key", "fixed", error) == PatternChange::Done);
  auto *bad = static_cast<std::atomic<u32> *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  REQUIRE(bad != MAP_FAILED);
  constexpr u32 processes = 3;
  auto work = [&](u32 number, bool writes) {
    ReaderCell &cell = files.store().heap().claim_reader(number);
    Rng rng(number * 977 + static_cast<u64>(getpid()));
    for (;;) {
      cell.turn.store(cell.turn | 1);
      for (int i = 0; i < 20; i++) {
        std::string key = "k" + std::to_string(pick(rng, 40)) + (pick(rng, 2) ? ".x" : ""), why;
        if (writes) {
          std::string value(1 + pick(rng, 60), static_cast<char>('a' + pick(rng, 26))); // a value is one letter again and again
          switch (pick(rng, 4)) {
            case 0: list.remove(key); break;
            case 1: list.add(key, value, list.current(), why); break;
            default: list.put(key, value, why); break;
          }
        }
        Sample s;
        s.set_str(key);
        for (const PatternSet *set : sets) {
          const PatternRow *row = set->find(s);
          if (!row) continue;
          string_view v = set->value(*row);
          bool torn = v.empty() || v.find_first_not_of(v[0]) != string_view::npos || (row->text() != "fixed.key" && row->text()[0] != 'k');
          if (torn) bad[0]++;
        }
        s.set_str("fixed.key");
        for (const PatternSet *set : sets)
          if (!set->matches(s)) bad[1]++;
      }
      cell.turn.store((cell.turn | 1) + 1);
      bad[2]++;
    }
  };
  auto start = [&](u32 number) {
    pid_t pid = fork();
    if (pid == 0) work(number, number != 0);
    return pid;
  };
  pid_t children[processes];
  for (u32 i = 0; i < processes; i++) children[i] = start(i);
  Rng rng(5);
  for (int kills = 0; kills < 120; kills++) {
    u32 victim = static_cast<u32>(pick(rng, processes)), before = bad[2];
    while (bad[2] < before + 5) sched_yield(); // somebody always gets on: no lock stays held
    usleep(static_cast<useconds_t>(pick(rng, 3000)));
    kill(children[victim], SIGKILL);
    waitpid(children[victim], nullptr, 0);
    files.store().upkeep();
    children[victim] = start(victim);
  }
  for (pid_t c : children) kill(c, SIGKILL), waitpid(c, nullptr, 0);
  CHECK(bad[0] == 0);
  CHECK(bad[1] == 0);
  // All that is left can be found and deleted through every index.
  u32 rows = 0;
  {
    PatternCursor cursor(list);
    REQUIRE(cursor.valid());
    auto look = [&](u32 address, const PatternRow &row) {
      rows++;
      CHECK(list.is_row(address));
      CHECK(list.value(row).size() > 0);
    };
    while (cursor.next(list.current(), 10, look)) {
    }
  }
  CHECK(rows == list.count());
  PatternPurge purge(list, list.current());
  while (!purge.step(100)) {
  }
  CHECK(list.count() == 0);
  for (const PatternSet *set : sets) {
    PatternTrie trie(files.store().heap(), list.head().indexes()[0]);
    Sample s;
    for (int i = 0; i < 40; i++)
      for (const char *end : {"", ".x"}) {
        std::string key = "k" + std::to_string(i) + end;
        s.set_str(key);
        CHECK_FALSE(set->matches(s));
      }
  }
  munmap(bad, 4096);
}

TEST_CASE("a reader of a list keeps its place while rows around it go") {
  ListFixture f(MatchMethod::Str, false);
  std::string error, seen;
  for (int i = 0; i < 10; i++) REQUIRE(f.list().add(std::to_string(i), "v", 0, error) == PatternChange::Done);
  PatternCursor cursor(f.list());
  auto read = [&](u32 n) { return cursor.next(0, n, [&](u32, const PatternRow &row) { seen += row.text(); }); };
  CHECK(read(3));
  for (const char *key : {"0", "3", "4", "9"}) REQUIRE(f.list().remove(key) == PatternChange::Done);
  REQUIRE(f.list().add("a", "v", 0, error) == PatternChange::Done);
  CHECK_FALSE(read(100));
  CHECK(seen == "0125678a");
}

TEST_CASE("lines of files") {
  std::string path = "/tmp/penstock_pattern_test." + std::to_string(getpid());
  auto file = [&](string_view content) { std::ofstream(path, std::ios::binary) << content; };
  auto rows = [&](PatternFiles::Kind kind) {
    PatternFiles files;
    std::string error, all;
    const PatternSet *set = files.of_file(path, {.kind = kind, .method = MatchMethod::Str}, error);
    if (!set) return "<" + error.substr(error.find(": ") + 2) + ">";
    PatternCursor cursor(set->list());
    cursor.next(0, 1000, [&](u32, const PatternRow &row) {
      all += "[" + std::string(row.text());
      if (kind == PatternFiles::Map) (all += "|") += set->value(row);
      all += "]";
    });
    return all;
  };
  file("# note\n  lead\n\n #sharp\ntail  \nwith space\r\nlast");
  CHECK(rows(PatternFiles::Patterns) == "[lead][#sharp][tail  ][with space][last]");
  file("k1 v1\n  k2\t  v2 with  spaces \t\r\n#k3 v\nk4\n\r\n\t\nk5 v5");
  CHECK(rows(PatternFiles::Map) == "[k1|v1][k2|v2 with  spaces][k4|][k5|v5]");
  file(std::string("a\0b v\0w\n\xff\xfe x\n", 13));
  CHECK(rows(PatternFiles::Map) == std::string("[a\0b|v\0w][\xff\xfe|x]", 15));
  file(std::string(3'000'000, 'k') + " " + std::string(2'000'000, 'v') + "\n");
  CHECK(rows(PatternFiles::Map).size() == 5'000'003);
  file("");
  CHECK(rows(PatternFiles::Map) == "");
  unlink(path.c_str());
}

TEST_CASE("lists are known by name: prefixes, mixed uses, values of a type") {
  PatternFiles files;
  std::string error;
  PatternFiles::Wanted map{.kind = PatternFiles::Map, .method = MatchMethod::Str}, numbers = map, plain;
  numbers.values = PatternList::numbers;
  const PatternSet *a = files.of_file("opt@/nowhere/x", map, error);
  REQUIRE(a);
  CHECK(files.of_file("/nowhere/x", map, error) == a);
  CHECK(files.of_file("file@/nowhere/x", map, error) == a);
  CHECK_FALSE(files.of_file("/nowhere/y", map, error));
  CHECK_FALSE(files.of_file("/nowhere/x", plain, error));
  CHECK(error.find("already used as a map") != std::string::npos);
  REQUIRE(files.of_file("virt@n", numbers, error));
  PatternList &list = files.of_file("virt@n", map, error)->list();
  CHECK(list.put("k", "x", error) == PatternChange::Malformed);
  CHECK(list.put("k", "12", error) == PatternChange::Done);
  CHECK(list.set("k", "y", error) == PatternChange::Malformed);
}
