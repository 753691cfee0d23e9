// SPDX-License-Identifier: BSD-2-Clause
#include "worker/check/external.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

namespace penstock {

ExternalRun::ExternalRun(Loop &loop, const Server &s, const CheckSettings &settings, bool keep_environment)
    : server(s), loop_(loop), settings_(settings), keep_environment_(keep_environment) {
  io_.run = this;
  io_.on_event = [](IoHandle &h, u32) { static_cast<Io &>(h).run->reap(false); };
  clock_.run = this;
  clock_.on_expire = [](Timer &t) { static_cast<Clock &>(t).run->reap(true); };
}

ExternalRun::~ExternalRun() { cancel(); }

static std::string port_text(const Address &a) { return a.is_inet() ? std::to_string(a.port) : std::string(); }
static std::string host_text(const Address &a) { return a.is_inet() ? a.ip.text() : a.path; }

void ExternalRun::start(const Address &target, u32 current_connections, Millis limit) {
  started_us_ = monotonic_us();
  const Proxy &p = *server.proxy;
  Address front;
  if (!p.binds.empty()) front = p.binds.front()->address;
  std::vector<std::string> arguments = {settings_.external_command, front ? host_text(front) : "NOT_USED",
                                        front.is_inet() ? port_text(front) : "NOT_USED", host_text(target),
                                        target.is_inet() ? port_text(target) : "NOT_USED"};
  std::vector<std::string> environment = {
      "PATH=" + settings_.external_path, // empty unless `external-check path` was given, as the manual says
      "HAPROXY_PROXY_NAME=" + p.name,
      "HAPROXY_PROXY_ID=" + std::to_string(p.id),
      "HAPROXY_PROXY_ADDR=" + (front ? host_text(front) : std::string()),
      "HAPROXY_PROXY_PORT=" + port_text(front),
      "HAPROXY_SERVER_NAME=" + server.name,
      "HAPROXY_SERVER_ID=" + std::to_string(server.id),
      "HAPROXY_SERVER_ADDR=" + host_text(target),
      "HAPROXY_SERVER_PORT=" + port_text(target),
      "HAPROXY_SERVER_MAXCONN=" + std::to_string(server.options->maxconn),
      "HAPROXY_SERVER_CURCONN=" + std::to_string(current_connections),
      "HAPROXY_SERVER_SSL=0",
      std::string("HAPROXY_SERVER_PROTO=") + (p.mode == Mode::Http ? "h1" : "tcp"),
  };
  if (keep_environment_) {
    if (settings_.external_path.empty()) environment.erase(environment.begin());
    for (char **e = environ; *e != nullptr; e++) {
      string_view line = *e, name = line.substr(0, line.find('=') + 1);
      if (std::none_of(environment.begin(), environment.end(), [&](const std::string &own) { return own.starts_with(name); })) environment.emplace_back(line);
    }
  }
  std::vector<char *> argv, envp;
  for (auto &a : arguments) argv.push_back(a.data());
  for (auto &e : environment) envp.push_back(e.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigfillset(&defaults);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0); // so that a timeout ends what the program started, too
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  pid_t pid = 0;
  int error = posix_spawn(&pid, settings_.external_command.c_str(), nullptr, &attributes, argv.data(), envp.data());
  posix_spawnattr_destroy(&attributes);
  if (error) return finish(CheckStatus::SocketError, strerror(error), 0);
  pid_ = pid;
  io_.fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (io_.fd < 0) return cancel(), finish(CheckStatus::SocketError, strerror(errno), 0);
  loop_.add_level(io_, io_readable);
  loop_.set_timer(clock_, loop_.now() + limit);
}

void ExternalRun::cancel() {
  loop_.cancel(clock_);
  if (io_.fd >= 0) {
    loop_.remove(io_);
    close(io_.fd);
    io_.fd = -1;
  }
  if (pid_ <= 0) return;
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

void ExternalRun::reap(bool timed_out) {
  if (timed_out) return cancel(), finish(CheckStatus::ProcessTimeout, {}, 0);
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return;
  pid_ = 0;
  cancel();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return finish(CheckStatus::ProcessOk, {}, 0);
  if (WIFSIGNALED(status)) return finish(CheckStatus::ProcessError, std::string("killed by signal ") + std::to_string(WTERMSIG(status)), 0);
  finish(CheckStatus::ProcessError, {}, static_cast<u16>(WEXITSTATUS(status)));
}

void ExternalRun::finish(CheckStatus status, std::string info, u16 code) {
  result.status = status;
  result.info = std::move(info);
  result.code = code;
  result.duration_ms = static_cast<u32>((monotonic_us() - started_us_) / 1000);
  on_done(*this, owner);
}

} // namespace penstock
