// SPDX-License-Identifier: BSD-2-Clause
// A reload as the supervisor does it (design.md, section 3): a child checks the files with the binary
// on disk; then this image is replaced by that binary, which takes the manifest up and starts a new
// generation. Whatever fails, the old generation serves on and whoever asked is told why.
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
#include "shared/base/switches.h"
#include "shared/shm/service.h"

namespace penstock {
namespace {

std::vector<char *> pointers(std::vector<std::string> &strings) {
  std::vector<char *> out;
  for (std::string &s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

[[noreturn]] void execute(const std::string &path, const std::string &directory, std::vector<std::string> arguments, std::vector<std::string> environment) {
  if (!directory.empty() && chdir(directory.c_str()) < 0) _exit(127);
  execve(path.c_str(), pointers(arguments).data(), pointers(environment).data());
  dprintf(STDERR_FILENO, "[ALERT]    (%d) : cannot execute %s: %s\n", getpid(), path.c_str(), strerror(errno));
  _exit(127);
}

} // namespace

void Supervisor::reload(int asker, bool hard) {
  if (ending_ != Ending::No || (phase_ != Phase::Idle && !current_)) {
    if (asker >= 0) cli_->answer_asker(asker, false, "penstock is starting or stopping.\n");
    return;
  }
  if (phase_ != Phase::Idle) { // one more after this one
    reload_again_ = true;
    if (asker >= 0) next_askers_.push_back(asker);
    return;
  }
  hard_reload_ = hard;
  if (asker >= 0) askers_.push_back(asker);
  notify_reloading("Reloading the configuration");
  start_check();
}

void Supervisor::start_check() {
  phase_ = Phase::Checking;
  say(Severity::Notice, "Reloading: checking the configuration.");
  int ends[2];
  pid_t pid = pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0 ? fork() : -1;
  if (pid == 0) {
    dup2(ends[1], STDERR_FILENO);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(null, STDOUT_FILENO);
    fcntl(STDERR_FILENO, F_SETFL, 0); // the writer may block, the reader never
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    auto environment = invocation_.environment;
    environment.push_back(std::string(trial_variable) + "=1");
    execute(invocation_.executable, invocation_.directory, reload_arguments(invocation_.arguments, true), std::move(environment));
  }
  if (pid < 0) {
    clear_startup_log();
    say(Severity::Alert, std::string("Reload failed: cannot start the check: ") + strerror(errno));
    return reload_done(false);
  }
  close(ends[1]);
  check_.supervisor = this;
  check_.pid = pid;
  check_.output.clear();
  check_.fd = ends[0];
  check_.on_event = [](IoHandle &h, u32) {
    CheckIo &check = static_cast<CheckIo &>(h);
    char buffer[4096];
    ssize_t n;
    while ((n = read(check.fd, buffer, sizeof buffer)) > 0) check.output.append(buffer, static_cast<size_t>(n));
    if (n == 0) check.supervisor->loop_.remove(check);
  };
  loop_.add_level(check_, io_readable);
}

void Supervisor::check_ended(bool good) {
  if (check_.fd >= 0) {
    check_.on_event(check_, io_readable); // what is left
    loop_.remove(check_);
    close(std::exchange(check_.fd, -1));
  }
  if (ending_ != Ending::No) return reload_done(false);
  if (good) return execute_anew();
  if (!switches.quiet && write(STDERR_FILENO, check_.output.data(), check_.output.size()) < 0) return reload_done(false);
  restore_startup_log(check_.output);
  say(Severity::Alert, "Reload failed: the new configuration can't be used. The old one serves on.");
  reload_done(false);
}

Manifest Supervisor::manifest() {
  Manifest m;
  m.generation = current_;
  m.workers = workers_;
  m.reloads = reloads_;
  m.failed_reloads = failed_reloads_;
  m.started_s = started_s_;
  m.hard = hard_reload_;
  m.askers = askers_;
  m.askers.insert(m.askers.end(), next_askers_.begin(), next_askers_.end()); // the files are read again: served as well
  if (service_) m.service = service_->descriptors();
  bool old_ones = std::ranges::any_of(children_, [this](const Child &c) { return c.generation != current_; });
  if (!old_ones) tables_.forget_old();
  m.tables = tables_.descriptors();
  m.rings = rings_.descriptors();
  m.board = {board_fd_};
  m.master_socket = cli_->listener();
  m.master_socket_key = cli_->key();
  for (const Child &c : children_)
    m.children.push_back({c.kind == ChildKind::Control, c.state >= ChildState::Draining, c.pid, c.generation, c.slot, c.index, c.born_at_reload,
                          c.started_s, c.end_by, c.hard_stop_after, c.channel.fd(), c.version});
  for (const SocketGroup &g : listeners_.groups()) m.groups.push_back({g.id, g.shared, g.inherited, g.foreign, g.stream, g.selected, g.fds, g.key});
  return m;
}

void Supervisor::execute_anew() {
  if (!retiring_.empty()) retire_addresses(); // nobody would remember their grace
  Manifest m = manifest();
  int fd = write_manifest(m);
  auto descriptors = m.descriptors();
  for (int d : descriptors) fcntl(d, F_SETFD, 0);
  auto arguments = reload_arguments(invocation_.arguments, false);
  auto environment = invocation_.environment;
  environment.push_back(std::string(manifest_variable) + "=" + std::to_string(fd));
  if (fd >= 0 && (invocation_.directory.empty() || chdir(invocation_.directory.c_str()) == 0))
    execve(invocation_.executable.c_str(), pointers(arguments).data(), pointers(environment).data());
  clear_startup_log();
  say(Severity::Alert, "Reload failed: cannot execute " + invocation_.executable + ": " + strerror(errno));
  for (int d : descriptors) fcntl(d, F_SETFD, FD_CLOEXEC);
  if (fd >= 0) close(fd);
  reload_done(false);
}

void Supervisor::take_up(Manifest m, std::unique_ptr<Config> config) {
  current_ = m.generation;
  workers_ = m.workers;
  reloads_ = m.reloads + 1;
  failed_reloads_ = m.failed_reloads;
  started_s_ = m.started_s;
  hard_reload_ = m.hard;
  started_once_ = true;
  askers_ = m.askers;
  std::string error;
  service_ = Service::attach(m.service, error);
  tables_.attach(m.tables);
  rings_.attach(m.rings);
  if (!m.board.empty()) board_ = map_board(board_fd_ = m.board[0]);
  for (ManifestGroup &g : m.groups)
    listeners_.add({.id = g.id, .key = g.key, .fds = g.fds, .listening = static_cast<u32>(g.fds.size()), .shared = g.shared, .inherited = g.inherited,
                    .foreign = g.foreign, .stream = g.stream, .selected = g.selected});
  for (const ManifestChild &c : m.children) {
    Child &child = children_.emplace_back();
    child.kind = c.control ? ChildKind::Control : ChildKind::Worker;
    child.state = c.draining ? ChildState::Draining : ChildState::Polling;
    child.pid = c.pid;
    child.generation = c.generation;
    child.slot = c.slot;
    child.index = c.index;
    child.born_at_reload = c.born_at_reload;
    child.started_s = c.started_s;
    child.end_by = c.end_by;
    child.hard_stop_after = c.hard_stop_after;
    child.version = c.version;
    child.channel = Channel(c.channel, c.generation);
    watch(child);
  }
  watch_signals();
  cli_->adopt(m.master_socket, m.master_socket_key);
  takeover_->listen();
  bool usable = config != nullptr;
  config_ = std::move(config);
  if (usable && !service_) { // another build's layout: counters and states begin anew
    say(Severity::Notice, "Shared memory is made anew: " + error);
    service_ = Service::create(error);
  }
  if (usable && !board_) board_ = make_board(board_fd_);
  usable = usable && service_ && board_ && service_->assign_rows(*config_, error) && tables_.assign(*config_, error) && rings_.assign(*config_, error);
  u32 workers = usable && config_->global.workers ? config_->global.workers : usable_cpus();
  usable = usable && listeners_.prepare(*config_, workers, false) && cli_->open(invocation_.options.master_socket, config_->global);
  reap(); // children that died while nobody listened
  if (!usable) {
    say(Severity::Alert, "Reload failed: the new configuration can't be used. The old one serves on.");
    config_.reset();
    reloads_--;
    return reload_done(false);
  }
  workers_ = workers;
  start_generation();
}

void Supervisor::reload_done(bool success) {
  phase_ = Phase::Idle;
  failed_reloads_ = success ? 0 : failed_reloads_ + 1;
  if (success) say(Severity::Notice, "Loading success.");
  notify_ready(success ? "Ready." : "The last reload failed; the configuration before it is served.");
  for (int asker : askers_) cli_->answer_asker(asker, success, startup_log());
  askers_ = std::exchange(next_askers_, {});
  if (!std::exchange(reload_again_, false)) return;
  for (int asker : std::exchange(askers_, {})) next_askers_.push_back(asker);
  reload(-1, false);
  askers_.insert(askers_.end(), next_askers_.begin(), next_askers_.end());
  next_askers_.clear();
}

} // namespace penstock
