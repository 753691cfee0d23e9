// SPDX-License-Identifier: BSD-2-Clause
// A worker process from its start to its end: obeys the master (commit, drain, quit), polls its listening
// sockets, looks at shared memory when it is woken, and stops softly when told to.
#include "worker/worker.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "shared/base/leaks.h"
#include "shared/expr/pattern.h"
#include "worker/cli/question.h"
#include "worker/log/sinks.h"
#include "worker/master_link.h"
#include "worker/net/listener.h"
#include "worker/panic.h"
#include "worker/runtime.h"
#include "worker/stream/client_session.h"
#include "worker/stream/flow.h"

namespace penstock {

namespace {

/// What the worker does about the master's messages, and what it does by itself once a second.
class Serving : public MasterOrders {
 public:
  explicit Serving(const WorkerStart &start);
  void commit() override;
  void stop_accepting(std::span<const u32> listeners) override;
  void drain() override;
  void quit() override {
    runtime->hard_stop = true;
    runtime->loop.stop();
  }
  void message(Message &message) override {
    if (message.type() == MessageType::LeaveAdopted) return leave_adopted();
    answer_question(message, link->channel());
  }
  MasterLink *link = nullptr;

 private:
  static void on_wake(IoHandle &h, u32 events);
  static void on_tick(Timer &t);
  void look_at_shared_state();
  void leave_adopted() {
    for (auto &l : runtime->listeners)
      if (l->adopted) l->stop();
  }
  void close_idle_sessions();
  void leave_when_done();

  struct Wake : IoHandle { Serving *serving; } wake_;
  struct Tick_ : Timer { Serving *serving; } tick_;
  Tick stop_at_ = never; // hard-stop-after
  bool draining_ = false;
};

/// An idle client that asks again within this time gets its answer and the word that it was the last:
/// closing at once would cut off the request that is on its way.
constexpr Millis last_chance = 1'000;
constexpr Millis tick_every = 100; // while draining; nothing ticks before

Serving::Serving(const WorkerStart &start) {
  for (const ListenerFd &l : start.listeners)
    for (const auto &p : start.config->proxies)
      for (const auto &b : p->binds)
        if (b->listener == l.listener) {
          ProxyState &state = runtime->of(*p);
          runtime->listeners.push_back(std::make_unique<Listener>(*b, state, l.fd));
          runtime->listeners.back()->adopted = l.adopted;
          state.listeners.push_back(runtime->listeners.back().get());
        }
  wake_.fd = start.service->wake_fd(start.slot), wake_.serving = this, wake_.on_event = on_wake;
  if (wake_.fd >= 0) runtime->loop.add_level(wake_, io_readable);
  tick_.serving = this, tick_.on_expire = on_tick;
}

void Serving::commit() {
  for (auto &l : runtime->listeners) {
    l->start();
    l->obey_state();
  }
}

void Serving::stop_accepting(std::span<const u32> which) {
  for (auto &l : runtime->listeners)
    if (which.empty() || std::find(which.begin(), which.end(), l->bind().listener) != which.end()) l->stop();
}

/// Soft stop: `Connection: close` on what goes out, idle clients leave little by little. Which listening
/// sockets are polled no more the master says apart: of an address that it gives up, connections that
/// were on their way still come in.
void Serving::drain() {
  if (draining_) return;
  draining_ = true;
  runtime->stopping = true;
  const Global &g = runtime->config->global;
  stop_at_ = after(runtime->loop.now(), g.hard_stop_after);
  close_idle_sessions();
  for (auto &s : runtime->servers)
    if (s) s->idle.close_all();
  runtime->loop.set_timer(tick_, runtime->loop.now());
}

void Serving::close_idle_sessions() {
  Millis spread = runtime->config->global.close_spread_time;
  if (spread == eternity) spread = last_chance;
  size_t n = 0, total = runtime->session_total + 1;
  ClientSession *next;
  for (ClientSession *s = runtime->sessions; s != nullptr; s = next) {
    next = s->next;
    Millis part = last_chance + spread * static_cast<Millis>(n++) / static_cast<Millis>(total);
    s->close_if_idle_by(runtime->loop.now() + part);
  }
}

void Serving::on_tick(Timer &t) { static_cast<Tick_ &>(t).serving->leave_when_done(); }

void Serving::leave_when_done() {
  bool accepting = std::any_of(runtime->listeners.begin(), runtime->listeners.end(), [](auto &l) { return l->polled(); });
  if ((runtime->session_total == 0 && !accepting) || expired(stop_at_)) return runtime->loop.stop();
  runtime->loop.set_timer(tick_, std::min(stop_at_, runtime->loop.now() + tick_every));
}

void Serving::on_wake(IoHandle &h, u32) {
  u64 count;
  if (read(h.fd, &count, sizeof count) < 0) return;
  static_cast<Wake &>(h).serving->look_at_shared_state();
}

/// Requests that were granted a slot, or must choose anew; servers that went down with on-marked-down.
void Serving::look_at_shared_state() {
  for (auto &l : runtime->listeners) l->obey_state();
  runtime->waiters.collect([](u32, WaiterOwner owner) {
    if (PooledStream *s = runtime->stream_pool.find(owner.stream_index, owner.stream_generation)) s->wake();
  });
  for (ProxyState &p : runtime->proxies) {
    if (p.farm == nullptr) continue;
    p.farm->each_new_down([](const Server &down) {
      ServerState &state = runtime->of(down);
      state.idle.close_all();
      if (down.options->on_marked_down != OnMarkedDown::ShutdownSessions) return;
      for (Stream *s = runtime->streams; s != nullptr; s = s->next)
        if (s->server() == &down) s->kill(FaultKind::ServerDown);
    });
    p.farm->each_new_up([](const Server &up) { // on-marked-up shutdown-backup-sessions
      if (up.options->on_marked_up != OnMarkedUp::ShutdownBackupSessions || up.options->backup) return;
      for (Stream *s = runtime->streams; s != nullptr; s = s->next)
        if (s->server() != nullptr && s->server()->proxy == up.proxy && s->server()->options->backup) s->kill(FaultKind::ServerDown);
    });
  }
}


} // namespace

int worker_main(const WorkerStart &start) {
  signal(SIGPIPE, SIG_IGN);
  set_log_pid(start.log_pid);
  auto owned = std::make_unique<Runtime>(start);
  Serving serving(start);
  if (start.config->pattern_files && start.config->pattern_files->usable())
    runtime->loop.mark_turns(start.config->pattern_files->store().heap().claim_reader(start.slot).turn);
  MasterLink link(runtime->loop, serving, start.channel_fd, start.generation);
  serving.link = &link;
  link.ready();
  runtime->loop.run();
  // The kernel closes what is open; nothing here is worth the time of taking it apart.
  tell_leaks();
  _exit(0);
}

} // namespace penstock
