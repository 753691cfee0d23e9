// SPDX-License-Identifier: BSD-2-Clause
// A connected socket: what the engine said about it, its two buffers, and the transport that moves bytes
// through it (plain today; TLS is another table of functions). It is watched once, edge-triggered, for its
// whole life: readiness is remembered here, and a short read or write is taken as "drained", so that neither
// epoll_ctl nor failing calls occur per request. Owned by a ClientSession or a ServerConnection.
#pragma once

#include "shared/base/address.h"
#include "worker/event/loop.h"
#include "worker/net/buffer.h"

namespace penstock {

class Connection;

/// How bytes pass through a connection. Results are those of recv() and send(); -1 sets errno.
struct Transport {
  ssize_t (*receive)(Connection &, char *out, size_t capacity);
  ssize_t (*send)(Connection &, const char *bytes, size_t size, bool more);
  void (*shut_write)(Connection &);
  bool raw; // the wire carries exactly these bytes: splice is possible
};
extern const Transport plain_transport;

enum class Io : u8 { Ok, Blocked, Eof, Error, Full };

class Connection : Pinned {
 public:
  using Notify = void (*)(Connection &, void *owner);

  Connection() { io_.on_event = on_event, io_.connection = this; }
  ~Connection() { close(); }

  /// Takes a non-blocking socket.
  void adopt(int fd) { io_.fd = fd; }
  /// Watches it. `connecting`: connect() is under way.
  void watch(bool connecting);
  void close();
  /// Closes so that the peer sees a reset.
  void reset();
  bool is_open() const { return io_.fd >= 0; }
  int fd() const { return io_.fd; }

  void set_owner(Notify notify, void *owner) { notify_ = notify, owner_ = owner; }
  void *owner() const { return owner_; }

  // ---------------------------------------------------------------- receiving
  /// Reads once into the input buffer, taking one if there is none.
  Io fill();
  bool may_fill() const { return can_read_ && !eof_ && failed_ == 0; }
  string_view input() { return in_ != nullptr ? in_->content() : string_view(); }
  Buffer *in() { return in_; }
  void consume(size_t n) {
    if (n == 0) return;
    in_->consume(static_cast<u32>(n));
  }
  /// Gives empty buffers back to the pool.
  void release_buffers();
  bool eof() const { return eof_; }       // the peer's end was read
  bool hung_up() const { return hangup_; } // … or only announced
  int failed() const { return failed_; }  // errno of a failed receive or connect
  bool write_failed() const { return write_failed_ != 0; }

  // ---------------------------------------------------------------- sending
  /// Takes up to all of `bytes`: gathers them behind what waits, or sends them straight from the caller's memory.
  size_t put(string_view bytes, bool more);
  /// Room in the output buffer for at least `bytes`, sending first where needed; null when there is none now.
  Buffer *output(size_t bytes);
  /// Sends what waits; Ok when nothing is left.
  Io flush(bool more = false);
  bool flushed() const { return out_ == nullptr || out_->empty(); }
  bool can_write() const { return can_write_; }
  void shut_write();
  bool write_shut() const { return write_shut_; }

  bool connecting() const { return connecting_; }
  u64 received = 0, sent = 0; // bytes
  const Transport *transport = &plain_transport;
  void *tls = nullptr; // the transport's own state

  // for transports and splice
  void not_readable() { can_read_ = false; }
  void not_writable() { can_write_ = false; }
  void saw_eof() { eof_ = true; }
  void saw_error(int error) { failed_ = error; }
  void read_activity(size_t n) { received += n, unanswered_sends_ = false; }
  /// Small writes of ours must not wait for acknowledgements (see connection.cpp on TCP_NODELAY).
  void before_send();
  void set_nodelay_known() { nodelay_ = true; }

 private:
  static void on_event(IoHandle &h, u32 events);
  void finish_connect();
  Io receive_failed();

  struct Handle : IoHandle { Connection *connection; } io_;
  Buffer *in_ = nullptr, *out_ = nullptr;
  Notify notify_ = nullptr;
  void *owner_ = nullptr;
  int failed_ = 0, write_failed_ = 0;
  u8 full_reads_ = 0;
  bool can_read_ : 1 = false, can_write_ : 1 = false, eof_ : 1 = false, hangup_ : 1 = false;
  bool connecting_ : 1 = false, write_shut_ : 1 = false, nodelay_ : 1 = false, unanswered_sends_ : 1 = false;
};

} // namespace penstock
