// SPDX-License-Identifier: BSD-2-Clause
#include "master/supervise.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "master/master_cli.h"
#include "master/messages.h"
#include "master/sd_notify.h"
#include "master/takeover.h"
#include "shared/base/build_info.h"
#include "shared/shm/service.h"
#include "worker/panic.h"

namespace penstock {
namespace {

constexpr int heard[] = {SIGCHLD, SIGUSR1, SIGUSR2, SIGHUP, SIGTERM, SIGINT, SIGQUIT};
/// After Quit, and before SIGKILL.
constexpr Millis kill_after = 3'000;
/// A worker that lives shorter than this is replaced with a delay that doubles.
constexpr Millis quick_death = 5'000;
constexpr Millis first_backoff = 100, longest_backoff = 10'000;

string_view kind_name(ChildKind kind) { return kind == ChildKind::Worker ? "worker" : "control"; }

std::string signal_text(int signal) {
  const char *name = sigabbrev_np(signal);
  return name ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

/// "step Connect of stream 12 (Head > Request > …), address 0x0, instruction 0x5555…"
std::string last_words(const BoardCell &cell) {
  std::string out;
  u32 step = cell.step;
  if (step != idle_step) {
    out += ", in step " + panic_step_name(step) + " of stream " + std::to_string(cell.stream.load());
    u32 length = cell.trail_length, room = sizeof cell.trail;
    for (u32 i = length > room ? length - room : 0; i < length; i++)
      out += (i == 0 || i + room == length ? " (" : " > ") + panic_step_name(cell.trail[i % room]);
    if (length) out += ")";
  }
  if (cell.signal.load()) {
    char where[64];
    snprintf(where, sizeof where, ", address 0x%llx, instruction 0x%llx", static_cast<unsigned long long>(cell.fault_address.load()),
             static_cast<unsigned long long>(cell.instruction.load()));
    out += where;
  }
  return out;
}

} // namespace

Supervisor::Supervisor(Invocation invocation) : invocation_(std::move(invocation)) {
  started_s_ = wall_us() / 1'000'000;
  cli_ = std::make_unique<MasterCli>(*this);
  takeover_ = std::make_unique<Takeover>(*this);
  tick_timer_.supervisor = this;
  tick_timer_.on_expire = [](Timer &t) { static_cast<TickTimer &>(t).supervisor->tick(); };
}
Supervisor::~Supervisor() = default;

void Supervisor::watch_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int s : heard) sigaddset(&set, s);
  sigprocmask(SIG_SETMASK, &set, nullptr);
  signal_io_.supervisor = this;
  signal_io_.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  PENSTOCK_ENSURE(signal_io_.fd >= 0);
  signal_io_.on_event = [](IoHandle &h, u32) {
    signalfd_siginfo info;
    while (read(h.fd, &info, sizeof info) == sizeof info) static_cast<SignalIo &>(h).supervisor->on_signal(static_cast<int>(info.ssi_signo));
  };
  loop_.add_level(signal_io_, io_readable);
}

void Supervisor::on_signal(int signal) {
  switch (signal) {
    case SIGCHLD: return reap();
    case SIGUSR1: return soft_stop();
    case SIGTERM:
    case SIGINT: return stop_now(signal);
    case SIGHUP:
      if (!in_master_mode()) return dump_states();
      return reload(-1, false);
    case SIGUSR2: return reload(-1, false);
    default: return; // SIGQUIT: nothing that this process could tell
  }
}

/// Sets the timer to the nearest of our deadlines.
void Supervisor::tick() {
  Tick now = loop_.now();
  if (phase_deadline_ <= now) {
    phase_deadline_ = never;
    abort_generation("it was not ready in time");
  }
  if (retire_at_ <= now) retire_addresses();
  if (surplus_at_ <= now) leave_adopted();
  if (grace_until_ <= now) {
    grace_until_ = never;
    soft_stop();
  }
  for (Child &child : children_) {
    if (child.end_by > now) continue;
    if (child.state == ChildState::Ending) {
      kill(child.pid, SIGKILL);
      child.end_by = now + kill_after;
    } else {
      say(Severity::Warning, "The old " + std::string(kind_name(child.kind)) + " (" + std::to_string(child.pid) + ") has used up its hard-stop-after time and is ended.");
      end_child(child, kill_after);
    }
  }
  auto due = std::partition(respawns_.begin(), respawns_.end(), [now](const Respawn &r) { return r.at > now; });
  std::vector<Respawn> now_due(due, respawns_.end());
  respawns_.erase(due, respawns_.end());
  for (const Respawn &r : now_due) respawn(r.index);

  Tick next = std::min({phase_deadline_, retire_at_, surplus_at_, grace_until_});
  for (const Child &child : children_) next = std::min(next, child.end_by);
  for (const Respawn &r : respawns_) next = std::min(next, r.at);
  loop_.set_timer(tick_timer_, next);
}

int Supervisor::run() {
  while (ending_ == Ending::No || any_left()) {
    loop_.turn();
    buried_.clear();
    tick();
  }
  return leave();
}

// ------------------------------------------------------------------------------------------ children

void Supervisor::watch(Child &child) {
  child.supervisor = this;
  child.fd = child.channel.fd();
  child.on_event = [](IoHandle &h, u32) {
    Child &c = static_cast<Child &>(h);
    Supervisor &s = *c.supervisor;
    while (auto message = c.channel.receive()) s.on_message(c, *message);
    if (!c.channel.closed()) return;
    s.loop_.remove(c); // its death follows
    c.channel.close();
    c.fd = -1;
  };
  if (child.fd >= 0) loop_.add_level(child, io_readable);
}

void Supervisor::on_message(Child &child, Message &message) {
  for (int fd : message.fds) close(fd);
  switch (message.type()) {
    case MessageType::Ready:
      child.state = ChildState::Ready;
      if (child.generation == starting_) return if_all_ready();
      child.channel.send(MessageType::Commit); // a replacement
      return;
    case MessageType::Polling:
      child.state = ChildState::Polling;
      if (child.generation == starting_) return if_all_polling();
      select_living();
      return;
    case MessageType::Stopping: // told so by a signal from elsewhere
      if (child.state == ChildState::Polling) drain(child);
      select_living();
      return;
    case MessageType::WorkerQuestion:
    case MessageType::WorkerAnswer: return pass_on(message);
    case MessageType::ListenersCopied: return takeover_->note_copied();
    default: return;
  }
}

void Supervisor::dump_states() {
  for (Child &child : children_)
    if (child.kind == ChildKind::Control && child.generation == current_) child.channel.send(MessageType::DumpStates);
}

/// Control and workers have no channel of their own to each other. A receiver whose queue is full misses it.
void Supervisor::pass_on(const Message &message) {
  bool question = message.type() == MessageType::WorkerQuestion;
  auto numbers = message.numbers();
  if (numbers.empty()) return;
  for (Child &c : children_) {
    bool meant = question ? c.kind == ChildKind::Worker && c.slot == numbers[0] : c.kind == ChildKind::Control;
    if (meant && c.channel.is_open()) c.channel.send(message.type(), message.payload);
  }
}

void Supervisor::reap() {
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid == check_.pid) {
      check_.pid = -1;
      check_ended(WIFEXITED(status) && WEXITSTATUS(status) == 0);
      continue;
    }
    auto it = std::ranges::find(children_, pid, &Child::pid);
    if (it != children_.end()) child_ended(*it, status);
  }
}

void Supervisor::report_death(const Child &child, int status) {
  bool expected = child.state == ChildState::Draining || child.state == ChildState::Ending || ending_ != Ending::No;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && expected) return;
  if (child.state == ChildState::Ending && WIFSIGNALED(status)) return; // our own doing
  std::string who = std::string(child.generation == current_ ? "Current " : "Former ") + std::string(kind_name(child.kind)) + " " +
                    (child.kind == ChildKind::Worker ? std::to_string(child.index) + " " : "") + "(" + std::to_string(child.pid) + ")";
  std::string how = WIFSIGNALED(status) ? " was killed by " + signal_text(WTERMSIG(status))
                                        : " exited with code " + std::to_string(WEXITSTATUS(status));
  say(Severity::Alert, who + how + (board_ ? last_words(board_->cells[child.slot % board_cells]) : "") + ".");
}

void Supervisor::child_ended(Child &child, int status) {
  report_death(child, status);
  if (child.fd >= 0) loop_.remove(child);
  bool worker = child.kind == ChildKind::Worker;
  if (worker) tables_.fold_slot(child.slot);
  if (worker && service_) service_->fold_slot(child.slot); // the slot is free from here on
  bool of_current = child.generation == current_ && child.state != ChildState::Ending && ending_ == Ending::No;
  bool of_starting = starting_ && child.generation == starting_;
  u32 index = child.index, slot = child.slot;
  bool quick = loop_.now() - child.started < quick_death;
  ChildKind kind = child.kind;
  child.fd = -1; // an event of this turn may still hold it
  auto it = std::ranges::find_if(children_, [&child](const Child &c) { return &c == &child; });
  buried_.splice(buried_.end(), children_, it);

  if (worker)
    for (Child &c : children_)
      if (c.kind == ChildKind::Control && c.generation == current_) c.channel.send_numbers(MessageType::ChildDied, {{slot}});
  if (of_starting) {
    abort_generation("a process of it ended");
  } else if (of_current && !starting_) {
    if (worker) select_living();
    u32 place = kind == ChildKind::Control ? 0 : index + 1;
    if (quick_deaths_.size() <= place) quick_deaths_.resize(place + 1);
    quick_deaths_[place] = quick ? quick_deaths_[place] + 1 : 0;
    // The first replacement comes at once: a single crash costs its own connections and no time.
    Millis delay = quick_deaths_[place] < 2 ? 0 : std::min(longest_backoff, first_backoff << std::min(quick_deaths_[place] - 2, 10u));
    respawns_.push_back({place, loop_.now() + delay});
  }
  finish_if_done();
}

void Supervisor::end_child(Child &child, Millis patience) {
  child.state = ChildState::Ending;
  child.end_by = loop_.now() + patience;
  child.channel.send(MessageType::Quit);
  kill(child.pid, SIGTERM);
}

void Supervisor::drain(Child &child) {
  if (child.state == ChildState::Draining || child.state == ChildState::Ending) return;
  child.state = ChildState::Draining;
  child.channel.send(MessageType::Drain);
  child.end_by = after(loop_.now(), child.hard_stop_after);
}

bool Supervisor::any_left(ChildKind kind) const {
  return std::ranges::any_of(children_, [kind](const Child &c) { return c.kind == kind; });
}

// -------------------------------------------------------------------------------------------- the end

void Supervisor::soft_stop() {
  if (ending_ == Ending::Soft || ending_ == Ending::Now) return;
  if (phase_ == Phase::Starting || phase_ == Phase::Committing) { // its processes know their sockets only when it serves
    stop_when_settled_ = true;
    return;
  }
  if (ending_ == Ending::No) {
    notify_stopping("Finishing what is under way");
    if (config_ && config_->global.grace > 0) {
      ending_ = Ending::Grace;
      grace_until_ = loop_.now() + config_->global.grace;
      return;
    }
  }
  ending_ = Ending::Soft;
  constexpr u32 first[] = {0};
  if (takeover_->copied()) listeners_.select(first);
  for (SocketGroup &g : listeners_.groups()) g.bind = nullptr;
  for (Child &child : children_)
    if (child.kind == ChildKind::Worker) drain(child);
  // Nobody but us polls a listening socket any more: refuse new connections, let those under way in.
  retiring_ = listeners_.all_ids();
  bool polled_elsewhere = takeover_->taken() && !takeover_->copied();
  if (!takeover_->taken()) listeners_.refuse_new(retiring_);
  retire_at_ = loop_.now() + (polled_elsewhere ? 0 : retire_grace);
  finish_if_done();
}

void Supervisor::stop_now(int signal) {
  if (ending_ == Ending::Now) return;
  if (ending_ == Ending::No) notify_stopping("Stopping");
  ending_ = Ending::Now;
  end_signal_ = signal;
  if (check_.pid > 0) kill(check_.pid, SIGKILL);
  for (Child &child : children_) end_child(child, kill_after);
}

/// Control outlives the workers, so that the runtime socket answers to the end.
void Supervisor::finish_if_done() {
  if (ending_ == Ending::No || any_left(ChildKind::Worker)) return;
  for (Child &child : children_)
    if (child.state != ChildState::Ending) end_child(child, kill_after);
}

int Supervisor::leave() {
  listeners_.close_all(!takeover_->taken());
  cli_->close_all();
  if (in_master_mode()) {
    if (started_once_) say(Severity::Warning, "All workers are gone. Leaving with status " + std::to_string(end_signal_ ? 128 + end_signal_ : exit_status_) + ".");
    return end_signal_ ? 128 + end_signal_ : exit_status_;
  }
  if (end_signal_) { // a plain process dies of the signal that it got
    signal(end_signal_, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    raise(end_signal_);
    sigprocmask(SIG_SETMASK, &none, nullptr);
  }
  return exit_status_;
}

} // namespace penstock
