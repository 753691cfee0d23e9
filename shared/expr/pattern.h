// SPDX-License-Identifier: BSD-2-Clause
// Patterns as ACLs and map converters see them: a PatternSet is one way of matching over one list
// (pattern_store.h); PatternFiles knows all lists of a configuration by name and number, reads files and
// is what the runtime socket works on. Look-ups take no lock and see changes at once:
//
//   str, bin    hash of all of the key         sub        prefix tree, from every byte of the text
//   beg, end    prefix tree, suffixes          dir, dom   prefix tree, from every part of the text
//   ip          prefix tree per family         reg        literals in a prefix tree, then expressions
//   int, len    prefix tree of number blocks
//
// A handful of patterns that nobody has changed since the start is compared one after the other.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "shared/base/diagnostics.h"
#include "shared/base/regex.h"
#include "shared/expr/pattern_store.h"

namespace penstock {

class PatternSet : Pinned {
 public:
  PatternSet(PatternList &list, MatchMethod method, bool ignore_case, bool dotted);
  ~PatternSet();

  /// Makes the index.
  bool prepare(PatternList::Ahead ahead, std::string &error);
  /// When all rows of the configuration are there: copies a handful of them.
  void copy_few();

  /// The row that matches, or null: the longest of prefixes and networks, of others the oldest.
  /// `s` has the method's input type (cast by the caller). The row lives for the turn of the event loop.
  const PatternRow *find(const Sample &s) const;
  bool matches(const Sample &s) const { return find(s) != nullptr; }

  string_view key(const PatternRow &row) const { return row.text(); }
  string_view value(const PatternRow &row) const { return list_.value(row); }
  MatchMethod method() const { return method_; }
  bool ignore_case() const { return ignore_case_; }
  bool dotted() const { return dotted_; }
  /// Of a row that matched with `reg`; null when it cannot be compiled.
  const Regex *regex(const PatternRow &row) const;
  PatternList &list() const { return list_; }
  /// Whether look-ups use an index, not a walk over a few: for `get map`.
  bool indexed() const { return few_.empty() || list_.changed(); }

 private:
  struct Few;
  struct Expressions;
  const PatternRow *find_few(const Sample &s) const;
  const PatternRow *find_text(string_view s) const;
  const PatternRow *find_number(i64 v) const;
  const PatternRow *find_address(const Ip &ip) const;
  const PatternRow *find_expression(string_view s) const;
  PatternTrie trie(u32 offset = 0) const { return {list_.store().heap(), list_.head().indexes()[index_ + offset]}; }

  PatternList &list_;
  MatchMethod method_;
  bool ignore_case_, dotted_;
  u32 index_ = 0;
  bool copied_ = false; // few_ are all rows
  std::vector<Few> few_;
  std::unique_ptr<Expressions> expressions_;
};

/// One list with its names and uses.
struct PatternReference {
  std::unique_ptr<PatternList> list;
  std::string name;    // of the file, without file@ and opt@; empty: the words of an ACL line
  std::string shown;   // as the configuration first wrote it
  std::string criterion; // of an ACL line
  Place place;
  u32 id = 0;
  bool id_forced = false, has_values = false, read = false, changed_by_rule = false;
  struct Use {
    bool map, acl; // an ACL with -M is both
    Place place;
  };
  std::vector<Use> uses;
  std::vector<std::unique_ptr<PatternSet>> sets;
  bool used_by(bool map) const;
};

class PatternFiles : Pinned {
 public:
  PatternFiles();
  ~PatternFiles();
  enum Kind : u8 { Patterns /* a pattern per line */, Map /* key and value */ };

  // ------------------------------------------------------------------ while the configuration is read
  /// Null and `error` when the file cannot be read or a line is malformed. Names as in manual 2.7.
  struct Wanted {
    Kind kind = Patterns;
    MatchMethod method = MatchMethod::Str;
    bool ignore_case = false, dotted = false;
    u8 values = 0;    // PatternList::Values
    bool acl = false; // an ACL asks, not a converter
    Place place = {};
  };
  const PatternSet *of_file(string_view name, const Wanted &wanted, std::string &error);
  /// The words of an ACL line; `id` as `-u` gave it. Followed by add_word() and copy_few().
  PatternSet *of_words(string_view criterion, MatchMethod method, bool ignore_case, bool dotted, std::optional<u32> id, Place place, std::string &error);
  bool add_word(PatternSet &set, string_view word, std::string &error);
  /// The list that a rule changes; its file is read when something looks up in it.
  PatternList *of_rule(string_view name, Place place, std::string &error);
  /// After all of the configuration: numbers are given.
  void finish(Diagnostics &diags);

  // ------------------------------------------------------------------ at run time
  /// "#3" or a name; null where there is none.
  PatternReference *find(string_view id, bool map) const;
  /// In the order of their numbers.
  const std::vector<PatternReference *> &by_number() const { return by_number_; }
  PatternStore &store() const { return *store_; }
  bool usable() const { return store_ != nullptr; }

 private:
  PatternReference *named(string_view name, std::string &error);
  PatternReference *make(u32 indexes, std::string &error);
  bool read(PatternReference &ref, const Wanted &wanted, PatternSet &set, bool optional, std::string &error);
  static bool content_of(const std::string &name, bool optional, std::string &content, std::string &error);

  std::unique_ptr<PatternStore> store_;
  std::string store_error_;
  std::vector<std::unique_ptr<PatternReference>> references_;
  std::unordered_map<std::string, PatternReference *> names_;
  std::vector<PatternReference *> by_number_;
};

} // namespace penstock
