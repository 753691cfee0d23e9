// SPDX-License-Identifier: BSD-2-Clause
#include "master/limits.h"

#include <sys/resource.h>

#include <algorithm>

#include "master/messages.h"

namespace penstock {
namespace {

/// What a worker holds beside connections and listening sockets: epoll, channel, shared memory, logs, wake-ups …
constexpr u64 overhead = 32 + 64;
constexpr u64 default_hard_limit = 1'048'576;
constexpr u64 least_maxconn = 16;

u64 listening_sockets(const Config &config) {
  u64 n = config.global.stats_sockets.size();
  for (const auto &proxy : config.proxies) n += proxy->binds.size();
  n += config.tables.size() / 2; // a descriptor each; the caller counts sockets twice
  return n;
}

/// Raises the soft limit (and as root the hard one) to `wanted`.
bool raise_descriptor_limit(rlimit &limit, u64 wanted) {
  rlimit next = limit;
  next.rlim_cur = wanted;
  next.rlim_max = std::max<rlim_t>(limit.rlim_max, wanted);
  if (setrlimit(RLIMIT_NOFILE, &next) == 0) {
    limit = next;
    return true;
  }
  next.rlim_cur = next.rlim_max = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &next) == 0) limit = next;
  return limit.rlim_cur >= wanted;
}

/// With strict-limits what cannot be had is fatal; without it is told.
bool refused(const Global &global, const std::string &text) {
  say(global.strict_limits ? Severity::Alert : Severity::Warning, text);
  return !global.strict_limits;
}

bool limit_memory(const Options &options, const Global &global) {
  if (!options.memory_mb) return true;
  rlimit limit{u64{options.memory_mb} << 20, u64{options.memory_mb} << 20};
  if (setrlimit(RLIMIT_DATA, &limit) == 0) return true;
  return refused(global, "cannot limit memory to " + std::to_string(options.memory_mb) + " MB");
}

} // namespace

u64 descriptors_for(u64 maxconn, u64 fixed) { return maxconn * 2 + fixed; }
u64 connections_for(u64 descriptors, u64 fixed) {
  return descriptors > fixed ? std::max(least_maxconn, (descriptors - fixed) / 2) : least_maxconn;
}

bool apply_limits(const Options &options, Config &config) {
  Global &global = config.global;
  if (options.maxconn) global.maxconn = options.maxconn;
  u64 fixed = overhead + listening_sockets(config) * 2;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  bool good = true;
  if (global.ulimit_n) {
    if (!raise_descriptor_limit(limit, global.ulimit_n))
      good &= refused(global, "cannot set the descriptor limit to " + std::to_string(global.ulimit_n) + " (ulimit-n), the limit is " + std::to_string(limit.rlim_cur));
  } else if (global.maxconn) {
    u64 wanted = descriptors_for(global.maxconn, fixed);
    if (limit.rlim_cur < wanted && !raise_descriptor_limit(limit, wanted))
      good &= refused(global, "cannot raise the descriptor limit to " + std::to_string(wanted) + " for maxconn " + std::to_string(global.maxconn) + ", the limit is " + std::to_string(limit.rlim_cur));
  }
  u64 usable = std::min<u64>(limit.rlim_cur, global.fd_hard_limit ? global.fd_hard_limit : default_hard_limit);
  if (!global.maxconn) global.maxconn = static_cast<u32>(connections_for(usable, fixed));
  global.ulimit_n = static_cast<u32>(std::min<u64>(limit.rlim_cur, 0x7fffffff));
  return limit_memory(options, global) && good;
}

} // namespace penstock
