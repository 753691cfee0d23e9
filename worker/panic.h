// SPDX-License-Identifier: BSD-2-Clause
// Last words. The stream notes each step on the notice board (one store); a fatal signal adds what
// happened. The master reads the cell when the process is gone and reports place and trail.
#pragma once

#include <string>

#include "shared/shm/board.h"

namespace penstock {

/// This process' cell; a private one until panic_install().
extern BoardCell *panic_cell;

/// To be called at each step of a stream (worker/stream) and with idle_step when none runs.
inline void panic_note_step(u32 step) { panic_cell->step.store(step, std::memory_order_relaxed); }
/// A new stream runs: its number and an empty trail.
inline void panic_note_stream(u32 number) {
  panic_cell->stream.store(number, std::memory_order_relaxed);
  panic_cell->trail_length.store(0, std::memory_order_relaxed);
}
/// Adds to the trail; the oldest is overwritten when it is full.
inline void panic_note_trail(u8 step) {
  u32 n = panic_cell->trail_length.load(std::memory_order_relaxed);
  panic_cell->trail[n % sizeof panic_cell->trail] = step;
  panic_cell->trail_length.store(n + 1, std::memory_order_relaxed);
}

/// Clears `cell`, makes it this process', and catches the fatal signals on a stack of their own.
void panic_install(BoardCell *cell);

/// "Connect" for the number that a cell holds.
std::string panic_step_name(u32 step);

} // namespace penstock
