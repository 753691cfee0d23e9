// SPDX-License-Identifier: BSD-2-Clause
#include "worker/check/state_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "shared/base/text.h"
#include "shared/model/check_status.h"
#include "shared/shm/server_state.h"

namespace penstock {

bool parse_server_states(string_view text, std::vector<SavedServer> &out, std::string &error) {
  bool version_seen = false;
  while (!text.empty()) {
    size_t eol = text.find('\n');
    string_view line = trim(text.substr(0, eol));
    text = eol == string_view::npos ? string_view() : text.substr(eol + 1);
    if (line.empty() || line.starts_with('#')) continue;
    if (!version_seen) {
      if (line != "1") return error = "its first line must be the format version 1, not '" + std::string(line.substr(0, 20)) + "'", false;
      version_seen = true;
      continue;
    }
    std::vector<string_view> f;
    for (string_view word : split(line, ' '))
      if (!word.empty()) f.push_back(word);
    if (f.size() < 19) continue;
    auto number = [&](size_t i) { return parse_u64(f[i]).value_or(0); };
    SavedServer s;
    s.backend_id = static_cast<u32>(number(0));
    s.backend = f[1];
    s.server_id = static_cast<u32>(number(2));
    s.server = f[3];
    s.address = f[4];
    s.op_state = static_cast<u32>(number(5));
    s.admin = static_cast<u32>(number(6));
    s.user_weight = static_cast<u32>(number(7));
    s.initial_weight = static_cast<u32>(number(8));
    s.seconds_since_change = number(9);
    s.check_status = static_cast<u32>(number(10));
    s.check_health = static_cast<u32>(number(12));
    s.port = static_cast<u16>(number(18));
    out.push_back(std::move(s));
  }
  if (!version_seen) return error = "it is empty", false;
  return true;
}

namespace {

bool read_file(const std::string &path, std::string &out) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char buf[16384];
  ssize_t n;
  while ((n = read(fd, buf, sizeof buf)) > 0) out.append(buf, static_cast<size_t>(n));
  close(fd);
  return n == 0;
}

const Server *find_server(const Proxy &p, const SavedServer &saved) {
  for (const auto &s : p.servers)
    if (s->name == saved.server) return s.get();
  for (const auto &s : p.servers)
    if (s->id == saved.server_id) return s.get(); // renamed, but its forced id stayed
  return nullptr;
}

void apply(const Server &s, const SavedServer &saved, Service &service, Tick now) {
  ServerRow &row = service.server(s.row);
  const ServerOptions &o = *s.options;
  // Only what somebody forced: what the configuration or a tracked server says is found out anew.
  row.admin = row.admin.load() | (saved.admin & (admin_forced_maint | admin_forced_drain));
  if (saved.initial_weight == o.weight && saved.user_weight <= 256) row.weight = saved.user_weight * weight_scale;
  if (o.check && s.tracked == nullptr) {
    bool up = saved.op_state != static_cast<u32>(OpState::Stopped);
    row.op_state = static_cast<u8>(up ? saved.op_state == static_cast<u32>(OpState::Stopping) ? OpState::Stopping : OpState::Running : OpState::Stopped);
    u32 full = o.rise + o.fall - 1;
    row.check.health = up ? std::clamp(saved.check_health, o.rise, full) : std::min(saved.check_health, o.rise ? o.rise - 1 : 0);
    row.check.status = static_cast<u8>(CheckStatus::Initializing);
  }
  row.last_change = now - static_cast<Tick>(saved.seconds_since_change) * 1000;
}

std::string state_path(const Config &config, const Proxy &p) {
  const Global &g = config.global;
  if (p.load_server_state_global) {
    if (g.server_state_file.empty()) return {};
    return g.server_state_file.starts_with('/') || g.server_state_base.empty() ? g.server_state_file : g.server_state_base + "/" + g.server_state_file;
  }
  const std::string &name = p.server_state_file_name.empty() ? p.name : p.server_state_file_name;
  return name.starts_with('/') || g.server_state_base.empty() ? name : g.server_state_base + "/" + name;
}

} // namespace

void load_server_states(const Config &config, Service &service, Diagnostics &diags) {
  std::map<std::string, std::vector<SavedServer>> files; // each is read once
  Tick now = monotonic_ms();
  for (const auto &p : config.proxies) {
    if (!p->is_backend || (!p->load_server_state && !p->load_server_state_global)) continue;
    std::string path = state_path(config, *p);
    if (path.empty()) continue;
    auto [it, fresh] = files.try_emplace(path);
    if (fresh) {
      std::string text, error;
      if (!read_file(path, text)) continue; // the first start ever has none
      if (!parse_server_states(text, it->second, error)) diags.warning({path.c_str(), 1, 0}, "this server state file cannot be used: " + error);
    }
    for (const SavedServer &saved : it->second) {
      if (saved.backend != p->name && saved.backend_id != p->id) continue;
      if (const Server *s = find_server(*p, saved)) apply(*s, saved, service, now);
    }
  }
}

} // namespace penstock
