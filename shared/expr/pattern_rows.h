// SPDX-License-Identifier: BSD-2-Clause
// How patterns lie in shared memory (shared/shm/heap.h): rows of key and value, and the indexes over
// them. Addresses are the heap's; every link is one 32-bit word, stored whole, so that a reader without
// a lock sees the state before a change or the one after it.
#pragma once

#include <atomic>

#include "shared/base/basic.h"

namespace penstock {

/// A key of an index, and the row that it belongs to. Postings with the same key form a ring in the
/// order of their rows; whoever points to a ring points to its last.
struct Posting {
  std::atomic<u32> same; // the next in the ring
  u32 bits;              // length of the key
  u32 row;
  u32 at;                // where the key begins in the row's text; or the key itself begins here (KeyKind)
};

/// A branch of an index: where keys part, or where a key ends that others go beyond.
struct Branch {
  u32 bits;                      // how many bits the keys below have in common
  std::atomic<u32> postings;     // ring of the key that ends here, or 0
  std::atomic<u32> child[2];     // by the next bit: 0, a branch, or a ring (with leaf_tag)
};
inline constexpr u32 leaf_tag = u32{1} << 31;

struct PatternRow {
  Posting key; // in the exact index of the reference
  std::atomic<u32> value;
  std::atomic<u32> version;
  u32 newer, older; // rows of the reference by age; 0 at the ends
  u64 order;        // age: grows with every row
  string_view text() const { return {reinterpret_cast<const char *>(this + 1), key.bits / 8}; }
  char *bytes() { return reinterpret_cast<char *>(this + 1); }
};
static_assert(sizeof(Posting) == 16 && sizeof(Branch) == 16 && sizeof(PatternRow) == 40);

/// The value of a row. It is never changed: a new one takes its place.
struct PatternValue {
  u32 length;
  char *bytes() { return reinterpret_cast<char *>(this + 1); }
  string_view text() const { return {reinterpret_cast<const char *>(this + 1), length}; }
};

/// What the keys of an index are made of.
enum class KeyKind : u8 {
  Whole,   // the text, found by all of itself
  Start,   // the text, found as a prefix
  End,     // the text read backwards, found as a prefix of what is read backwards
  Part,    // the text, found anywhere (sub)
  Word,    // the text without delimiters at its ends, found between delimiters (dir, dom)
  Literal, // a piece of text that every match of the expression contains (reg)
  Bytes,   // hexadecimal digits turned into bytes, found by all of them (bin)
  Number,  // aligned blocks of 64-bit numbers that make up a range (int, len)
  V4, V6,  // networks
};

/// The head of an index: a table of roots by a hash of the first bytes of a key (or of all of it), and
/// one root for keys that are shorter than that.
struct alignas(8) IndexHead {
  u8 method;   // MatchMethod
  KeyKind kind;
  bool fold;   // case is ignored
  bool dotted; // numbers are versions, "3.1"
  u8 hashed;   // first bytes that choose a root; 0: all of the key
  u32 table;   // address of the roots
  u32 mask;
  std::atomic<u32> short_root;
};

/// A list of patterns: its rows, versions and indexes (behind it). The first index is the exact one.
struct alignas(8) PatternHead {
  std::atomic<u32> current, next;  // version that matches, newest that was prepared
  std::atomic<u32> count;          // rows of all versions
  std::atomic<u32> changes;        // since the configuration was read: 0 means that its own copy still holds
  std::atomic<u32> index_count;
  u32 oldest, newest;              // rows
  u64 last_order;
  u8 values;                       // what they must be (PatternList::Values)
  u32 index_room;
  IndexHead *indexes() { return reinterpret_cast<IndexHead *>(this + 1); }
};

} // namespace penstock
