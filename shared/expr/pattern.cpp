// SPDX-License-Identifier: BSD-2-Clause
// Looking up. What reads files is in pattern_files.cpp.
#include "shared/expr/pattern.h"

#include <cstring>

#include "shared/base/text.h"

namespace penstock {

namespace {

/// Up to here a plain array is searched from front to back.
constexpr size_t few = 8;
/// Compiled expressions that a process keeps of a set, besides those that are tried in every search.
constexpr size_t most_expressions = 16384;

} // namespace

struct PatternSet::Few {
  const PatternRow *row;
  i64 low = 0, high = 0;
  Network network;
  std::string bytes; // of Bin
  string_view key;   // of Dir and Dom without delimiters at its ends
  std::shared_ptr<const Regex> regex;
};

/// The expressions of this process, each compiled when it is first tried.
struct PatternSet::Expressions {
  struct Entry {
    u64 order = 0; // of the row: another one may come to lie at the same address
    u64 tried = 0; // in which search
    std::shared_ptr<const Regex> regex;
    bool always = false; // without a literal that could tell that it need not be tried
  };
  std::unordered_map<const PatternRow *, Entry> entries;
  size_t passing = 0; // entries that are not `always`
  u64 searches = 0;

  Entry &of(const PatternRow &row, bool ignore_case) {
    auto it = entries.find(&row);
    if (it != entries.end() && it->second.order == row.order) return it->second;
    if (it == entries.end() && passing >= most_expressions) {
      std::erase_if(entries, [](const auto &e) { return !e.second.always; });
      passing = 0;
    }
    Entry &e = entries[&row];
    std::string error;
    e = {row.order, 0, Regex::compile(row.text(), ignore_case, error), certain_literal(row.text()).empty()};
    passing += !e.always;
    return e;
  }
};

PatternSet::PatternSet(PatternList &list, MatchMethod method, bool ignore_case, bool dotted)
    : list_(list), method_(method), ignore_case_(ignore_case), dotted_(dotted) {
  if (method == MatchMethod::Reg) expressions_ = std::make_unique<Expressions>();
}
PatternSet::~PatternSet() = default;

bool PatternSet::prepare(PatternList::Ahead ahead, std::string &error) {
  return list_.use(method_, ignore_case_, dotted_, ahead, index_, error);
}

void PatternSet::copy_few() {
  few_.clear();
  copied_ = list_.count() <= few;
  const PatternHead &h = list_.head();
  if (method_ == MatchMethod::Reg && list_.count() <= most_expressions)
    for (u32 at = h.oldest; at != 0; at = list_.row(at).newer) expressions_->of(list_.row(at), ignore_case_);
  if (!copied_) return;
  for (u32 at = h.oldest; at != 0; at = list_.row(at).newer) {
    const PatternRow &row = list_.row(at);
    Few &f = few_.emplace_back();
    f.row = &row;
    f.key = row.text();
    switch (method_) {
      case MatchMethod::Int:
      case MatchMethod::Len: parse_range(f.key, dotted_, f.low, f.high); break;
      case MatchMethod::Ip: f.network = parse_pattern_network(f.key).value_or(Network{}); break;
      case MatchMethod::Bin: hex_to_bytes(f.key, f.bytes); break;
      case MatchMethod::Reg: f.regex = expressions_->of(row, ignore_case_).regex; break;
      case MatchMethod::Dir:
      case MatchMethod::Dom:
        while (!f.key.empty() && is_delimiter(method_, f.key.front())) f.key.remove_prefix(1);
        while (!f.key.empty() && is_delimiter(method_, f.key.back())) f.key.remove_suffix(1);
        break;
      default: break;
    }
  }
  for (Few &f : few_)
    if (method_ == MatchMethod::Bin) f.key = f.bytes;
}

const Regex *PatternSet::regex(const PatternRow &row) const { return expressions_ ? expressions_->of(row, ignore_case_).regex.get() : nullptr; }

// ------------------------------------------------------------------------------------- one by one

namespace {

/// Calls `at` with every place where a component (between delimiters) starts, until it says true.
template <class F> bool each_component(MatchMethod m, string_view s, F at) {
  for (size_t i = 0; i < s.size(); i++)
    if ((i == 0 || is_delimiter(m, s[i - 1])) && at(i)) return true;
  return false;
}

bool starts_with(string_view s, string_view p, bool fold) { return fold ? istarts_with(s, p) : s.starts_with(p); }

bool contains(string_view s, string_view p, bool fold) {
  if (p.empty()) return true;
  if (!fold) return s.size() >= p.size() && memmem(s.data(), s.size(), p.data(), p.size()) != nullptr;
  for (size_t i = 0; i + p.size() <= s.size(); i++)
    if (iequals(s.substr(i, p.size()), p)) return true;
  return false;
}

bool word_matches(MatchMethod m, string_view s, string_view key, bool fold) {
  if (key.empty()) return false;
  return each_component(m, s, [&](size_t i) {
    string_view rest = s.substr(i);
    return starts_with(rest, key, fold) && (rest.size() == key.size() || is_delimiter(m, rest[key.size()]));
  });
}

bool text_matches(MatchMethod m, string_view s, string_view key, bool fold) {
  switch (m) {
    case MatchMethod::Bin: return s == key;
    case MatchMethod::Str: return fold ? iequals(s, key) : s == key;
    case MatchMethod::Beg: return starts_with(s, key, fold);
    case MatchMethod::End: return s.size() >= key.size() && (fold ? iequals(s.substr(s.size() - key.size()), key) : s.ends_with(key));
    case MatchMethod::Sub: return contains(s, key, fold);
    default: return word_matches(m, s, key, fold);
  }
}

} // namespace

const PatternRow *PatternSet::find_few(const Sample &s) const {
  switch (method_) {
    case MatchMethod::Int:
    case MatchMethod::Len: {
      i64 v = method_ == MatchMethod::Len ? static_cast<i64>(s.str.size()) : s.num;
      for (const Few &f : few_)
        if (v >= f.low && v <= f.high) return f.row;
      return nullptr;
    }
    case MatchMethod::Reg:
      for (const Few &f : few_)
        if (f.regex && f.regex->matches(s.str)) return f.row;
      return nullptr;
    case MatchMethod::Ip: return few_.empty() ? nullptr : find_address(s.ip);
    case MatchMethod::Beg: {
      if (ignore_case_) break;
      const Few *best = nullptr;
      for (const Few &f : few_)
        if (s.str.starts_with(f.key) && (!best || f.key.size() > best->key.size())) best = &f;
      return best ? best->row : nullptr;
    }
    default: break;
  }
  for (const Few &f : few_)
    if (text_matches(method_, s.str, f.key, ignore_case_)) return f.row;
  return nullptr;
}

// ------------------------------------------------------------------------------------- by index

namespace {

/// The oldest row of those that are offered, in one version.
struct Oldest {
  u32 version;
  const PatternRow *row = nullptr;
  void offer(const PatternTrie &trie, u32 ring) {
    trie.each_row(ring, [&](const PatternRow &r) {
      if (row && r.order >= row->order) return true; // the ring goes on with younger ones
      if (r.version.load(std::memory_order_relaxed) != version) return false;
      row = &r;
      return true;
    });
  }
};

/// The last of the rows that are offered.
struct Longest {
  u32 version;
  const PatternRow *row = nullptr;
  bool offer(const PatternTrie &trie, u32 ring) {
    trie.each_row(ring, [&](const PatternRow &r) {
      if (r.version.load(std::memory_order_relaxed) != version) return false;
      row = &r;
      return true;
    });
    return false;
  }
};

const PatternRow *longest_prefix(const PatternTrie &trie, const BitKey &k, u32 version) {
  Longest best{version};
  auto visit = [&](u32 ring, u32) { return best.offer(trie, ring); };
  if (trie.reaches_table(k)) trie.walk(trie.hashed_root(k), k, visit);
  if (!best.row) trie.walk(trie.short_root(), k, visit);
  return best.row;
}

} // namespace

const PatternRow *PatternSet::find_text(string_view s) const {
  const PatternTrie t = trie();
  const u32 version = list_.current();
  Oldest best{version};
  auto offer = [&](u32 ring, u32) { return best.offer(t, ring), false; };
  const bool fold = ignore_case_;
  switch (method_) {
    case MatchMethod::Str:
    case MatchMethod::Bin: {
      BitKey k = forward_key(s, fold && method_ == MatchMethod::Str);
      t.walk(t.hashed_root(k), k, [&](u32 ring, u32 bits) {
        if (bits == k.bits) best.offer(t, ring);
        return false;
      });
      break;
    }
    case MatchMethod::Beg:
      if (!fold) return longest_prefix(t, forward_key(s, false), version);
      t.walk_all(forward_key(s, true), offer);
      break;
    case MatchMethod::End: t.walk_all(backward_key(s, fold), offer); break;
    case MatchMethod::Sub:
      t.walk_all(forward_key(s, fold), offer);
      for (size_t i = 1; i < s.size(); i++) t.walk_all(forward_key(s.substr(i), fold), offer);
      break;
    default: // Dir, Dom
      each_component(method_, s, [&](size_t i) {
        string_view rest = s.substr(i);
        t.walk_all(forward_key(rest, fold), [&](u32 ring, u32 bits) {
          size_t n = bits / 8;
          if (n > 0 && (n == rest.size() || is_delimiter(method_, rest[n]))) best.offer(t, ring);
          return false;
        });
        return false;
      });
  }
  return best.row;
}

const PatternRow *PatternSet::find_number(i64 v) const {
  u8 bytes[8];
  store_big_endian(bytes, biased(v));
  const PatternTrie t = trie();
  Oldest best{list_.current()};
  t.walk_all(BitKey{bytes, 1, byte_maps.map[0], 64}, [&](u32 ring, u32) { return best.offer(t, ring), false; });
  return best.row;
}

/// The own family first; a v4 address is looked for as ::ffff: too, and the one inside such a v6 address.
const PatternRow *PatternSet::find_address(const Ip &ip) const {
  const u32 version = list_.current();
  auto in_v4 = [&](const Ip &a) { return longest_prefix(trie(0), BitKey{a.bytes.data(), 1, byte_maps.map[0], 32}, version); };
  auto in_v6 = [&](const Ip &a) { return longest_prefix(trie(1), BitKey{a.bytes.data(), 1, byte_maps.map[0], 128}, version); };
  if (ip.is_v4()) {
    const PatternRow *row = in_v4(ip);
    return row ? row : in_v6(ip.to_v6());
  }
  if (!ip.is_v6()) return nullptr;
  if (const PatternRow *row = in_v6(ip)) return row;
  auto inner = ip.to_v4();
  return inner ? in_v4(*inner) : nullptr;
}

/// Every match contains the literal of its expression, or the expression has none: those are tried always.
const PatternRow *PatternSet::find_expression(string_view s) const {
  const PatternTrie t = trie();
  const u32 version = list_.current();
  const u64 search = ++expressions_->searches;
  const PatternRow *best = nullptr;
  auto try_rows = [&](u32 ring) {
    t.each_row(ring, [&](const PatternRow &r) {
      if (best && r.order >= best->order) return true;
      if (r.version.load(std::memory_order_relaxed) != version) return false;
      Expressions::Entry &e = expressions_->of(r, ignore_case_);
      if (e.tried == search) return false;
      e.tried = search;
      if (e.regex && e.regex->matches(s)) best = &r;
      return false;
    });
  };
  t.walk(t.short_root(), BitKey{nullptr, 1, byte_maps.map[0], 0}, [&](u32 ring, u32) { return try_rows(ring), true; });
  for (size_t i = 0; i < s.size(); i++)
    t.walk_all(forward_key(s.substr(i), ignore_case_), [&](u32 ring, u32 bits) {
      if (bits > 0) try_rows(ring);
      return false;
    });
  return best;
}

const PatternRow *PatternSet::find(const Sample &s) const {
  if (copied_ && !list_.changed()) return find_few(s);
  if (list_.count() == 0) return nullptr;
  switch (method_) {
    case MatchMethod::Found:
    case MatchMethod::Bool: return nullptr; // they have no patterns
    case MatchMethod::Int: return find_number(s.num);
    case MatchMethod::Len: return find_number(static_cast<i64>(s.str.size()));
    case MatchMethod::Ip: return find_address(s.ip);
    case MatchMethod::Reg: return find_expression(s.str);
    default: return find_text(s.str);
  }
}

} // namespace penstock
