// SPDX-License-Identifier: BSD-2-Clause
#include "worker/log/sinks.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "shared/base/time.h"
#include "shared/shm/ring_buffer.h"
#include "worker/log/syslog_header.h"

namespace penstock {

namespace {

/// A destination, shared by all `log` lines that name it.
struct Sink {
  LogTransport transport;
  Address address; // of datagrams
  RingBuffer *ring = nullptr;
  int fd = -1;     // the socket of this process, or the descriptor
  int wanted_fd = -1; // of LogTransport::Fd, as configured
  bool opened = false;
  bool is_socket = false;
  pid_t owner = 0; // process that opened the socket
};

/// What all processes count together.
struct SharedCounts {
  std::atomic<u64> dropped{0};
  std::atomic<u32> samples[];
};

struct Logger {
  std::vector<Sink> sinks;
  SharedCounts *shared = nullptr;
  std::span<const LogTarget> global_targets;
  std::string default_tag = "penstock", hostname;
  bool send_hostname = false;
  LogClock clock;
  char pid[16];
  u8 pid_length = 0;
  pid_t process = 0;
  bool pid_given = false;
  std::vector<char> header; // room for the largest header
};
Logger logger; // one per process: a fork inherits its sinks, not its sockets

constexpr size_t longest_structured_data = 8192;

void own_pid() {
  logger.process = getpid();
  if (logger.pid_given) return;
  logger.pid_length = static_cast<u8>(std::to_chars(logger.pid, logger.pid + sizeof logger.pid, logger.process).ptr - logger.pid);
}

RingBuffer *ring_of(const LogTarget &t) { return t.transport == LogTransport::Ring && t.ring != nullptr ? t.ring->memory : nullptr; }

bool same_sink(const Sink &s, const LogTarget &t) {
  if (s.transport != t.transport) return false;
  if (t.transport == LogTransport::Ring) return s.ring == ring_of(t);
  return t.transport == LogTransport::Fd ? s.wanted_fd == t.fd : s.address == t.address;
}

u32 sink_of(const LogTarget &t) {
  auto it = std::find_if(logger.sinks.begin(), logger.sinks.end(), [&](const Sink &s) { return same_sink(s, t); });
  if (it == logger.sinks.end()) {
    Sink s{.transport = t.transport, .address = t.address};
    s.wanted_fd = t.transport == LogTransport::Fd ? t.fd : -1;
    s.ring = ring_of(t);
    it = logger.sinks.insert(logger.sinks.end(), std::move(s));
  }
  return static_cast<u32>(it - logger.sinks.begin());
}

/// Calls `f` for every log target of the configuration.
template <class F> void each_target(Config &config, F f) {
  for (LogTarget &t : config.global.logs) f(t);
  for (auto &p : config.proxies)
    for (LogTarget &t : p->logs) f(t);
}

void give_samplers(Config &config) {
  struct Line { const char *file; u32 line; u32 sampler; };
  std::vector<Line> lines;
  u32 count = 0;
  each_target(config, [&](LogTarget &t) {
    if (t.sample_size == 0) return;
    auto same = [&](const Line &l) { return t.place.file && l.file == t.place.file && l.line == t.place.line; };
    auto it = std::find_if(lines.begin(), lines.end(), same);
    if (it == lines.end()) it = lines.insert(lines.end(), {t.place.file, t.place.line, count++});
    t.sampler = it->sampler;
  });
  size_t bytes = sizeof(SharedCounts) + count * sizeof(std::atomic<u32>);
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  PENSTOCK_ENSURE(memory != MAP_FAILED);
  logger.shared = static_cast<SharedCounts *>(memory); // zero pages are valid zero counters
}

/// A pipe or terminal is opened once more so that our O_NONBLOCK is not imposed on whoever shares it.
void open_descriptor(Sink &s) {
  s.fd = s.wanted_fd;
  struct stat st;
  if (fstat(s.wanted_fd, &st) != 0) return;
  s.is_socket = S_ISSOCK(st.st_mode);
  if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode)) return;
  char path[40] = "/proc/self/fd/";
  *std::to_chars(path + 14, path + sizeof path - 1, s.wanted_fd).ptr = 0;
  int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | O_APPEND);
  if (fd >= 0) s.fd = fd;
}

void open_datagrams(Sink &s) {
  s.fd = socket(s.address.family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (s.fd < 0) return;
  s.is_socket = true;
  sockaddr_storage ss;
  socklen_t len = s.address.to_sockaddr(ss);
  if (connect(s.fd, reinterpret_cast<sockaddr *>(&ss), len) != 0) {
    close(s.fd);
    s.fd = -1;
  }
}

void open_sink(Sink &s) {
  bool inherited = s.opened && s.owner != logger.process;
  if (s.transport == LogTransport::UdpOrUnix) {
    if (inherited && s.fd >= 0) close(s.fd); // a socket of its own: a reconnection must not concern the parent
    open_datagrams(s);
  } else if (!s.opened) {
    open_descriptor(s);
  }
  s.opened = true;
  s.owner = logger.process;
}

bool send_once(const Sink &s, iovec *parts, int count) {
  if (s.fd < 0) {
    errno = ENOTCONN;
    return false;
  }
  if (s.is_socket) {
    msghdr m{};
    m.msg_iov = parts;
    m.msg_iovlen = static_cast<size_t>(count);
    return sendmsg(s.fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
  }
  return writev(s.fd, parts, count) >= 0;
}

void emit(Sink &s, iovec *parts, int count) {
  if (s.transport == LogTransport::Ring) { // without the newline
    if (!s.ring->put({parts, static_cast<size_t>(count - 1)}) && logger.shared) logger.shared->dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (!s.opened || (s.owner != logger.process && s.transport == LogTransport::UdpOrUnix)) open_sink(s);
  if (send_once(s, parts, count)) return;
  bool full = errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS;
  if (!full && s.transport == LogTransport::UdpOrUnix) {
    // A refused datagram is the echo of an earlier one, or syslogd has made its socket anew: once more.
    if (s.fd >= 0) close(s.fd);
    open_datagrams(s);
    if (send_once(s, parts, count)) return;
  }
  if (logger.shared) logger.shared->dropped.fetch_add(1, std::memory_order_relaxed);
}

} // namespace

string_view log_level_name(LogLevel l) {
  static constexpr string_view names[] = {"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"};
  return names[static_cast<u8>(l)];
}

bool sampled(const LogTarget &t, u32 n) {
  if (t.sample_size == 0) return true;
  u32 at = n % t.sample_size + 1;
  for (auto [low, high] : t.sample_ranges)
    if (at >= low && at <= high) return true;
  return false;
}

void prepare_logging(Config &config, string_view program) {
  logger.sinks.clear();
  each_target(config, [](LogTarget &t) {
    if (t.transport == LogTransport::UdpOrUnix || t.transport == LogTransport::Fd || ring_of(t) != nullptr) t.sink = sink_of(t);
  });
  give_samplers(config);
  logger.global_targets = config.global.logs;
  logger.default_tag = config.global.log_tag.empty() ? std::string(program) : config.global.log_tag;
  logger.send_hostname = config.global.log_send_hostname_set;
  logger.hostname = config.global.log_send_hostname;
  if (logger.send_hostname && logger.hostname.empty()) {
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    logger.hostname = name;
  }
  size_t longest_tag = logger.default_tag.size();
  for (auto &p : config.proxies) longest_tag = std::max(longest_tag, p->log_tag.size());
  logger.header.resize(header_room + logger.hostname.size() + longest_tag + longest_structured_data);
  // Descriptors are opened here, before privileges and the root directory change.
  for (Sink &s : logger.sinks)
    if (s.transport == LogTransport::Fd) open_sink(s);
  static bool hooked = false;
  if (!hooked) pthread_atfork(nullptr, nullptr, own_pid);
  hooked = true;
  own_pid();
}

void set_log_pid(i32 pid) {
  logger.pid_given = pid > 0;
  logger.pid_length = static_cast<u8>(std::to_chars(logger.pid, logger.pid + sizeof logger.pid, pid).ptr - logger.pid);
  if (!logger.pid_given) own_pid();
}

void log_to(std::span<const LogTarget> targets, LogLevel level, string_view tag, string_view text, string_view structured_data) {
  if (targets.empty() || !logger.shared) return;
  logger.clock.set(wall_us());
  HeaderFacts facts;
  facts.hostname = logger.send_hostname ? string_view(logger.hostname) : string_view();
  facts.tag = tag.empty() ? string_view(logger.default_tag) : tag;
  facts.pid = {logger.pid, logger.pid_length};
  facts.structured_data = structured_data.size() <= longest_structured_data ? structured_data : string_view();
  char newline = '\n';
  for (const LogTarget &t : targets) {
    if (static_cast<u8>(level) > t.max_level || t.sink >= logger.sinks.size()) continue;
    if (t.sampler != ~0u && !sampled(t, logger.shared->samples[t.sampler].fetch_add(1, std::memory_order_relaxed))) continue;
    facts.facility = t.facility;
    facts.level = std::max(static_cast<u8>(level), t.min_level);
    LogLineFormat format = t.format;
    if (format == LogLineFormat::Unspecified) format = logger.send_hostname ? LogLineFormat::Rfc3164 : LogLineFormat::Local;
    size_t room = t.max_len - 1; // the newline counts
    size_t head = std::min(write_log_header(format, facts, logger.clock, logger.header.data()), room);
    iovec parts[3] = {{logger.header.data(), head},
                      {const_cast<char *>(text.data()), std::min(text.size(), room - head)},
                      {&newline, 1}};
    emit(logger.sinks[t.sink], parts, 3);
  }
}

void log_line(const Proxy &p, LogLevel level, string_view text, string_view structured_data) {
  log_to(p.logs, level, p.log_tag, text, structured_data);
}

void log_global(LogLevel level, string_view text) { log_to(logger.global_targets, level, {}, text); }

bool logs_wanted(const Proxy &p, LogLevel level) {
  for (const LogTarget &t : p.logs)
    if (static_cast<u8>(level) <= t.max_level && t.sink != ~0u) return true;
  return false;
}

u64 dropped_log_lines() { return logger.shared ? logger.shared->dropped.load(std::memory_order_relaxed) : 0; }

} // namespace penstock
