// SPDX-License-Identifier: BSD-2-Clause
// See connection.h.
//
// TCP_NODELAY: an accepted socket inherits it from its listener. A socket to a server gets it at the
// first moment when it matters: a second write with nothing received since the first, which Nagle's
// algorithm would hold back. A request that goes out in one write never needs it.
#include "worker/net/connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "worker/runtime.h"

namespace penstock {

namespace {

ssize_t plain_receive(Connection &c, char *out, size_t capacity) { return recv(c.fd(), out, capacity, 0); }
ssize_t plain_send(Connection &c, const char *bytes, size_t size, bool more) {
  return send(c.fd(), bytes, size, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
}
void plain_shut_write(Connection &c) { shutdown(c.fd(), SHUT_WR); }

/// Up to here bytes are worth a copy to leave together with others in one call.
constexpr size_t gather_limit = 4096;

} // namespace

const Transport plain_transport = {plain_receive, plain_send, plain_shut_write, true};

void Connection::watch(bool connecting) {
  connecting_ = connecting;
  can_read_ = false, can_write_ = !connecting;
  runtime->loop.add_edge(io_, io_readable | io_writable | io_hangup);
}

void Connection::close() {
  if (io_.fd < 0) return;
  ::close(io_.fd);
  io_.fd = -1, io_.armed = 0;
  can_read_ = can_write_ = false;
  runtime->buffers.drop(in_);
  runtime->buffers.drop(out_);
}

void Connection::reset() {
  if (io_.fd < 0) return;
  linger at_once{1, 0};
  setsockopt(io_.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

void Connection::on_event(IoHandle &h, u32 events) {
  Connection &c = *static_cast<Handle &>(h).connection;
  if (events & (io_readable | io_hangup | io_error)) c.can_read_ = true;
  if (events & (io_writable | io_error)) c.can_write_ = true;
  if (events & (io_hangup | io_error)) c.hangup_ = true;
  if (c.connecting_ && events & (io_writable | io_hangup | io_error)) c.finish_connect();
  if (c.notify_ != nullptr) c.notify_(c, c.owner_);
}

void Connection::finish_connect() {
  connecting_ = false;
  if (!hangup_) return; // writable and nothing else: it is connected
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(io_.fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error != 0) failed_ = error;
}

Io Connection::receive_failed() {
  can_read_ = false;
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return Io::Blocked;
  failed_ = errno;
  return Io::Error;
}

Io Connection::fill() {
  if (failed_ != 0) return Io::Error;
  if (eof_) return Io::Eof;
  if (!can_read_) return Io::Blocked;
  BufferPool &pool = runtime->buffers;
  if (in_ != nullptr && in_->empty() && full_reads_ >= 2 && in_->size_class < BufferPool::huge) {
    u8 next = in_->size_class + 1;
    pool.drop(in_);
    in_ = pool.take(next);
    full_reads_ = 0;
  }
  if (in_ == nullptr) in_ = pool.take();
  if (in_->room() == 0 || (in_->head > 0 && in_->room() < in_->capacity / 4)) in_->compact();
  size_t room = in_->room();
  if (room == 0) return Io::Full;
  ssize_t n = transport->receive(*this, in_->end(), room);
  if (n < 0) return receive_failed();
  if (n == 0) {
    eof_ = true, can_read_ = false;
    return Io::Eof;
  }
  in_->tail += static_cast<u32>(n);
  read_activity(static_cast<size_t>(n));
  if (static_cast<size_t>(n) < room) {
    full_reads_ = 0;
    if (!hangup_) can_read_ = false; // drained; with a hang-up announced the end is still to be read
  } else if (full_reads_ < 2) {
    full_reads_++;
  }
  return Io::Ok;
}

void Connection::release_buffers() {
  if (in_ != nullptr && in_->empty()) runtime->buffers.drop(in_);
  if (out_ != nullptr && out_->empty()) runtime->buffers.drop(out_);
  full_reads_ = 0;
}

void Connection::before_send() {
  if (unanswered_sends_ && !nodelay_) {
    int on = 1;
    setsockopt(io_.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); // fails on UNIX sockets, which need it not
    nodelay_ = true;
  }
  unanswered_sends_ = true;
}

Io Connection::flush(bool more) {
  if (flushed()) return Io::Ok;
  if (write_failed_ != 0) return Io::Error;
  if (!can_write_) return Io::Blocked;
  before_send();
  ssize_t n = transport->send(*this, out_->data() + out_->head, out_->size(), more);
  if (n < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
      can_write_ = false;
      return Io::Blocked;
    }
    write_failed_ = errno;
    out_->head = out_->tail = 0;
    return Io::Error;
  }
  sent += static_cast<u64>(n);
  out_->consume(static_cast<u32>(n));
  if (out_->empty()) return Io::Ok;
  can_write_ = false; // a short write: the socket is full
  return Io::Blocked;
}

Buffer *Connection::output(size_t bytes) {
  if (out_ == nullptr) out_ = runtime->buffers.take();
  if (out_->room() < bytes) out_->compact();
  if (out_->room() < bytes && flush(true) == Io::Blocked) out_->compact();
  return out_->room() >= bytes ? out_ : nullptr;
}

size_t Connection::put(string_view bytes, bool more) {
  if (write_failed_ != 0) return 0;
  if (!flushed()) {
    if (bytes.size() <= out_->room()) {
      out_->append(bytes);
      if (!more) flush();
      return bytes.size();
    }
    if (flush(true) != Io::Ok) return 0;
  }
  if (bytes.empty()) return 0;
  if (more && bytes.size() <= gather_limit) {
    output(bytes.size())->append(bytes);
    return bytes.size();
  }
  if (!can_write_) return 0;
  before_send();
  ssize_t n = transport->send(*this, bytes.data(), bytes.size(), more);
  if (n < 0) {
    can_write_ = false;
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) write_failed_ = errno;
    return 0;
  }
  sent += static_cast<u64>(n);
  if (static_cast<size_t>(n) < bytes.size()) can_write_ = false;
  return static_cast<size_t>(n);
}

void Connection::shut_write() {
  if (write_shut_ || io_.fd < 0) return;
  write_shut_ = true;
  transport->shut_write(*this);
}

} // namespace penstock
