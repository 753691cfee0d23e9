// SPDX-License-Identifier: BSD-2-Clause
// The whole configuration, as the parser leaves it and all processes see it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "shared/model/proxy.h"
#include "shared/model/ring.h"
#include "shared/model/stick_table.h"

namespace penstock {

struct User { std::string name, password; bool insecure = false; std::vector<std::string> groups; };
struct Userlist { std::string name; Place place; std::vector<User> users; std::map<std::string, std::vector<std::string>> groups; };

/// http-errors NAME: replies by status.
struct HttpErrors { std::string name; Place place; std::map<u16, ReplyPtr> replies; };

struct Tune {
  u32 bufsize = 16384, maxrewrite = 1024, maxaccept = 4, maxpollevents = 200, http_maxhdr = 101, http_logurilen = 1024;
  u32 http_cookielen = 63, idletimer_ms = 1000, runqueue_depth = 0, comp_maxlevel = 1;
  u32 rcvbuf_client = 0, rcvbuf_server = 0, sndbuf_client = 0, sndbuf_server = 0, rcvbuf_frontend = 0, rcvbuf_backend = 0;
  u32 sndbuf_frontend = 0, sndbuf_backend = 0, pipesize = 0, pool_low_fd_ratio = 20, pool_high_fd_ratio = 25;
  u64 vars_global_max = 0, vars_proc_max = 0, vars_sess_max = 0, vars_txn_max = 0, vars_reqres_max = 0, vars_check_max = 0;
  u32 pattern_cache = 10000, max_checks_per_thread = 0, stick_counters = 3;
  bool idle_pool_shared = true, fail_alloc = false;
  std::map<std::string, std::string> other; // tune.* words that are accepted and have no bearing on our design
};

/// A set of status codes from 100 to 599.
struct StatusSet {
  u64 bits[8] = {};
  StatusSet(u32 low, u32 high) { set(low, high, true); }
  void set(u32 low, u32 high, bool on) {
    for (u32 c = low; c <= high; c++) bits[(c - 100) / 64] = on ? bits[(c - 100) / 64] | u64{1} << (c - 100) % 64 : bits[(c - 100) / 64] & ~(u64{1} << (c - 100) % 64);
  }
  bool has(u32 code) const { return code >= 100 && code < 600 && bits[(code - 100) / 64] >> (code - 100) % 64 & 1; }
};

struct Global {
  bool daemon = false, master_worker = false, quiet = false, strict_limits = true, zero_warning = false, set_dumpable = false;
  u32 workers = 0;           // nbthread / workers; 0: one per usable CPU
  std::string cpu_map_text;
  std::vector<std::vector<u32>> cpu_map; // by worker; empty: not pinned
  u32 maxconn = 0;           // 0: computed from the descriptor limit
  u32 ulimit_n = 0, fd_hard_limit = 0;
  i32 uid = 0, gid = 0;
  std::string user, group, chroot, pidfile, node, description, localpeer, log_tag, log_send_hostname, server_state_base, server_state_file;
  bool log_send_hostname_set = false;
  Millis hard_stop_after = eternity, grace = 0, close_spread_time = eternity;
  u32 spread_checks = 0, mworker_max_reloads = 50;
  Millis max_spread_checks = 0;
  u32 maxconnrate = 0, maxsessrate = 0, maxsslrate = 0, maxsslconn = 0, maxcomprate = 0, maxcompcpuusage = 0, maxpipes = 0;
  std::string default_path = "current", stats_timeout_text;
  Millis stats_timeout = 10000;
  u32 stats_maxconn = 10;
  std::string unix_bind_prefix;
  u32 unix_bind_mode = 0; i32 unix_bind_uid = -1, unix_bind_gid = -1;
  bool external_check = false, insecure_fork_wanted = false, insecure_setuid_wanted = false;
  bool expose_experimental = false, expose_deprecated = false;
  std::vector<std::pair<std::string, std::string>> environment; // setenv/presetenv in order, for show env
  std::vector<LogTarget> logs;
  std::vector<std::unique_ptr<Bind>> stats_sockets;
  std::map<std::string, std::string> h1_case_adjust;
  bool h1_accept_payload_with_any_method = false, h1_keep_open_on_insecure_te = false;
  bool pp2_never_send_local = false, reject_privileged_ports_tcp = false, prealloc_fd = false;
  bool external_check_preserve_env = false;
  StatusSet http_err_codes{400, 499}, http_fail_codes{500, 599}; // less 501 and 505, see Config::Config()
  std::vector<std::string> setcap; // capabilities that the workers keep
  std::map<std::string, std::string> tls; // ssl-default-*, ca-base, … for the TLS rows, by keyword
  Tune tune;
};

class PatternFiles; // shared/expr/pattern.h
struct NameRef;     // shared/table/args.h

/// A name in an expression, to be looked up when all sections are known.
struct PendingName {
  std::shared_ptr<NameRef> ref;
  Place place;
  const Proxy *proxy = nullptr; // where it stands: whose servers a bare server name means
  std::string where;            // "argument 1 of 'nbsrv'"
  Type key = Type::Any;         // of a table: what is looked up there
};

struct Config : Pinned {
  Config();
  ~Config();
  Global global;
  std::vector<std::unique_ptr<Defaults>> defaults;
  std::vector<std::unique_ptr<Proxy>> proxies; // in file order
  std::vector<std::unique_ptr<Userlist>> userlists;
  std::vector<std::unique_ptr<HttpErrors>> http_errors;
  std::string peers_name;                        // of the section being read
  std::vector<std::unique_ptr<TableDef>> tables; // of proxies and peers sections, in file order
  std::vector<std::unique_ptr<Ring>> rings;
  std::deque<std::string> file_names; // what Place::file points into
  u32 server_count = 0;
  /// Options of server lines by their words; only while reading (master/config/kw_server.cpp).
  std::unordered_map<std::string, PooledServerOptions> server_options_pool;

  // Names; a frontend and a backend may bear the same one.
  std::unordered_map<string_view, Proxy *> frontends, backends;
  Proxy *frontend(string_view name) const { auto it = frontends.find(name); return it == frontends.end() ? nullptr : it->second; }
  Proxy *backend(string_view name) const { auto it = backends.find(name); return it == backends.end() ? nullptr : it->second; }
  Userlist *userlist(string_view name) const;
  TableDef *table(string_view name) const;
  /// Variables get their slots here ("txn.x" -> index); shared over the configuration. See worker/stream/vars.h.
  std::unordered_map<std::string, u32> variables;
  u32 variable_slot(const std::string &scoped_name);
  std::shared_ptr<PatternFiles> pattern_files; // made at first use
  std::vector<PendingName> pending_names;      // emptied by resolve_names()
};

} // namespace penstock
