// SPDX-License-Identifier: BSD-2-Clause
// The notice board of the process tree: who leads, and for each child where it is and what its last
// words were. One small memfd, made by the master, mapped by all its children and handed over every
// re-execution, so that a worker that died by any cause (even SIGKILL) leaves its place behind.
#pragma once

#include <atomic>

#include "shared/base/basic.h"

namespace penstock {

inline constexpr u32 board_cells = 80; // worker slots, then controls

/// Written by one child, read by the master after its death. Plain stores: a cell has one writer.
struct alignas(128) BoardCell {
  std::atomic<u32> step{0};     // Step that runs now; idle_step between turns
  std::atomic<u32> stream{0};   // number of the stream that runs
  std::atomic<i32> signal{0};   // fatal signal, from its handler
  std::atomic<u64> fault_address{0}, instruction{0};
  std::atomic<u32> trail_length{0};
  u8 trail[64] = {};            // the last steps of that stream
};
inline constexpr u32 idle_step = ~u32{0};

struct Board {
  u32 magic = 0, layout = 0;
  std::atomic<u32> leader{0};    // generation whose control does what a host needs exactly one of
  std::atomic<u32> generation{0}; // newest that serves
  BoardCell cells[board_cells];
};
inline constexpr u32 board_magic = 0x70626f61;
inline constexpr u32 board_layout = sizeof(Board) * 31 + 1;

/// Makes a board, or maps the one behind `fd`. Null on failure or when the layout is another build's.
Board *make_board(int &fd);
Board *map_board(int fd);

} // namespace penstock
