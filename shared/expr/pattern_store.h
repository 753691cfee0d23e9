// SPDX-License-Identifier: BSD-2-Clause
// The patterns of a configuration in shared memory: every list of them (a file, `virt@`, the words of an
// ACL line) with its rows and indexes. The master fills the store while it reads the configuration; after
// the fork workers and the control process change it, and a change is there for all of them when the call
// returns, also for processes forked later. A reload makes a new store; the old one goes with the last
// process that uses it. Memory: 40 bytes and the key per row, 4 and the value, about 6 in the exact index,
// 32 to 40 in each further index.
#pragma once

#include <memory>
#include <string>

#include "shared/expr/pattern_keys.h"
#include "shared/expr/pattern_trie.h"

namespace penstock {

enum class PatternChange : u8 { Done, NotFound, Malformed, Full };

class PatternStore;

/// One list of patterns: a handle, in every process the same.
class PatternList : Pinned {
 public:
  PatternList(PatternStore &store, u32 head) : store_(store), head_(head) {}

  // ------------------------------------------------------------------ master, before the fork
  /// The index for a way of matching (of addresses the first of two), made when it is not there yet: false and `error`
  /// when a row is malformed for it or memory is out. `ahead`: how many rows are about to come, and with IPv6 addresses.
  struct Ahead {
    size_t rows = 0, v6 = 0;
  };
  bool use(MatchMethod method, bool ignore_case, bool dotted, Ahead ahead, u32 &index, std::string &error);
  /// What values must be: bits of `values`.
  enum Values : u8 { any_text = 0, numbers = 1, addresses = 2 };
  bool demand(u8 values, std::string &error);
  void expect_rows(size_t n); // sizes the exact index; before the first row
  /// All that add() does but the lock.
  PatternChange load(string_view key, string_view value, std::string &error);

  // ------------------------------------------------------------------ at any time, by anyone
  /// Adds a row of a version, whether or not there is one of that key.
  PatternChange add(string_view key, string_view value, u32 version, std::string &error);
  /// Gives every row of the key in the current version another value.
  PatternChange set(string_view key, string_view value, std::string &error);
  PatternChange set_row(u32 row, string_view value, std::string &error);
  /// set(), or add() where there is none: the action set-map.
  PatternChange put(string_view key, string_view value, std::string &error);
  /// add() where there is none: the action add-acl.
  PatternChange add_once(string_view key, std::string &error);
  /// Deletes every row of the key in the current version.
  PatternChange remove(string_view key);
  PatternChange remove_row(u32 row);
  /// Whether an address that came from outside is that of a row.
  bool is_row(u64 row) const;

  /// Another version number.
  u32 prepare();
  /// From now on this version matches; what is older is for purge(). False: no such version.
  bool commit(u32 version);

  u32 current() const { return head().current.load(std::memory_order_acquire); }
  u32 newest() const { return head().next.load(); }
  u32 count() const { return head().count.load(); }
  bool changed() const { return head().changes.load(std::memory_order_acquire) != 0; }
  PatternHead &head() const;
  PatternStore &store() const { return store_; }
  PatternRow &row(u32 address) const;
  string_view value(const PatternRow &row) const;

 private:
  friend class PatternStore;
  friend class PatternPurge;
  bool check(string_view key, string_view value, std::string &error) const;
  bool check_value(string_view value, u8 values, std::string &error) const;
  PatternChange add_row(string_view key, string_view value, u32 version);
  PatternChange change_value(u32 row, string_view value);
  bool index_row(IndexHead &index, u32 row, bool again);
  void unindex_row(IndexHead &index, u32 row);
  void link_by_age(u32 row);
  void delete_row(u32 row);
  void finish_delete(u32 row);
  u32 find_row(string_view key, u32 version) const;
  void make_table(IndexHead &index, size_t roots);

  PatternStore &store_;
  u32 head_;
};

/// Keeps a place in a list while rows come and go: deletions move it on.
class PatternCursor : Pinned {
 public:
  explicit PatternCursor(PatternList &list);
  ~PatternCursor();
  bool valid() const { return cell_ != ~u32{0}; }
  /// Calls `use(address, row)` for the next rows of `version`, at most as many as `at_most`. False: there are no more.
  template <class Use> bool next(u32 version, u32 at_most, Use use);

 private:
  friend class PatternPurge;
  bool step(u32 at_most, void (*use)(void *, u32, const PatternRow &), void *context, u32 version);
  PatternList &list_;
  u32 cell_;
};

/// Deletes the rows of one version, or of all that are older than the current one, a few at a time.
class PatternPurge : Pinned {
 public:
  PatternPurge(PatternList &list, std::optional<u32> version) : cursor_(list), version_(version) {}
  bool valid() const { return cursor_.valid(); }
  /// True when none is left. What was deleted needs some turns of all workers to be free again: ask again later.
  bool step(u32 at_most);

 private:
  PatternCursor cursor_;
  std::optional<u32> version_;
};

class PatternStore : Pinned {
 public:
  static std::unique_ptr<PatternStore> create(std::string &error);
  /// A new list with room for so many indexes; null when memory is out.
  std::unique_ptr<PatternList> make_list(u32 indexes);
  static constexpr u32 indexes_of_words = 3, indexes_of_files = 32; // exact and two for addresses; more than there are combinations
  SharedHeap &heap() const { return *heap_; }
  /// After reading the configuration: how far the store may grow at run time.
  void loaded();
  /// From time to time, by the control process.
  void upkeep();
  /// When the control process starts: nobody reads lists from a place that they keep.
  void forget_cursors();

  /// Holds the lock; a change that a dead process left half done is brought to its end first.
  class Guard : Pinned {
   public:
    explicit Guard(PatternStore &store) : guard_(store.heap_->lock(), repair, &store) {}

   private:
    static void repair(void *store, RobustStripe &);
    StripeGuard guard_;
  };

  static constexpr u32 max_cursors = 32;
  enum class Change : u32 { None, Add, Delete };
  struct Cursor {
    u32 list; // address of the head; 0: free
    u32 row;
  };
  /// What all processes know of changes under way.
  struct Notes {
    Change change;
    u32 list, row;
    u32 count_after; // of the list
    Cursor cursors[max_cursors];
  };
  Notes &notes() const { return *reinterpret_cast<Notes *>(heap_->user()); }

 private:
  explicit PatternStore(std::unique_ptr<SharedHeap> heap) : heap_(std::move(heap)) {}
  std::unique_ptr<SharedHeap> heap_;
};

template <class Use> bool PatternCursor::next(u32 version, u32 at_most, Use use) {
  return step(at_most, [](void *f, u32 address, const PatternRow &row) { (*static_cast<Use *>(f))(address, row); }, &use, version);
}

} // namespace penstock
