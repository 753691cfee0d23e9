// SPDX-License-Identifier: BSD-2-Clause
// How a stick table lies in its segment; stick_table.h is what others use. Trivial types and indexes only.
//
//   segment:  segment header | table header | stripes | slots | block owners | bucket heads | ledgers |
//             dictionary | strip 0: heads, keys, columns | further strips: columns of later configurations
//
// Entries are handed to stripes in blocks of 16 and stay with their stripe; a stripe's chains, its order by
// age and its free list can be made anew from its blocks alone, which is what happens after a death. A
// column is never moved or removed: a reload that stores more adds a strip of records beside the others, so
// that both generations count into the same entries, each knowing the columns of its configuration.
#pragma once

#include <atomic>

#include "shared/model/stick_table.h"
#include "shared/shm/robust_lock.h"

namespace penstock::stick {

inline constexpr u32 block_entries = 16;
inline constexpr u32 max_strips = 32;
inline constexpr u32 max_columns = 1024;
inline constexpr u32 max_stripes = 256;
inline constexpr u32 cells_per_slot = 1 << 20; // entries that one worker can track at a time
inline constexpr u32 cell_counted = 1u << 31;  // of a ledger's cell: conn_cur was raised as well
inline constexpr u32 dictionary_entries = 1 << 16;
inline constexpr u32 dictionary_text = 120;

struct Column {
  u8 type = 0;   // DataType; gpt0, gpc0 … are element 0 and 1 of the arrays
  u8 index = 0;
  u16 strip = 0;
  u32 period_ms = 0;
  u32 offset = 0;
};

struct Strip {
  u64 at = 0;
  u32 record = 0; // bytes of one entry's part
  u32 data = 0;   // where its columns begin: they are zeroed up to `record` when an entry is made
};

/// A rate as the manual's two-period counters are observed to work: a period begins with the first event
/// after silence, the next ones follow it without a gap while there are events.
struct RateCell {
  u32 start = 0; // ms on the monotonic clock, modulo 2^32
  u32 current = 0, previous = 0;
};
static_assert(sizeof(RateCell) == 12);

struct Header {
  char name[256];
  u32 key_type = 0, key_length = 0;
  u32 stripes = 0, stripe_shift = 0;
  u32 capacity = 0; // entries that have a place; more than the size, so that stripes may differ
  u64 seed = 0;
  u64 stripes_at = 0, slots_at = 0, owners_at = 0, buckets_at = 0, ledgers_at = 0, dictionary_at = 0, end = 0, bytes = 0;
  std::atomic<u32> size{0};
  std::atomic<i64> expire_ms{-1};
  std::atomic<u32> nopurge{0};
  std::atomic<u32> shrinking{0}; // there are more entries than a reload's smaller size
  std::atomic<u32> strip_count{0}, column_count{0}, names{0};
  alignas(64) std::atomic<u32> used{0};
  std::atomic<u32> next_block{0};
  std::atomic<u32> recount{0}; // a stripe was made anew: `used` must be summed up again
  alignas(64) RobustStripe names_lock;
  Strip strips[max_strips];
  Column columns[max_columns];
};

/// Links are index + 1; 0 ends.
struct alignas(64) Stripe {
  RobustStripe lock;
  std::atomic<i64> oldest; // `touched` of the first in `order`; INT64_MAX when nothing may be purged
  u32 used;
  u32 buckets;             // in use, by linear hashing: one more is split off whenever entries outnumber them
  u32 free;
  u32 first, last;         // unreferenced entries by age
};
static_assert(sizeof(Stripe) == 128);

/// What a worker slot does with the table.
struct alignas(64) Slot {
  std::atomic<u32> pending{0};    // the entry whose references it is changing, + 1
  std::atomic<u32> cells_used{0}; // of its ledger: where scans end
};

struct Entry {
  u32 hash;
  u32 next;          // in its chain, or in the free list
  u32 older, newer;  // among the unreferenced ones
  u32 refs;
  u32 live;          // 0: free. The last word to be written when an entry is made
  i64 touched;       // µs on the monotonic clock, no two alike in one process
};
static_assert(sizeof(Entry) == 32);

struct Name {
  u32 length = 0;
  u32 hash = 0;
  char text[dictionary_text] = {};
};

} // namespace penstock::stick
