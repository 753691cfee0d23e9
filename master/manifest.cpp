// SPDX-License-Identifier: BSD-2-Clause
#include "master/manifest.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "shared/base/text.h"

namespace penstock {
namespace {

constexpr string_view first_line = "penstock manifest 1";

/// One line: a name and words. Text goes last and escaped, so that it may hold anything.
class LineWriter {
 public:
  explicit LineWriter(std::string &out, string_view name) : out_(out) { out_ += name; }
  ~LineWriter() { out_ += '\n'; }
  LineWriter &operator<<(i64 n) {
    out_ += ' ' + std::to_string(n);
    return *this;
  }
  LineWriter &operator<<(string_view text) {
    out_ += " \"";
    for (char c : text) {
      if (c == '\n') out_ += "\\n";
      else if (c == '\\') out_ += "\\\\";
      else out_ += c;
    }
    return *this;
  }
  LineWriter &operator<<(const std::vector<int> &list) {
    *this << static_cast<i64>(list.size());
    for (int n : list) *this << i64{n};
    return *this;
  }

 private:
  std::string &out_;
};

class LineReader {
 public:
  explicit LineReader(string_view line) : rest_(line) { name = word(); }
  string_view name;
  template <class T> LineReader &operator>>(T &n) {
    if (auto v = parse_i64(word())) n = static_cast<T>(*v);
    else good = false;
    return *this;
  }
  LineReader &operator>>(std::string &text) {
    if (!rest_.starts_with('"')) good = false;
    else rest_.remove_prefix(1);
    text.clear();
    for (size_t i = 0; i < rest_.size(); i++) {
      if (rest_[i] != '\\' || i + 1 == rest_.size()) text += rest_[i];
      else text += rest_[++i] == 'n' ? '\n' : rest_[i];
    }
    rest_ = {};
    return *this;
  }
  LineReader &operator>>(std::vector<int> &list) {
    size_t count = 0;
    *this >> count;
    for (size_t i = 0; good && i < count; i++) *this >> list.emplace_back();
    return *this;
  }
  bool good = true;

 private:
  string_view word() {
    size_t end = rest_.find(' ');
    string_view w = rest_.substr(0, end);
    rest_.remove_prefix(end == string_view::npos ? rest_.size() : end + 1);
    return w;
  }
  string_view rest_;
};

void read_child(LineReader &in, Manifest &m) {
  ManifestChild &c = m.children.emplace_back();
  in >> c.control >> c.draining >> c.pid >> c.generation >> c.slot >> c.index >> c.born_at_reload >> c.started_s >> c.end_by >>
      c.hard_stop_after >> c.channel >> c.version;
}
void read_group(LineReader &in, Manifest &m) {
  ManifestGroup &g = m.groups.emplace_back();
  in >> g.id >> g.shared >> g.inherited >> g.foreign >> g.stream >> g.selected >> g.fds >> g.key;
}

struct LineKind {
  string_view name;
  void (*read)(LineReader &, Manifest &);
};
constexpr LineKind kinds[] = {
    {"askers", [](LineReader &in, Manifest &m) { in >> m.askers; }},
    {"board", [](LineReader &in, Manifest &m) { in >> m.board; }},
    {"rings", [](LineReader &in, Manifest &m) { in >> m.rings; }},
    {"child", read_child},
    {"group", read_group},
    {"master-socket", [](LineReader &in, Manifest &m) { in >> m.master_socket >> m.master_socket_key; }},
    {"messages", [](LineReader &in, Manifest &m) { in >> m.messages; }},
    {"service", [](LineReader &in, Manifest &m) { in >> m.service; }},
    {"state", [](LineReader &in, Manifest &m) { in >> m.generation >> m.workers >> m.reloads >> m.failed_reloads >> m.started_s >> m.hard; }},
    {"tables", [](LineReader &in, Manifest &m) { in >> m.tables; }},
};

} // namespace

std::string Manifest::to_text() const {
  std::string out(first_line);
  out += '\n';
  LineWriter(out, "state") << generation << workers << reloads << failed_reloads << started_s << hard;
  LineWriter(out, "askers") << askers;
  LineWriter(out, "service") << service;
  LineWriter(out, "board") << board;
  LineWriter(out, "tables") << tables;
  LineWriter(out, "rings") << rings;
  LineWriter(out, "master-socket") << i64{master_socket} << master_socket_key;
  LineWriter(out, "messages") << messages;
  for (const ManifestChild &c : children)
    LineWriter(out, "child") << c.control << c.draining << i64{c.pid} << c.generation << c.slot << c.index << c.born_at_reload << c.started_s
                             << c.end_by << c.hard_stop_after << i64{c.channel} << c.version;
  for (const ManifestGroup &g : groups)
    LineWriter(out, "group") << g.id << g.shared << g.inherited << g.foreign << g.stream << g.selected << g.fds << g.key;
  return out;
}

std::optional<Manifest> Manifest::from_text(string_view text) {
  Manifest m;
  bool first = true;
  for (string_view line : split(text, '\n')) {
    if (std::exchange(first, false)) {
      if (line != first_line) return {};
      continue;
    }
    LineReader in(line);
    for (const LineKind &kind : kinds)
      if (kind.name == in.name) kind.read(in, m);
    if (!in.good) return {};
  }
  return m;
}

std::vector<int> Manifest::descriptors() const {
  std::vector<int> out;
  for (const auto *list : {&askers, &service, &board, &tables, &rings}) out.insert(out.end(), list->begin(), list->end());
  if (master_socket >= 0) out.push_back(master_socket);
  for (const ManifestChild &c : children)
    if (c.channel >= 0) out.push_back(c.channel);
  for (const ManifestGroup &g : groups) out.insert(out.end(), g.fds.begin(), g.fds.end());
  return out;
}

int write_manifest(const Manifest &manifest) {
  int fd = memfd_create("penstock manifest", 0);
  std::string text = manifest.to_text();
  for (size_t at = 0; fd >= 0 && at < text.size();) {
    ssize_t n = write(fd, text.data() + at, text.size() - at);
    if (n <= 0) {
      close(fd);
      return -1;
    }
    at += static_cast<size_t>(n);
  }
  return fd;
}

std::optional<Manifest> take_manifest() {
  const char *number = getenv(manifest_variable);
  auto fd = number ? parse_u64(number) : std::nullopt;
  unsetenv(manifest_variable);
  if (!fd) return {};
  std::string text;
  char buffer[65536];
  off_t at = 0;
  for (ssize_t n; (n = pread(static_cast<int>(*fd), buffer, sizeof buffer, at)) > 0; at += n) text.append(buffer, static_cast<size_t>(n));
  close(static_cast<int>(*fd));
  auto manifest = Manifest::from_text(text);
  if (manifest) {
    for (int d : manifest->descriptors()) fcntl(d, F_SETFD, FD_CLOEXEC);
    for (const ManifestGroup &g : manifest->groups) // fd@ were inheritable and stay so
      if (g.inherited)
        for (int d : g.fds) fcntl(d, F_SETFD, 0);
  }
  return manifest;
}

} // namespace penstock
