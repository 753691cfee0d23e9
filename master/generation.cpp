// SPDX-License-Identifier: BSD-2-Clause
// The life of a generation as the supervisor sees it: fork, Ready, commit, Polling, serve; and how the
// one before it is retired (design.md, section 3).
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "master/master_cli.h"
#include "master/messages.h"
#include "master/privileges.h"
#include "master/sd_notify.h"
#include "master/supervise.h"
#include "master/takeover.h"
#include "shared/base/build_info.h"
#include "shared/base/switches.h"
#include "shared/shm/service.h"
#include "worker/check/state_file.h"
#include "worker/control.h"
#include "worker/log/events.h"
#include "worker/panic.h"

namespace penstock {
namespace {

constexpr Millis ready_timeout = 30'000;
constexpr u32 control_cells = board_cells - max_slots;

} // namespace

bool Supervisor::prepare(std::unique_ptr<Config> config) {
  config_ = std::move(config);
  workers_ = config_->global.workers ? config_->global.workers : usable_cpus();
  std::string error;
  service_ = Service::create(error);
  board_ = make_board(board_fd_);
  if (!service_ || !board_ || !service_->assign_rows(*config_, error) || !tables_.assign(*config_, error) || !rings_.assign(*config_, error)) {
    say(Severity::Alert, "cannot make shared memory: " + (error.empty() ? strerror(errno) : error));
    return false;
  }
  Diagnostics notes; // of the saved states: what cannot be used is told, and all begins anew
  load_server_states(*config_, *service_, notes);
  say_all(notes);
  bool replaces = !invocation_.options.finish.empty() || !invocation_.options.terminate.empty();
  takeover_->fetch(invocation_.options, listeners_);
  if (!listeners_.prepare(*config_, workers_, replaces)) {
    say(Severity::Alert, "Some addresses could not be bound. Exiting.");
    return false;
  }
  return cli_->open(invocation_.options.master_socket, config_->global);
}

void Supervisor::start() {
  watch_signals();
  start_generation();
}

// -------------------------------------------------------------------------------------------- forking

Child *Supervisor::spawn(ChildKind kind, u32 generation, u32 index) {
  u32 slot = max_slots + generation % control_cells;
  if (kind == ChildKind::Worker) {
    auto claimed = service_->claim_slot(generation, index);
    if (!claimed) {
      say(Severity::Alert, "no slot for another worker: too many old ones still finish");
      return nullptr;
    }
    slot = *claimed;
  }
  auto [ours, theirs] = Channel::pair(generation);
  Child &child = children_.emplace_back();
  child.kind = kind;
  child.generation = generation;
  child.index = index;
  child.slot = slot;
  child.born_at_reload = reloads_;
  child.started_s = wall_us() / 1'000'000;
  child.started = monotonic_ms();
  child.hard_stop_after = config_->global.hard_stop_after;
  child.version = std::string(product_version);
  pid_t pid = ours.is_open() ? fork() : -1;
  if (pid == 0) {
    ours.close();
    child.channel = std::move(theirs);
    if (kind == ChildKind::Worker) be_worker(child, generation);
    be_control(child, generation);
  }
  if (pid < 0) {
    say(Severity::Alert, std::string("cannot start a process: ") + strerror(errno));
    if (kind == ChildKind::Worker) service_->fold_slot(slot);
    children_.pop_back();
    return nullptr;
  }
  child.pid = pid;
  child.channel = std::move(ours);
  watch(child);
  return &child;
}

/// In the child: lets go of everything that is the master's, then of privileges.
void Supervisor::become_child(Child &me, bool may_fork) {
  pid_t parent = getppid();
  for (Child &other : children_)
    if (&other != &me) other.channel.close(); // else nobody would notice the master's death
  if (signal_io_.fd >= 0) close(signal_io_.fd);
  close(loop_.engine_fd());
  cli_->close_in_child();
  takeover_->close();
  if (invocation_.report_fd >= 0) close(invocation_.report_fd);
  for (int asker : askers_) close(asker); // who waits for the end of a conversation waits for the last copy
  for (int asker : next_askers_) close(asker);
  if (invocation_.options.daemon) {
    int null = open("/dev/null", O_RDWR);
    for (int fd : {0, 1, 2}) dup2(null, fd);
    if (null > 2) close(null);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  panic_install(&board_->cells[me.slot]);
  std::string error;
  if (drop_privileges(config_->global, may_fork, parent, error)) return;
  say(Severity::Alert, error);
  _exit(1);
}

void Supervisor::be_worker(Child &me, u32 generation) {
  WorkerStart start;
  start.config = config_.get();
  start.service = service_.get();
  start.slot = me.slot;
  start.index = me.index;
  start.worker_count = workers_;
  start.generation = generation;
  start.listeners = listeners_.of_worker(me.index, workers_);
  start.log_pid = in_master_mode() ? 0 : getppid();
  listeners_.close_others(start.listeners);
  become_child(me, false);
  pin_worker(config_->global, me.index);
  start.channel_fd = me.channel.release();
  _exit(worker_main(start));
}

void Supervisor::be_control(Child &me, u32 generation) {
  ControlStart start;
  start.config = config_.get();
  start.service = service_.get();
  start.board = board_;
  start.generation = generation;
  start.worker_count = workers_;
  start.listeners = listeners_.of_control();
  start.log_pid = in_master_mode() ? 0 : getppid();
  start.master_pid = getppid();
  start.startup_log = startup_log();
  std::vector<ListenerFd> kept = start.listeners;
  if (std::ranges::any_of(config_->global.stats_sockets, [](const auto &bind) { return bind->expose_fd; })) start.exposed = listeners_.exposed(kept);
  listeners_.close_others(kept);
  become_child(me, config_->global.external_check || switches.insecure_fork);
  start.channel_fd = me.channel.release();
  _exit(control_main(start));
}

/// Place 0 is control, place i+1 is worker i.
void Supervisor::respawn(u32 place) {
  if (ending_ != Ending::No || starting_) return;
  if (!config_) return reload(-1, false); // only the file knows what a new one would have to serve
  bool control = place == 0;
  u32 index = control ? 0 : place - 1;
  if (!control && index >= workers_) return;
  Child *child = spawn(control ? ChildKind::Control : ChildKind::Worker, current_, index);
  if (!child) respawns_.push_back({place, loop_.now() + 1'000});
  else say(Severity::Notice, std::string(control ? "New control" : "New worker " + std::to_string(index)) + " (" + std::to_string(child->pid) + ") started in its place.");
}

// ---------------------------------------------------------------------------------- start and switch

void Supervisor::start_generation() {
  phase_ = Phase::Starting;
  prepare_logging(*config_, product_name);
  set_events_on_stderr(!invocation_.options.daemon && !switches.quiet);
  starting_ = service_->next_generation();
  phase_deadline_ = monotonic_ms() + ready_timeout;
  bool good = spawn(ChildKind::Control, starting_, 0) != nullptr;
  for (u32 i = 0; good && i < workers_; i++) good = spawn(ChildKind::Worker, starting_, i) != nullptr;
  if (!good) abort_generation("it could not be started");
}

void Supervisor::abort_generation(string_view why) {
  if (!starting_) return;
  u32 failed = starting_;
  starting_ = 0;
  phase_ = Phase::Idle;
  phase_deadline_ = never;
  for (Child &child : children_)
    if (child.generation == failed) end_child(child, 0);
  if (!current_) {
    say(Severity::Alert, "The start failed: " + std::string(why) + ".");
    ending_ = Ending::Now;
    exit_status_ = 1;
    return;
  }
  say(Severity::Alert, "The new generation is given up: " + std::string(why) + ". The old one serves on.");
  config_.reset();
  reload_done(false);
  if (std::exchange(stop_when_settled_, false)) soft_stop();
}

void Supervisor::if_all_ready() {
  bool all = std::ranges::all_of(children_, [this](const Child &c) { return c.generation != starting_ || c.state == ChildState::Ready; });
  if (phase_ == Phase::Starting && all) commit();
}

void Supervisor::commit() {
  phase_ = Phase::Committing;
  if (!listeners_.listen_all()) return abort_generation("an address could not be listened to");
  for (Child &child : children_)
    if (child.generation == starting_) child.channel.send(MessageType::Commit);
}

void Supervisor::if_all_polling() {
  bool all = std::ranges::all_of(children_, [this](const Child &c) { return c.generation != starting_ || c.state == ChildState::Polling; });
  if (phase_ == Phase::Committing && all) generation_serves();
}

void Supervisor::generation_serves() {
  phase_ = Phase::Idle;
  phase_deadline_ = never;
  current_ = std::exchange(starting_, 0);
  board_->generation = current_;
  tables_.commit();
  quick_deaths_.clear();
  respawns_.clear();
  select_living();
  retire_old();
  surplus_at_ = listeners_.has_surplus(workers_) ? loop_.now() + adoption_time() : never;
  takeover_->listen();
  if (!started_once_) first_start_done();
  else reload_done(true);
  if (std::exchange(stop_when_settled_, false)) soft_stop();
}

void Supervisor::select_living() {
  std::vector<u32> living;
  for (const Child &c : children_)
    if (c.kind == ChildKind::Worker && c.generation == current_ && c.state == ChildState::Polling) living.push_back(c.index);
  listeners_.select(living);
}

/// The old ones poll no more what the new ones poll; what nobody claims any more they poll for a grace.
void Supervisor::retire_old() {
  std::vector<u32> kept;
  for (const SocketGroup &g : listeners_.groups())
    if (g.bind) kept.push_back(g.id);
  retiring_ = listeners_.unclaimed();
  listeners_.refuse_new(retiring_);
  retire_at_ = monotonic_ms() + (retiring_.empty() ? 0 : retire_grace);
  constexpr size_t chunk = 4096;
  for (Child &child : children_) {
    if (child.generation == current_) continue;
    if (hard_reload_) {
      end_child(child, 3'000);
      continue;
    }
    if (child.state == ChildState::Draining || child.state == ChildState::Ending) continue;
    for (size_t at = 0; at < kept.size(); at += chunk)
      child.channel.send_numbers(MessageType::StopAccepting, std::span(kept).subspan(at, std::min(chunk, kept.size() - at)));
    drain(child);
  }
  hard_reload_ = false;
  enforce_max_reloads();
}

void Supervisor::retire_addresses() {
  retire_at_ = never;
  for (Child &child : children_)
    if (child.state == ChildState::Draining) child.channel.send(MessageType::StopAccepting);
  listeners_.close_groups(retiring_);
  retiring_.clear();
}

/// For how long sockets of removed slots are still polled: until every handshake that began there is through or given
/// up (the kernel tries for about two minutes). PENSTOCK_ADOPTION_MS shortens it for tests.
Millis Supervisor::adoption_time() {
  constexpr Millis usual = 130'000;
  const char *shorter = getenv("PENSTOCK_ADOPTION_MS");
  return shorter != nullptr ? std::min<Millis>(usual, atoi(shorter)) : usual;
}

void Supervisor::leave_adopted() {
  surplus_at_ = never;
  if (phase_ != Phase::Idle || ending_ != Ending::No) return; // the next generation looks for itself
  for (Child &child : children_)
    if (child.kind == ChildKind::Worker && child.generation == current_) child.channel.send(MessageType::LeaveAdopted);
  listeners_.close_surplus(workers_);
}

void Supervisor::enforce_max_reloads() {
  u32 most = config_->global.mworker_max_reloads;
  for (Child &child : children_) {
    if (child.generation == current_ || child.state == ChildState::Ending || reloads_ - child.born_at_reload <= most) continue;
    say(Severity::Warning, "Former worker (" + std::to_string(child.pid) + ") has outlived mworker-max-reloads and is ended.");
    end_child(child, 3'000);
  }
}

void Supervisor::first_start_done() {
  started_once_ = true;
  for (pid_t pid : invocation_.options.finish) kill(pid, SIGUSR1);
  for (pid_t pid : invocation_.options.terminate) kill(pid, SIGTERM);
  if (in_master_mode()) say(Severity::Notice, "Loading success.");
  notify_ready("Ready.");
  if (invocation_.report_fd < 0) return;
  char good = 0;
  if (write(invocation_.report_fd, &good, 1) < 0) say(Severity::Warning, "who started us is gone");
  close(std::exchange(invocation_.report_fd, -1));
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd : {0, 1, 2}) dup2(null, fd);
  close(null);
}

} // namespace penstock
