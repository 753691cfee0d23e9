// SPDX-License-Identifier: BSD-2-Clause
// See splice.h.
#include "worker/net/splice.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "shared/base/switches.h"
#include "worker/runtime.h"

namespace penstock {

namespace {
struct PipePool {
  SplicePipe *free = nullptr;
  u32 made = 0, kept = 0;
} pool;
constexpr u32 keep = 64;
constexpr int pipe_bytes = 256 << 10;
} // namespace

SplicePipe *take_pipe() {
  if (!switches.splice || !switches.zero_copy) return nullptr;
  if (pool.free != nullptr) {
    SplicePipe *p = pool.free;
    pool.free = p->next;
    pool.kept--;
    runtime->process->pipes_free--, runtime->process->pipes_used++;
    return p;
  }
  u32 limit = runtime->config->global.maxpipes;
  if (limit != 0 && pool.made >= limit) return nullptr;
  int ends[2];
  if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return nullptr;
  u32 size = runtime->config->global.tune.pipesize;
  fcntl(ends[1], F_SETPIPE_SZ, size != 0 ? static_cast<int>(size) : pipe_bytes); // where not allowed the default stays
  pool.made++;
  runtime->process->pipes_used++;
  return new SplicePipe{ends[0], ends[1]};
}

void give_pipe(SplicePipe *p) {
  runtime->process->pipes_used--;
  if (p->filled == 0 && pool.kept < keep) {
    p->next = pool.free;
    pool.free = p;
    pool.kept++;
    runtime->process->pipes_free++;
    return;
  }
  close(p->read_end);
  close(p->write_end);
  delete p;
  pool.made--;
}

static Spliced outcome_of_error() {
  return errno == EAGAIN || errno == EINTR ? Spliced::Blocked : Spliced::Failed;
}

Spliced splice_in(int socket, SplicePipe &p, u64 limit, size_t &moved) {
  moved = 0;
  size_t most = static_cast<size_t>(std::min<u64>(limit, 1 << 20));
  ssize_t n = splice(socket, nullptr, p.write_end, nullptr, most, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  if (n < 0) return outcome_of_error();
  if (n == 0) return Spliced::End;
  moved = static_cast<size_t>(n);
  p.filled += moved;
  return Spliced::Moved;
}

Spliced splice_out(SplicePipe &p, int socket, bool more, size_t &moved) {
  moved = 0;
  ssize_t n = splice(p.read_end, nullptr, socket, nullptr, p.filled,
                     SPLICE_F_MOVE | SPLICE_F_NONBLOCK | (more ? SPLICE_F_MORE : 0u));
  if (n < 0) return outcome_of_error();
  moved = static_cast<size_t>(n);
  p.filled -= moved;
  runtime->process->bytes_spliced += moved;
  return Spliced::Moved;
}

} // namespace penstock
