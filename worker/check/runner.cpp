// SPDX-License-Identifier: BSD-2-Clause
#include "worker/check/runner.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/expr/run.h"
#include "shared/model/proxy.h"
#include "worker/net/proxy_proto.h"
#include "worker/stream/vars.h"

namespace penstock {

static constexpr size_t max_answer = 65536; // bytes of an answer that an expectation may look at

CheckRun::CheckRun(Loop &loop, const CheckPlan &plan_of_backend, const Server &s, CheckHabits habits)
    : plan(plan_of_backend), server(s), loop_(loop), habits_(habits) {
  io_.run = this;
  io_.on_event = on_io;
  clock_.run = this;
  clock_.on_expire = on_clock;
}

CheckRun::~CheckRun() { cancel(); }

EvalContext CheckRun::context() {
  EvalContext ctx{.scratch = arena};
  ctx.check = this;
  ctx.check_vars = &vars, ctx.check_arena = &arena;
  ctx.check_vars_bytes = &vars_bytes, ctx.check_vars_limit = habits_.max_vars_bytes;
  ctx.proxy = server.proxy;
  ctx.phase = Phase::Check;
  return ctx;
}

void CheckRun::start(const CheckTarget &target, Millis connect_limit, Millis total_limit) {
  cancel();
  target_ = target;
  connect_limit_ = connect_limit;
  total_limit_ = total_limit;
  started_us_ = monotonic_us();
  step_ = 0;
  in_.clear();
  last_ = {};
  arena.reset();
  vars = nullptr;
  vars_bytes = 0;
  running_ = true;
  prepared_ = peer_closed_ = false;
  loop_.set_timer(clock_, loop_.now() + connect_limit);
  advance();
}

void CheckRun::cancel() {
  running_ = false;
  loop_.cancel(clock_);
  close_socket();
}

void CheckRun::close_socket() {
  if (io_.fd < 0) return;
  loop_.remove(io_);
  // A check that leaves no TIME_WAIT behind: tens of thousands an hour add up.
  linger reset{1, 0};
  setsockopt(io_.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  close(io_.fd);
  io_.fd = -1;
}

void CheckRun::finish(CheckStatus status, std::string info, u16 code) {
  result.status = status;
  result.code = code;
  result.duration_ms = static_cast<u32>((monotonic_us() - started_us_) / 1000);
  for (char &c : info)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  result.info = std::move(info);
  cancel();
  on_done(*this, owner);
}

std::string CheckRun::where(string_view text) const {
  std::string out(text);
  if (plan.kind != CheckKind::TcpScript) return out;
  const PlanStep &s = plan.steps[step_];
  out += " at step " + std::to_string(step_number()) + " of tcp-check (" + describe(s) + ")";
  if (s.conf && !s.conf->comment.empty()) out += " comment: '" + s.conf->comment + "'";
  return out;
}

void CheckRun::timed_out() {
  if (connecting_) return finish(CheckStatus::L4Timeout, where(""));
  const PlanStep &s = plan.steps[step_];
  CheckStatus status = plan.kind == CheckKind::SslHello ? CheckStatus::L6Timeout : CheckStatus::L7Timeout;
  if (s.conf)
    for (u8 i = 0; i < static_cast<u8>(CheckStatus::count_); i++)
      if (check_status_infos[i].code == s.conf->timeout_status) status = static_cast<CheckStatus>(i);
  finish(status, where(""));
}

void CheckRun::on_clock(Timer &t) { static_cast<Clock &>(t).run->timed_out(); }

void CheckRun::on_io(IoHandle &h, u32 events) {
  CheckRun &run = *static_cast<Io &>(h).run;
  if (!run.running_) return;
  if (events & (io_writable | io_error)) run.writable_ = true;
  run.advance();
}

void CheckRun::set_variable(const CheckStep &c) {
  EvalContext ctx = context();
  Sample s;
  VarId id = VarId::unpacked(c.var_id);
  if (c.kind == CheckStep::UnsetVar) return unset_variable(ctx, id);
  if (c.is_format) s.set_str(format(ctx, c.format, max_answer));
  else if (!evaluate(ctx, *c.expr, s)) return unset_variable(ctx, id);
  penstock::set_variable(ctx, id, s);
}

/// Plays steps until one has to wait or the run is over.
void CheckRun::advance() {
  while (running_ && step_ < plan.steps.size()) {
    const PlanStep &s = plan.steps[step_];
    bool done = true;
    switch (s.kind) {
      case CheckStep::Connect: done = do_connect(s); break;
      case CheckStep::Send:
      case CheckStep::SendBinary:
      case CheckStep::SendHttp:
        if (!prepared_) load_output(s);
        done = do_send();
        break;
      case CheckStep::Expect: done = do_expect(s); break;
      case CheckStep::SetVar:
      case CheckStep::UnsetVar: set_variable(*s.conf); break;
      case CheckStep::Comment:
      case CheckStep::Action: break;
    }
    if (!running_ || !done) return;
    prepared_ = false;
    step_++;
  }
  if (!running_) return;
  // The last step decides what kind of success it was.
  if (last_.what == Expectation::Match) finish(last_.status, last_.info, last_.code);
  else finish(plan.steps.size() > 1 && plan.kind != CheckKind::TcpScript ? CheckStatus::L7Ok : CheckStatus::L4Ok, {});
}

/// Checks come from where traffic comes from, as far as that is not the client's own address.
static bool bind_source(const Server &server, int fd, u16 family) {
  const SourceSettings *source = server.options->source ? server.options->source.get() : server.proxy->source.get();
  if (source == nullptr) return true;
  if (!source->interface.empty())
    setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, source->interface.c_str(), static_cast<socklen_t>(source->interface.size() + 1));
  Address from = source->address;
  if (!from || from.family != family) return true;
  from.port = 0;
  sockaddr_storage ss;
  socklen_t len = from.to_sockaddr(ss);
  int one = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  return bind(fd, reinterpret_cast<sockaddr *>(&ss), len) == 0;
}

bool CheckRun::do_connect(const PlanStep &s) {
  if (connecting_) { // the socket has become writable, or failed
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(io_.fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0 && !writable_) return false;
    connecting_ = false;
    if (error) return finish(CheckStatus::L4Connect, where(strerror(error))), false;
    loop_.set_timer(clock_, loop_.now() + total_limit_);
    return true;
  }
  close_socket();
  in_.clear();
  peer_closed_ = writable_ = false;
  Address to = s.conf && s.conf->address ? s.conf->address : target_.address;
  if (s.conf && s.conf->port) to.port = s.conf->port;
  if (s.conf && s.conf->port_expr) {
    EvalContext ctx = context();
    Sample port;
    if (!evaluate_as(ctx, *s.conf->port_expr, Type::Int, port) || port.num < 1 || port.num > 65535)
      return finish(CheckStatus::SocketError, where("the port's expression gave no port")), false;
    to.port = static_cast<u16>(port.num);
  }
  if (!to || (to.is_inet() && to.port == 0)) return finish(CheckStatus::SocketError, where("no address and port to check")), false;
  io_.fd = socket(to.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (io_.fd < 0) return finish(CheckStatus::SocketError, strerror(errno)), false;
  int one = 1;
  if (to.is_inet()) setsockopt(io_.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (to.is_inet() && !bind_source(server, io_.fd, to.family)) return finish(CheckStatus::SocketError, strerror(errno)), false;
  connected_to_ = to;
  sockaddr_storage ss;
  socklen_t len = to.to_sockaddr(ss);
  if (connect(io_.fd, reinterpret_cast<sockaddr *>(&ss), len) < 0 && errno != EINPROGRESS)
    return finish(CheckStatus::L4Connect, where(strerror(errno))), false;
  connecting_ = true;
  out_.clear();
  sent_ = 0;
  if (target_.send_proxy || (s.conf && s.conf->send_proxy)) put_proxy_header();
  loop_.add_edge(io_, io_readable | io_writable | io_hangup);
  return false;
}

/// The checker speaks for itself: version 2 has a word for that, version 1 tells the check's own addresses.
void CheckRun::put_proxy_header() {
  sockaddr_storage ss;
  socklen_t size = sizeof ss;
  Address from, to;
  if (getsockname(io_.fd, reinterpret_cast<sockaddr *>(&ss), &size) == 0) from = Address::from_sockaddr(reinterpret_cast<sockaddr *>(&ss), size);
  size = sizeof ss;
  if (getpeername(io_.fd, reinterpret_cast<sockaddr *>(&ss), &size) == 0) to = Address::from_sockaddr(reinterpret_cast<sockaddr *>(&ss), size);
  else to = connected_to_; // still on its way
  const ServerOptions &o = *server.options;
  char text[512];
  size_t n = 0;
  if (!o.send_proxy_v2) n = write_proxy_v1(from, to, text, sizeof text);
  else n = write_proxy_v2(habits_.never_send_local ? &from : nullptr, &to, o.send_proxy_v2_options & proxy_v2_crc32c, {}, {}, text, sizeof text);
  out_.assign(text, n);
}

std::string CheckRun::http_request(const CheckStep &c) {
  EvalContext ctx = context();
  std::string uri = c.uri_is_format ? std::string(format(ctx, c.uri_format, 4096)) : c.uri;
  std::string body = c.body_is_format ? std::string(format(ctx, c.body_format, max_answer)) : c.body;
  std::string version = c.version.empty() ? "HTTP/1.0" : c.version;
  std::string out = (c.method.empty() ? "OPTIONS" : c.method) + " " + (uri.empty() ? "/" : uri) + " " + version + "\r\n";
  bool host = false, connection = false;
  for (const auto &[name, value] : c.headers) {
    out += name + ": " + std::string(format(ctx, value, 4096)) + "\r\n";
    host = host || strcasecmp(name.c_str(), "host") == 0;
    connection = connection || strcasecmp(name.c_str(), "connection") == 0;
  }
  if (!send_state.empty()) out += "X-Haproxy-Server-State: " + send_state + "\r\n"; // the manual's name
  if (!body.empty()) out += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  if (!connection && version != "HTTP/1.0") out += "Connection: close\r\n";
  if (!host && version == "HTTP/1.1") {
    // RFC 9110, 7.2: a 1.1 request has a Host; the server's address is the one true thing we can say
    out += "Host: " + (target_.address.is_inet() ? target_.address.text() : std::string("localhost")) + "\r\n";
  }
  return out + "\r\n" + body;
}

void CheckRun::load_output(const PlanStep &s) {
  prepared_ = true;
  in_.clear(); // what a server said before it was asked does not answer the next question
  if (s.kind == CheckStep::SendHttp) out_ += http_request(*s.conf);
  else if (s.conf && s.conf->is_format) {
    EvalContext ctx = context();
    std::string text(format(ctx, s.conf->format, max_answer));
    if (s.kind == CheckStep::Send) out_ += text;
    else
      for (size_t i = 0; i + 1 < text.size(); i += 2) out_ += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  } else {
    out_ += send_instead.empty() ? s.bytes : send_instead;
  }
}

bool CheckRun::do_send() {
  while (sent_ < out_.size()) {
    ssize_t n = ::send(io_.fd, out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
    if (n < 0) {
      if (errno == EAGAIN) return false;
      return finish(CheckStatus::L7Response, where(strerror(errno))), false;
    }
    sent_ += static_cast<size_t>(n);
  }
  out_.clear();
  sent_ = 0;
  return true;
}

bool CheckRun::do_expect(const PlanStep &s) {
  if (!out_.empty() && !do_send()) return false; // a PROXY header before a greeting
  char buf[16384];
  while (!peer_closed_ && in_.size() < max_answer) {
    ssize_t n = recv(io_.fd, buf, sizeof buf, 0);
    if (n > 0) {
      in_.append(buf, static_cast<size_t>(n));
      continue;
    }
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0 && in_.empty()) return finish(CheckStatus::L7Response, where(strerror(errno))), false;
    peer_closed_ = true;
  }
  bool closed = peer_closed_ || in_.size() >= max_answer;
  size_t taken = 0;
  if (s.probe) last_ = s.probe(in_, closed, taken);
  else if (plan.default_expect) last_ = match_http_default(in_, closed, *this);
  else if (plan.http) last_ = match_http(s, in_, closed, *this);
  else last_ = match_bytes(s, in_, closed, *this);
  if (last_.what == Expectation::NeedMore) {
    if (!closed) return false;
    return finish(CheckStatus::L7Response, where("connection closed before the answer was complete")), false;
  }
  if (last_.what == Expectation::Fail) return finish(last_.status, last_.info, last_.code), false;
  if (s.probe) in_.erase(0, taken);
  return true;
}

} // namespace penstock
