// SPDX-License-Identifier: BSD-2-Clause
#include "worker/log/access.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "shared/expr/run.h"
#include "worker/log/sinks.h"

namespace penstock {

namespace {

// One line at a time is made in a process.
char line[65536];
char structured[8192];

size_t longest_wanted(const Proxy &p) {
  u32 longest = 80;
  for (const LogTarget &t : p.logs) longest = std::max(longest, t.max_len);
  return std::min<size_t>(longest, sizeof line);
}

bool wants_structured_data(const Proxy &p) {
  if (!p.log_format_sd || p.log_format_sd->empty()) return false;
  return std::any_of(p.logs.begin(), p.logs.end(), [](const LogTarget &t) { return t.format == LogLineFormat::Rfc5424; });
}

void write_line(EvalContext ctx, const Proxy &p, LogLevel level, const LogFormat &fmt) {
  string_view data;
  if (wants_structured_data(p)) data = {structured, format(ctx, *p.log_format_sd, structured, sizeof structured)};
  size_t n = format(ctx, fmt, line, longest_wanted(p));
  log_line(p, level, {line, n}, data);
}

/// Appends to `line`; a cut is no harm.
struct Pen {
  size_t n = 0;
  Pen &operator<<(string_view s) {
    size_t take = std::min(s.size(), sizeof line - n);
    s.copy(line + n, take);
    n += take;
    return *this;
  }
  Pen &operator<<(const Address &a) { // without brackets, as the log's %ci:%cp
    if (!a.is_inet()) return *this << "unix:0";
    char ip[48];
    *this << string_view(ip, a.ip.write(ip)) << ":";
    char port[8];
    return *this << string_view(port, static_cast<size_t>(std::snprintf(port, sizeof port, "%u", a.port)));
  }
  string_view text() const { return {line, n}; }
};

void write_connect_line(Stream &stream, LogLevel level) {
  Session &session = stream.session();
  Pen pen;
  pen << "Connect from " << session.source() << " to " << session.destination() << " (" << stream.frontend().name << "/"
      << (stream.frontend().mode == Mode::Http ? "HTTP" : "TCP") << ")";
  log_line(stream.frontend(), level, pen.text());
}

/// -1 silent, else the level: rules may set it, and override what log-separate-errors says.
int level_of(const Stream &stream) {
  if (stream.log_level != -2) return stream.log_level;
  if (stream.session().log_level != -2) return stream.session().log_level;
  bool raise = stream.frontend().has(Opt::LogSeparateErrors) && had_trouble(stream.facts);
  return static_cast<int>(raise ? LogLevel::Err : LogLevel::Info);
}

bool has_format(const Proxy &p) { return p.log_format && !p.log_format->empty(); }

/// "[30/Nov/2026:23:51:06.301]" of the accept date.
void add_accept_date(Pen &pen, i64 wall_us) {
  static constexpr const char *months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  time_t second = static_cast<time_t>(wall_us / 1'000'000);
  tm t{};
  localtime_r(&second, &t);
  char text[64];
  int n = std::snprintf(text, sizeof text, "[%02d/%s/%04d:%02d:%02d:%02d.%03d]", t.tm_mday, months[t.tm_mon], t.tm_year + 1900,
                        t.tm_hour, t.tm_min, t.tm_sec, static_cast<int>(wall_us % 1'000'000 / 1000));
  pen << string_view(text, static_cast<size_t>(n));
}

/// The bind line's name, or its number.
string_view bind_label(const Bind &bind) {
  string_view name = bind.name;
  return name.starts_with("sock-") ? name.substr(5) : name;
}

} // namespace

bool had_trouble(const StreamFacts &facts) {
  if (facts.retries > 0 || facts.redispatched || facts.status >= 500) return true;
  char cause = cause_letter(facts.fault);
  return cause != '-' && cause != 'L';
}

void log_stream_start(Stream &stream) {
  if (stream.logged || stream.frontend().logs.empty() || has_format(stream.frontend())) return;
  if (stream.is_http() && stream.facts.method.empty()) return; // nothing was asked
  int level = level_of(stream);
  stream.logged = true;
  if (level >= 0) write_connect_line(stream, static_cast<LogLevel>(level));
}

bool log_early(const Stream &stream) {
  const Proxy &p = stream.frontend();
  return !stream.logged && !p.logs.empty() && p.has(Opt::Logasap);
}

void log_stream(Stream &stream) {
  const Proxy &p = stream.frontend();
  if (stream.logged || p.logs.empty()) return;
  const StreamFacts &facts = stream.facts;
  if (p.has(Opt::Dontlognull) && facts.bytes_uploaded == 0) return;
  if (!has_format(p)) return log_stream_start(stream);
  if (p.has(Opt::DontlogNormal) && !had_trouble(facts)) return;
  stream.logged = true;
  int level = level_of(stream);
  if (level < 0 || !logs_wanted(p, static_cast<LogLevel>(level))) return;
  write_line(stream.context(Phase::Log, p, true), p, static_cast<LogLevel>(level), *p.log_format);
}

void log_connection_error(Session &session, ConnectionError error, bool sent_any) {
  session.error = error;
  const Proxy &p = session.frontend();
  if (p.logs.empty() || (p.has(Opt::Dontlognull) && !sent_any)) return;
  LogLevel level = p.has(Opt::LogSeparateErrors) ? LogLevel::Err : LogLevel::Info;
  if (session.log_level == -1) return;
  if (session.log_level >= 0) level = static_cast<LogLevel>(session.log_level);
  static Arena scratch;
  scratch.reset();
  EvalContext ctx{.scratch = scratch, .session = &session, .proxy = &p, .phase = Phase::Log};
  if (p.error_log_format && !p.error_log_format->empty()) return write_line(ctx, p, level, *p.error_log_format);
  Pen pen;
  pen << session.source() << " ";
  add_accept_date(pen, session.accept_wall_us());
  pen << " " << p.name << "/" << bind_label(session.bind()) << ": " << info_of(error).text;
  string_view data;
  if (wants_structured_data(p)) data = {structured, format(ctx, *p.log_format_sd, structured, sizeof structured)};
  log_line(p, level, pen.text(), data);
}

} // namespace penstock
