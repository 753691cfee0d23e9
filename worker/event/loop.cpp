// SPDX-License-Identifier: BSD-2-Clause
// The event engine over epoll. A turn is: sleep, read the clocks, deliver events, fire timers, run
// deferred work, bury. Objects die only in the last part, so that a later event of the same batch never
// meets freed memory.
#include "worker/event/loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "worker/event/timer_wheel.h"

namespace penstock {

namespace {

constexpr int events_per_turn = 200;

u32 to_epoll(u32 events) {
  return (events & io_readable ? EPOLLIN : 0u) | (events & io_writable ? EPOLLOUT : 0u) | (events & io_hangup ? EPOLLRDHUP : 0u);
}

u32 from_epoll(u32 e) {
  return (e & EPOLLIN ? io_readable : 0u) | (e & EPOLLOUT ? io_writable : 0u) |
         (e & (EPOLLRDHUP | EPOLLHUP) ? io_hangup : 0u) | (e & EPOLLERR ? io_error : 0u);
}

struct Queue {
  Deferred *first = nullptr, *last = nullptr;
  void push(Deferred &d) {
    if (d.queued) return;
    d.queued = true;
    d.next = nullptr;
    (last != nullptr ? last->next : first) = &d;
    last = &d;
  }
  /// Runs what is queued now; what is queued meanwhile stays for the next call.
  void drain() {
    Deferred *d = std::exchange(first, nullptr);
    last = nullptr;
    while (d != nullptr) {
      Deferred *following = d->next;
      d->queued = false;
      d->run(*d);
      d = following;
    }
  }
};

} // namespace

struct Loop::Impl {
  int epoll = -1;
  TimerWheel wheel;
  Queue deferred, burials;
  epoll_event batch[events_per_turn];
  explicit Impl(Tick now) : wheel(now) {}
};

Loop::Loop() {
  read_clocks();
  impl_ = new Impl(now_ms_);
  impl_->epoll = epoll_create1(EPOLL_CLOEXEC);
  PENSTOCK_ENSURE(impl_->epoll >= 0);
}

Loop::~Loop() {
  close(impl_->epoll);
  delete impl_;
}

/// Where the clocks are not in user space each reading is a system call, so the wall clock is read only now
/// and then, and advanced by the other one in between.
void Loop::read_clocks() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  now_us_ = t.tv_sec * 1'000'000 + t.tv_nsec / 1000;
  now_ms_ = now_us_ / 1000;
  if (now_ms_ >= wall_due_) {
    wall_due_ = now_ms_ + 100;
    clock_gettime(CLOCK_REALTIME, &t);
    wall_ahead_us_ = t.tv_sec * 1'000'000 + t.tv_nsec / 1000 - now_us_;
  }
  wall_us_ = now_us_ + wall_ahead_us_;
}

int Loop::engine_fd() const { return impl_->epoll; }

static void control(int epoll, int how, IoHandle &h, u32 events) {
  epoll_event e{};
  e.events = events;
  e.data.ptr = &h;
  h.armed = events;
  int failed = epoll_ctl(epoll, how, h.fd, &e);
  PENSTOCK_ENSURE(failed == 0 || errno == ENOMEM || errno == ENOSPC || errno == ENOENT);
}

void Loop::add_edge(IoHandle &h, u32 events) { control(impl_->epoll, EPOLL_CTL_ADD, h, to_epoll(events) | u32{EPOLLET}); }
void Loop::add_level(IoHandle &h, u32 events) { control(impl_->epoll, EPOLL_CTL_ADD, h, to_epoll(events)); }
void Loop::change(IoHandle &h, u32 events, bool edge) {
  control(impl_->epoll, EPOLL_CTL_MOD, h, to_epoll(events) | (edge ? u32{EPOLLET} : 0u));
}
void Loop::remove(IoHandle &h) {
  if (h.armed == 0) return;
  control(impl_->epoll, EPOLL_CTL_DEL, h, 0);
}

void Loop::set_timer(Timer &t, Tick deadline) {
  t.deadline = deadline;
  if (deadline >= t.queued) return; // it will be noticed when the earlier time comes
  if (t.queued != never) TimerWheel::unlink(t);
  impl_->wheel.insert(t, deadline);
}

void Loop::cancel(Timer &t) {
  t.deadline = never;
  if (t.queued != never) TimerWheel::unlink(t);
}

void Loop::defer(Deferred &d) { impl_->deferred.push(d); }
void Loop::bury(Deferred &d) { impl_->burials.push(d); }
bool Loop::busy() const { return impl_->deferred.first != nullptr; }

void Loop::turn(Millis at_most) {
  Millis sleep = 0;
  if (!busy()) {
    Tick next = impl_->wheel.next();
    sleep = next == never ? at_most : std::clamp<Millis>(next - now_ms_, 0, at_most);
  }
  if (turn_word_) turn_word_->store((turn_word_->load(std::memory_order_relaxed) | 1) + 1, std::memory_order_release);
  int n = epoll_wait(impl_->epoll, impl_->batch, events_per_turn, static_cast<int>(sleep));
  // Sequentially consistent: what is read from now on must not have been read before this is seen.
  if (turn_word_) turn_word_->store(turn_word_->load(std::memory_order_relaxed) | 1, std::memory_order_seq_cst);
  read_clocks();
  turns_++;
  for (int i = 0; i < n; i++) {
    IoHandle &h = *static_cast<IoHandle *>(impl_->batch[i].data.ptr);
    if (h.fd >= 0) h.on_event(h, from_epoll(impl_->batch[i].events));
  }
  impl_->wheel.advance(now_ms_);
  impl_->deferred.drain();
  impl_->burials.drain();
}

void Loop::run() {
  while (!stopping_) turn();
}

} // namespace penstock
