// SPDX-License-Identifier: BSD-2-Clause
// See ring_forward.h. One connection per server of a ring; nothing here waits. Where a line was being
// sent when the connection broke, it is sent again whole on the next one.
#include "worker/log/ring_forward.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "shared/shm/ring_buffer.h"
#include "worker/log/sinks.h"

namespace penstock {

namespace {

constexpr Millis look_again = 100;  // writers wake nobody
constexpr Millis try_again = 1000;  // after a connection that failed
constexpr size_t batch = 64 << 10;

class Forwarder : Pinned {
 public:
  Forwarder(Loop &loop, const Ring &ring, u32 server)
      : loop_(loop), ring_(ring), server_(ring.servers[server]), sent_to_(ring.memory->served(server)), reader_(sent_to_) {
    io_.owner = clock_.owner = this;
    io_.fd = -1;
    io_.on_event = [](IoHandle &h, u32 events) { static_cast<Io &>(h).owner->on_io(events); };
    clock_.on_expire = [](Timer &t) { static_cast<Clock &>(t).owner->on_time(); };
    loop_.set_timer(clock_, loop_.now());
  }
  ~Forwarder() {
    if (state_ == State::Up) work(); // what can leave at once
    disconnect();
    loop_.cancel(clock_);
  }

 private:
  enum class State : u8 { Down, Connecting, Up };

  void on_time() {
    if (state_ == State::Down) return ring_.memory->has_more(reader_) || sent_ < out_.size() ? connect_now() : loop_.set_timer(clock_, loop_.now() + look_again);
    if (state_ == State::Connecting || blocked_) return fail(state_ == State::Connecting ? "connecting took too long" : "it takes nothing any more");
    work();
  }

  void on_io(u32 events) {
    if (state_ == State::Connecting) {
      int error = 0;
      socklen_t size = sizeof error;
      getsockopt(io_.fd, SOL_SOCKET, SO_ERROR, &error, &size);
      if (error != 0) return fail(nullptr);
      if (!(events & io_writable)) return;
      state_ = State::Up, told_ = false;
      loop_.change(io_, io_readable, false);
      return work();
    }
    if (events & (io_readable | io_hangup | io_error)) {
      char ignored[512];
      ssize_t n = recv(io_.fd, ignored, sizeof ignored, MSG_DONTWAIT);
      if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return fail(nullptr);
    }
    work();
  }

  void connect_now() {
    sockaddr_storage to;
    socklen_t size = server_.address.to_sockaddr(to);
    io_.fd = socket(server_.address.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (io_.fd < 0) return fail(nullptr);
    if (connect(io_.fd, reinterpret_cast<sockaddr *>(&to), size) != 0 && errno != EINPROGRESS) return fail(nullptr);
    state_ = State::Connecting;
    loop_.add_level(io_, io_writable);
    loop_.set_timer(clock_, after(loop_.now(), ring_.connect_timeout));
  }

  void disconnect() {
    if (io_.fd < 0) return;
    if (state_ != State::Down) loop_.remove(io_);
    close(io_.fd);
    io_.fd = -1;
    state_ = State::Down;
  }

  void fail(const char *why) {
    disconnect();
    if (!told_) log_global(LogLevel::Warning, "Ring " + ring_.name + ": server " + server_.name + " is not reached" + (why ? std::string(": ") + why : std::string()));
    told_ = true;
    reader_ = sent_to_; // from the first line that did not leave whole
    out_.clear(), sent_ = 0, ends_.clear(), blocked_ = false;
    loop_.set_timer(clock_, loop_.now() + try_again);
  }

  /// Takes lines from the ring, framed as the server wants them.
  void gather() {
    out_.clear(), sent_ = 0, ends_.clear();
    while (out_.size() < batch) {
      line_.clear();
      u64 lost = 0;
      bool got = ring_.memory->read_one(reader_, line_, lost);
      if (lost != 0) log_global(LogLevel::Warning, "Ring " + ring_.name + ": " + std::to_string(lost) + " lines were overwritten before server " + server_.name + " took them");
      if (!got) break;
      if (server_.octet_count) ((out_ += std::to_string(line_.size())) += ' ') += line_;
      else (out_ += line_) += '\n';
      ends_.push_back({out_.size(), reader_});
    }
  }

  void work() {
    for (;;) {
      if (sent_ == out_.size()) gather();
      if (out_.empty()) break;
      ssize_t n = send(io_.fd, out_.data() + sent_, out_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) {
        loop_.change(io_, io_readable | io_writable, false);
        if (!blocked_) loop_.set_timer(clock_, after(loop_.now(), ring_.server_timeout));
        blocked_ = true;
        return;
      }
      if (n < 0) return fail(nullptr);
      sent_ += static_cast<size_t>(n);
      for (const End &e : ends_)
        if (e.at <= sent_) sent_to_ = e.reader;
      if (blocked_) loop_.change(io_, io_readable, false);
      blocked_ = false;
    }
    loop_.set_timer(clock_, loop_.now() + look_again);
  }

  struct Io : IoHandle { Forwarder *owner; } io_;
  struct Clock : Timer { Forwarder *owner; } clock_;
  struct End { size_t at; RingBuffer::Reader reader; };
  Loop &loop_;
  const Ring &ring_;
  const RingServer &server_;
  RingBuffer::Reader &sent_to_; // what has left
  RingBuffer::Reader reader_;   // what was taken
  State state_ = State::Down;
  bool blocked_ = false, told_ = false;
  std::string out_, line_;
  size_t sent_ = 0;
  std::vector<End> ends_; // of the lines in out_
};

std::vector<std::unique_ptr<Forwarder>> forwarders; // of the control that leads

void lead(Control &control) {
  for (auto &ring : control.config->rings)
    for (u32 n = 0; n < ring->servers.size(); n++) forwarders.push_back(std::make_unique<Forwarder>(control.loop, *ring, n));
}
void stop_leading(Control &) { forwarders.clear(); }

} // namespace

ControlHook ring_hook() { return {.name = "rings", .lead = lead, .stop_leading = stop_leading, .stop = stop_leading}; }

} // namespace penstock
