// SPDX-License-Identifier: BSD-2-Clause
// Sets of patterns, with values for maps: what ACLs and the map converters look things up in. A set is
// filled, then indexed once, then only read. The index follows the match method (design.md, section 6):
//
//   str, bin        open-addressed hash table            beg, end, dir, dom   sorted prefixes with links to
//   int             sorted disjoint ranges                                     the next shorter prefix
//   ip              sorted disjoint ranges per family    sub                   Aho-Corasick automaton
//   reg             one after the other
//
// A handful of patterns stays a plain array: that is faster than any index.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "shared/base/regex.h"
#include "shared/expr/match.h"

namespace penstock {

/// One line of a pattern file or one word of an ACL; text lies in the set's block.
struct PatternEntry {
  u32 key_at = 0, key_len = 0;
  u32 value_at = 0, value_len = 0; // of maps
};

class PatternSet : Pinned {
 public:
  PatternSet(MatchMethod method, bool ignore_case);
  ~PatternSet();

  /// Adds one pattern; false and `error` where it is malformed for the method.
  bool add(string_view key, string_view value, std::string &error);
  /// `gt 5`, `3:7`: an integer pattern with the operator that applies to it.
  bool add_int(string_view op, string_view text, bool dotted, std::string &error);
  /// Must be called once after the last add().
  void build_index();

  /// Index of the entry that matches, or -1. `s` has the method's input type (cast by the caller).
  i64 find(const Sample &s) const;
  bool matches(const Sample &s) const { return find(s) >= 0; }

  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  string_view key(size_t i) const { return {text_.data() + entries_[i].key_at, entries_[i].key_len}; }
  string_view value(size_t i) const { return {text_.data() + entries_[i].value_at, entries_[i].value_len}; }
  MatchMethod method() const { return method_; }
  bool ignore_case() const { return ignore_case_; }
  const Regex *regex(size_t i) const { return regexes_[i].get(); }

  std::string file; // where it was loaded from; empty: words of the configuration

 private:
  struct Index;
  i64 find_linear(string_view s) const;
  i64 find_text(string_view s) const;
  bool add_key(string_view key, string_view value);

  MatchMethod method_;
  bool ignore_case_;
  std::vector<char> text_;
  std::vector<PatternEntry> entries_;
  struct IntRange { i64 low, high; };
  std::vector<IntRange> ints_;       // parallel to entries_, for Int and Len
  std::vector<Network> networks_;    // likewise, for Ip
  std::vector<std::shared_ptr<const Regex>> regexes_; // likewise, for Reg
  std::unique_ptr<Index> index_;
};

/// Pattern files of a configuration: each is read and indexed once per method and case flag, and shared.
class PatternFiles {
 public:
  enum Kind : u8 { Patterns /* a pattern per line */, Map /* key and value */ };
  /// Null and `error` when the file cannot be read or a line is malformed. Names as in manual 2.7.
  std::shared_ptr<const PatternSet> load(string_view name, Kind kind, MatchMethod method, bool ignore_case, std::string &error);

 private:
  std::unordered_map<std::string, std::shared_ptr<const PatternSet>> loaded_;
};

} // namespace penstock
