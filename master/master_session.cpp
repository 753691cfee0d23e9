// SPDX-License-Identifier: BSD-2-Clause
#include "master/master_session.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "master/master_cli.h"
#include "master/master_commands.h"
#include "master/supervise.h"
#include "shared/base/text.h"

namespace penstock {
namespace {

constexpr size_t longest_line = 65536;
constexpr size_t out_high_water = 1 << 20; // a client that does not read pauses what feeds it

/// Cuts at ';', but not at "\;", which stays as it is: the target unescapes.
std::deque<std::string> cut_commands(string_view line) {
  std::deque<std::string> out(1);
  for (size_t i = 0; i < line.size(); i++) {
    if (line[i] == '\\' && i + 1 < line.size()) {
      out.back() += line[i++];
      out.back() += line[i];
    } else if (line[i] == ';') {
      out.emplace_back();
    } else {
      out.back() += line[i];
    }
  }
  return out;
}

} // namespace

MasterSession::MasterSession(MasterCli &cli, int fd, Bind::Level l) : level(l), cli_(cli) {
  client_.session = target_.session = this;
  client_.fd = fd;
  client_.on_event = [](IoHandle &h, u32 e) { static_cast<Io &>(h).session->on_client(e); };
  target_.on_event = [](IoHandle &h, u32 e) { static_cast<Io &>(h).session->on_target(e); };
  cli_.supervisor().loop().add_level(client_, io_readable);
}

MasterSession::~MasterSession() {
  // Removed, not merely closed: a child that was just forked may hold copies for a moment.
  Loop &loop = cli_.supervisor().loop();
  if (target_.fd >= 0) {
    loop.remove(target_);
    ::close(target_.fd);
  }
  if (given_ || client_.fd < 0) return;
  loop.remove(client_);
  ::close(client_.fd);
}

void MasterSession::close_in_child() {
  for (Io *io : {&client_, &target_})
    if (io->fd >= 0) ::close(std::exchange(io->fd, -1));
}

int MasterSession::give_away() {
  given_ = closing_ = true;
  if (!out_.empty()) send(client_.fd, out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL); // what came before
  cli_.supervisor().loop().remove(client_);
  return client_.fd;
}

// ---------------------------------------------------------------------------------------- the client

void MasterSession::on_client(u32 events) {
  if (events & (io_readable | io_hangup | io_error)) {
    char buffer[8192];
    ssize_t n;
    while ((n = recv(client_.fd, buffer, sizeof buffer, MSG_DONTWAIT)) > 0) in_.append(buffer, static_cast<size_t>(n));
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) input_ended_ = true;
    if (n < 0 && errno != EAGAIN && errno != EINTR) closing_ = true, out_.clear();
    take_lines();
  }
  proceed();
}

/// One line is taken at a time: what it asks for is answered before the next one is looked at.
void MasterSession::take_lines() {
  if (!commands_.empty() || target_.fd >= 0 || closing_) return;
  size_t end = in_.find('\n');
  if (end == std::string::npos && (!input_ended_ || in_.empty())) {
    if (in_.size() > longest_line) closing_ = true;
    return;
  }
  std::string line = in_.substr(0, end);
  // A payload goes with its command: up to an empty line.
  if (line.ends_with(" <<") || line.find(" <<") != std::string::npos) {
    size_t empty = in_.find("\n\n");
    if (empty == std::string::npos && !input_ended_) return;
    line = in_.substr(0, empty == std::string::npos ? in_.size() : empty + 1);
    in_.erase(0, empty == std::string::npos ? in_.size() : empty + 2);
    commands_ = {line};
  } else {
    in_.erase(0, end == std::string::npos ? in_.size() : end + 1);
    commands_ = cut_commands(line);
  }
  line_taken_ = true;
}

void MasterSession::proceed() {
  while (target_.fd < 0 && !closing_) {
    if (commands_.empty()) take_lines();
    if (commands_.empty()) break;
    std::string command = std::move(commands_.front());
    commands_.pop_front();
    run(std::move(command));
    if (target_.fd >= 0 || given_) break;
    if (commands_.empty()) {
      if (prompt == Prompt::None) closing_ = true;
      else show_prompt();
    }
  }
  if (given_) return cli_.bury(*this);
  if (input_ended_ && commands_.empty() && target_.fd < 0 && in_.empty()) closing_ = true;
  flush();
}

void MasterSession::show_prompt() {
  if (prompt == Prompt::Shown) out_ += "\n" + (prefix.empty() ? "master" : prefix.substr(1)) + "> ";
}

void MasterSession::flush() {
  Loop &loop = cli_.supervisor().loop();
  while (!out_.empty()) {
    ssize_t n = send(client_.fd, out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) {
      out_.erase(0, static_cast<size_t>(n));
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    return cli_.bury(*this); // nobody listens any more
  }
  if (out_.empty() && closing_ && target_.fd < 0) return cli_.bury(*this);
  loop.change(client_, (out_.empty() ? 0u : io_writable) | (input_ended_ ? 0u : io_readable), false);
  if (target_.fd >= 0) loop.change(target_, (to_target_.empty() ? 0u : io_writable) | (out_.size() < out_high_water ? io_readable : 0u), false);
}

// --------------------------------------------------------------------------------------- one command

void MasterSession::run(std::string command) {
  string_view text = trim(command);
  std::string target = prefix;
  if (text.starts_with('@')) {
    size_t end = text.find_first_of(" \t");
    target = std::string(text.substr(0, end));
    text = end == string_view::npos ? string_view() : trim(text.substr(end));
    if (target == "@master") target.clear();
    if (text.empty()) {
      prefix = target;
      return;
    }
  }
  if (target.empty()) return run_here(text);
  Child *child = find_target(cli_.supervisor(), target);
  if (!child) return print("Can't find the target PID matching the prefix '" + target + "'\n");
  forward(*child, std::string(text));
}

void MasterSession::run_here(string_view command) {
  if (!command.empty()) run_master_command(*this, command);
}

/// The target gets one end of a pair as if a client had connected to its runtime socket.
void MasterSession::forward(Child &child, const std::string &command) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0) return print("No descriptor for this now.\n");
  u32 as = level;
  bool sent = child.channel.send(MessageType::CliConnection, {reinterpret_cast<const char *>(&as), sizeof as}, {{ends[1]}});
  ::close(ends[1]);
  if (!sent) {
    ::close(ends[0]);
    return print("The process does not answer.\n");
  }
  target_.fd = ends[0];
  to_target_ = command + "\n";
  if (command.find('\n') != std::string::npos) to_target_ += "\n"; // the end of a payload
  cli_.supervisor().loop().add_level(target_, io_readable | io_writable);
}

void MasterSession::on_target(u32 events) {
  if (events & io_writable && !to_target_.empty()) {
    ssize_t n = send(target_.fd, to_target_.data(), to_target_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) to_target_.erase(0, static_cast<size_t>(n));
    if (to_target_.empty()) shutdown(target_.fd, SHUT_WR);
  }
  if (events & (io_readable | io_hangup | io_error)) {
    char buffer[16384];
    ssize_t n = recv(target_.fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n > 0) out_.append(buffer, static_cast<size_t>(n));
    else if (n == 0 || errno != EAGAIN) end_forward();
  }
  proceed();
}

void MasterSession::end_forward() {
  cli_.supervisor().loop().remove(target_);
  ::close(std::exchange(target_.fd, -1));
  to_target_.clear();
  if (!commands_.empty()) return;
  if (prompt == Prompt::None) closing_ = true;
  else show_prompt();
}

} // namespace penstock
