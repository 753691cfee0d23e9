// SPDX-License-Identifier: BSD-2-Clause
#include "worker/cli/cli_session.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <unordered_map>

namespace penstock {

namespace {

/// Living conversations; one process, one thread.
std::unordered_map<u64, CliSession *> sessions;
u64 last_number = 0;

constexpr size_t output_limit = 16384; // no further piece is made before this much is sent
constexpr size_t payload_limit = 1 << 20;

} // namespace

CliSession *CliSession::find(u64 number) {
  auto it = sessions.find(number);
  return it == sessions.end() ? nullptr : it->second;
}

namespace {
struct SeverityWord {
  string_view word;
  CliSession::Severity severity;
};
constexpr SeverityWord severity_words[] = {{"none", CliSession::Severity::None}, {"number", CliSession::Severity::Number}, {"string", CliSession::Severity::String}};
} // namespace

CliSession::CliSession(Control &control, int fd, CliLevel l, const Bind *socket) : level(l), control_(control), socket_(socket), number_(++last_number) {
  for (const SeverityWord &w : severity_words)
    if (socket != nullptr && socket->severity_output == w.word) severity = w.severity;
  timeout_ = control.config->global.stats_timeout;
  io_.session = clock_.session = turn_.session = burial_.session = this;
  io_.fd = fd;
  io_.on_event = on_io;
  clock_.on_expire = [](Timer &t) { static_cast<Clock &>(t).session->end(); };
  turn_.run = [](Deferred &d) { static_cast<Turn &>(d).session->work(); };
  burial_.run = [](Deferred &d) {
    CliSession &s = *static_cast<Turn &>(d).session;
    if (s.turn_.queued) s.control_.loop.bury(d); // runs once more
    else delete &s;
  };
  sessions[number_] = this;
  control_.conversations++;
  control_.loop.add_level(io_, io_readable);
  control_.loop.set_timer(clock_, after(control_.loop.now(), timeout_));
}

CliSession::~CliSession() {
  answer_.reset();
  control_.conversations--;
  control_.conversation_ended();
}

int CliSession::release() {
  int fd = io_.fd;
  control_.loop.remove(io_);
  io_.fd = -1;
  end();
  return fd;
}

void CliSession::end() {
  if (dead_) return;
  dead_ = true;
  sessions.erase(number_);
  control_.loop.cancel(clock_);
  if (io_.fd >= 0) {
    control_.loop.remove(io_);
    close(io_.fd);
  }
  control_.loop.bury(burial_);
}

void CliSession::on_io(IoHandle &self, u32 events) {
  CliSession &s = *static_cast<Io &>(self).session;
  if (s.dead_) return;
  if (events & (io_hangup | io_error) && s.answering_) return s.end(); // nobody reads the answer
  if (events & (io_readable | io_hangup | io_error)) s.read_some();
  if (!s.dead_) s.work();
}

void CliSession::read_some() {
  bool any_key = answer_ && answer_->ends_at_input();
  if ((answering_ && !any_key) || input_ended_) return;
  char buffer[4096];
  ssize_t n = recv(io_.fd, buffer, sizeof buffer, MSG_DONTWAIT);
  if (any_key && n >= 0) {
    answer_.reset();
    out_ += '\n';
    input_ended_ = n == 0;
    control_.loop.set_timer(clock_, after(control_.loop.now(), timeout_));
    return;
  }
  if (n > 0) {
    in_.append(buffer, static_cast<size_t>(n));
    control_.loop.set_timer(clock_, after(control_.loop.now(), timeout_));
  } else if (n == 0) {
    input_ended_ = true;
  } else if (errno != EAGAIN && errno != EINTR) {
    end();
  }
}

bool CliSession::add_payload(string_view line) {
  if (line != line_.payload_end) {
    if (payload_.size() + line.size() < payload_limit) (payload_ += line) += '\n';
    else payload_cut_ = true;
    return false;
  }
  in_payload_ = false;
  return true;
}

bool CliSession::take_line() {
  size_t limit = control_.config->global.tune.bufsize;
  while (true) {
    size_t newline = in_.find('\n');
    if (newline == std::string::npos) {
      if (in_.size() >= limit) {
        out_ += "The command line is longer than a buffer (tune.bufsize).\n";
        ending_ = true;
      }
      if (!input_ended_ || in_.empty() || ending_) return false;
      newline = in_.size();
      in_ += '\n'; // the last line of a client that shut its side
    }
    std::string line = in_.substr(0, newline);
    in_.erase(0, newline + 1);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (in_payload_) {
      if (add_payload(line)) return true;
      continue;
    }
    line_ = parse_cli_line(line);
    command_ = 0;
    payload_.clear();
    payload_cut_ = false;
    in_payload_ = line_.payload;
    if (!in_payload_) return true;
    if (mode == Mode::Prompt) out_ += "+ ";
  }
}

void CliSession::run_next() {
  const std::vector<std::string> &words = line_.commands[command_++];
  bool last = command_ == line_.commands.size();
  size_t length = 0;
  const CliCommand *command = find_command(words, length);
  CliCall call{control_, *this, words, length, last ? string_view(payload_) : string_view(), out_, {}};
  if (!command) explain_unknown(out_, level, words);
  else if (command->level > level) call.fail("Permission denied");
  else if (last && payload_cut_) call.fail("The payload is longer than 1 MB: send it in pieces.");
  else command->run(call);
  answer_ = std::move(call.answer);
  if (!answer_ && !ending_ && !dead_) out_ += '\n';
}

void CliSession::say_prompt() {
  if (mode != Mode::Prompt || ending_) return;
  if (timed_prompt) {
    i64 up = std::max<i64>(0, control_.loop.wall_now_us() / 1'000'000 - control_.service->row().started_wall_s.load());
    char text[48];
    out_.append(text, static_cast<size_t>(std::snprintf(text, sizeof text, "[%d:%02d:%02d:%02d]", static_cast<int>(up / 86400),
                                                        static_cast<int>(up / 3600 % 24), static_cast<int>(up / 60 % 60), static_cast<int>(up % 60))));
  }
  out_ += "> ";
}

void CliSession::work() {
  while (!dead_) {
    if (out_.size() - sent_ >= output_limit && !write_some()) return watch();
    if (answer_) {
      CliAnswer::More more = answer_->next(out_);
      if (more == CliAnswer::More::Yes) continue;
      if (more == CliAnswer::More::Later) { // it is being worked at: the client is not idle
        control_.loop.set_timer(clock_, after(control_.loop.now(), timeout_));
        break;
      }
      answer_.reset();
      out_ += '\n';
    } else if (answering_ && !ending_ && command_ < line_.commands.size()) {
      run_next();
    } else if (answering_) {
      answering_ = false;
      if (mode == Mode::Single) ending_ = true;
      say_prompt();
    } else if (!ending_ && take_line()) {
      answering_ = true;
      if (line_.commands.empty()) out_ += '\n';
    } else {
      break;
    }
  }
  if (dead_ || !write_some()) return watch();
  if (!answer_ && (ending_ || input_ended_)) return end();
  watch();
}

bool CliSession::write_some() {
  while (sent_ < out_.size()) {
    ssize_t n = send(io_.fd, out_.data() + sent_, out_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) end();
      return false;
    }
    sent_ += static_cast<size_t>(n);
    control_.loop.set_timer(clock_, after(control_.loop.now(), timeout_));
  }
  out_.clear();
  sent_ = 0;
  return true;
}

void CliSession::watch() {
  if (dead_) return;
  u32 wanted = sent_ < out_.size() ? io_writable : 0u;
  bool any_key = answer_ && answer_->ends_at_input();
  if ((!answering_ && !answer_ && !input_ended_ && !ending_) || any_key) wanted |= io_readable;
  if (any_key) control_.loop.cancel(clock_); // it waits for the world, not for the client
  control_.loop.change(io_, wanted, false);
}

void CliCall::say(LogLevel level, string_view text) {
  switch (session.severity) {
    case CliSession::Severity::Number: (out += '[') += static_cast<char>('0' + static_cast<u8>(level)), out += "]: "; break;
    case CliSession::Severity::String: ((out += '[') += log_level_name(level)) += "]: "; break;
    case CliSession::Severity::None: break;
  }
  out += text;
  if (!text.ends_with('\n')) out += '\n';
}

} // namespace penstock
