// SPDX-License-Identifier: BSD-2-Clause
#include "master/master_cli.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>

#include "master/bind_sockets.h"
#include "master/config/kw_proxy.h"
#include "master/config/parser.h"
#include "master/master_session.h"
#include "master/messages.h"
#include "master/supervise.h"
#include "shared/base/text.h"

namespace penstock {
namespace {

constexpr int backlog = 64;

/// "ADDR,option,value…" read as a `stats socket` line would be.
bool parse_where(const std::string &where, Bind &bind) {
  std::vector<Word> list;
  for (string_view w : split(where, ',')) list.push_back({std::string(w), 0});
  Diagnostics diags;
  Config scratch;
  Words words(std::move(list), Place{"-S", 0, 0}, diags);
  LineContext ctx{.words = words, .config = scratch, .section = in_global};
  AddressWord address;
  bool good = parse_address(words, {.port_required = true, .fd = true}, address);
  bind.place = Place{"-S", 0, 0};
  bind.level = Bind::Admin;
  bind.address = address.address;
  bind.inherited_fd = address.fd;
  good = good && parse_line_options(ctx, bind_option_index(), &bind);
  say_all(diags);
  return good && !diags.failed();
}

} // namespace

MasterCli::MasterCli(Supervisor &supervisor) : supervisor_(supervisor) {
  io_.cli = this;
  io_.on_event = [](IoHandle &h, u32) { static_cast<Io &>(h).cli->accept(); };
}
MasterCli::~MasterCli() = default;

bool MasterCli::open(const std::string &where, const Global &global) {
  if (where.empty()) return true;
  Bind bind;
  if (!parse_where(where, bind)) return false;
  level_ = bind.level;
  std::string key = socket_key(bind, global);
  bool adopted = io_.fd >= 0 && key == key_;
  if (!adopted) {
    if (io_.fd >= 0) ::close(std::exchange(io_.fd, -1));
    std::string error;
    int fd = bind.inherited_fd >= 0 ? adopt_socket(bind, error) : make_socket(bind, global, error);
    if (fd < 0 || ::listen(fd, backlog) < 0) {
      say(Severity::Alert, "cannot listen on the master socket " + where + ": " + (error.empty() ? strerror(errno) : error));
      return false;
    }
    io_.fd = fd;
    key_ = key;
  }
  if (!io_.armed) supervisor_.loop().add_level(io_, io_readable);
  return true;
}

void MasterCli::adopt(int fd, const std::string &key) {
  if (fd < 0) return;
  io_.fd = fd;
  key_ = key;
  supervisor_.loop().add_level(io_, io_readable);
}

void MasterCli::accept() {
  for (;;) {
    int fd = accept4(io_.fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    sessions_.push_back(std::make_unique<MasterSession>(*this, fd, level_));
  }
}

void MasterCli::answer_asker(int fd, bool success, const std::string &messages) {
  std::string answer = std::string("Success=") + (success ? "1" : "0") + "\n--\n" + messages;
  if (!answer.ends_with('\n')) answer += '\n';
  // The answer is short against a socket's buffer; a client that does not read loses the rest of it.
  for (size_t at = 0; at < answer.size();) {
    ssize_t n = send(fd, answer.data() + at, answer.size() - at, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n <= 0) break;
    at += static_cast<size_t>(n);
  }
  ::close(fd);
}

void MasterCli::bury(MasterSession &session) {
  struct Burial : Deferred {
    MasterCli *cli;
    MasterSession *session;
  };
  auto *burial = new Burial;
  burial->cli = this;
  burial->session = &session;
  burial->run = [](Deferred &d) {
    auto &b = static_cast<Burial &>(d);
    std::erase_if(b.cli->sessions_, [&b](const auto &s) { return s.get() == b.session; });
    delete &b;
  };
  supervisor_.loop().bury(*burial);
}

void MasterCli::close_all() {
  sessions_.clear();
  if (io_.fd < 0) return;
  ::close(std::exchange(io_.fd, -1));
}

void MasterCli::close_in_child() {
  for (auto &session : sessions_) session->close_in_child();
  if (io_.fd >= 0) ::close(io_.fd);
}

} // namespace penstock
