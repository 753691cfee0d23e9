// SPDX-License-Identifier: BSD-2-Clause
// Moving bytes from socket to socket inside the kernel, through a pipe of the worker's pool. Pays for
// large bodies between two clear connections; small ones are cheaper by copy.
#pragma once

#include "shared/base/basic.h"

namespace penstock {

struct SplicePipe {
  int read_end = -1, write_end = -1;
  size_t filled = 0; // bytes inside
  SplicePipe *next = nullptr;
};

/// An empty pipe, or null when there are no descriptors (or `maxpipes` are used).
SplicePipe *take_pipe();
/// Gives it back; one that still holds bytes is closed.
void give_pipe(SplicePipe *p);

enum class Spliced : u8 { Moved, Blocked, End, Failed };
/// Socket into pipe: at most `limit` bytes. `moved` says how many.
Spliced splice_in(int socket, SplicePipe &p, u64 limit, size_t &moved);
/// Pipe into socket.
Spliced splice_out(SplicePipe &p, int socket, bool more, size_t &moved);

/// From so many bytes on a body is spliced.
inline constexpr u64 splice_threshold = 128 << 10;

} // namespace penstock
