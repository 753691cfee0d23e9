// SPDX-License-Identifier: BSD-2-Clause
// Global keywords about the processes (manual 3.1): how many, on which CPUs, as whom, for how long.
#include <grp.h>
#include <pwd.h>

#include "master/config/cpu_map.h"
#include "master/config/slots.h"
#include "shared/base/switches.h"
#include "shared/base/text.h"
#include "shared/table/registry.h"

namespace penstock {

namespace {

constexpr i64 max_workers = 64; // max_slots of shared/shm/service.h bounds all generations together

void master_worker(LineContext &ctx) {
  ctx.config.global.master_worker = ctx.negation != Negation::No;
  ctx.words.take("no-exit-on-failure"); // a dead worker is replaced here, so the word has nothing to say
}

void nbproc(LineContext &ctx) {
  auto n = ctx.words.need_int("a number of processes", 1, max_workers);
  if (n && ctx.config.global.workers == 0 && *n > 1) ctx.config.global.workers = static_cast<u32>(*n);
}

void user(LineContext &ctx) {
  auto name = ctx.words.need("a user name");
  if (!name) return;
  ctx.config.global.user = *name;
  if (passwd *pw = getpwnam(ctx.config.global.user.c_str())) ctx.config.global.uid = static_cast<i32>(pw->pw_uid);
  else ctx.words.alert_last("there is no user '" + ctx.config.global.user + "' on this system");
}

void group(LineContext &ctx) {
  auto name = ctx.words.need("a group name");
  if (!name) return;
  ctx.config.global.group = *name;
  if (struct group *gr = getgrnam(ctx.config.global.group.c_str())) ctx.config.global.gid = static_cast<i32>(gr->gr_gid);
  else ctx.words.alert_last("there is no group '" + ctx.config.global.group + "' on this system");
}

void description(LineContext &ctx) {
  std::string text;
  while (!ctx.words.at_end()) text += (text.empty() ? "" : " ") + std::string(ctx.words.next());
  if (text.empty()) ctx.words.alert("'description' expects a text");
  ctx.config.global.description = std::move(text);
}

void set_dumpable(LineContext &ctx) {
  bool on = ctx.negation != Negation::No;
  if (ctx.words.take("off")) on = false;
  else if (!ctx.words.take("on")) ctx.words.take("libs"); // shared libraries are ordinary files here: always findable
  ctx.config.global.set_dumpable = on;
}

void strict_limits(LineContext &ctx) { ctx.config.global.strict_limits = ctx.negation != Negation::No; }

void close_spread_time(LineContext &ctx) {
  if (ctx.words.take("infinite")) ctx.config.global.close_spread_time = never; // idle connections end by their own timeouts
  else set_delay<&Global::close_spread_time>(ctx);
}

void localpeer(LineContext &ctx) {
  auto name = ctx.words.need("the name of this peer");
  if (!name) return;
  ctx.config.global.localpeer = *name;
  setenv("HAPROXY_LOCALPEER", ctx.config.global.localpeer.c_str(), 1);
}

void external_check(LineContext &ctx) {
  ctx.config.global.external_check = true;
  ctx.config.global.external_check_preserve_env = ctx.words.take("preserve-env");
}

void setcap(LineContext &ctx) {
  auto list = ctx.words.need("a list of capabilities such as cap_net_bind_service");
  if (!list) return;
  for (string_view name : split(*list, ',')) {
    if (!name.starts_with("cap_")) ctx.words.alert_last("'" + std::string(name) + "' is not the name of a capability");
    ctx.config.global.setcap.emplace_back(name);
  }
}

/// current | config | parent | origin PATH; takes effect in the reader, file by file.
void default_path(LineContext &ctx) {
  auto kind = ctx.words.need("'current', 'config', 'parent' or 'origin PATH'");
  if (!kind) return;
  if (*kind == "origin") {
    auto path = ctx.words.need("a path after 'origin'");
    if (path) ctx.config.global.default_path = "origin " + std::string(*path);
  } else if (*kind == "current" || *kind == "config" || *kind == "parent") {
    ctx.config.global.default_path = *kind;
  } else {
    ctx.words.alert_last("'default-path' expects 'current', 'config', 'parent' or 'origin PATH', got '" + std::string(*kind) + "'");
  }
}

template <bool Switches::*Switch> void switch_off(LineContext &) { switches.*Switch = false; }

constexpr KeywordDef rows[] = {
    {.name = "chroot", .sections = in_global,
     .doc = {.summary = "Directory that the workers shut themselves into.", .text = "Needs root at the start. Best an empty directory that nobody can write to.", .example = "global\n    chroot /var/empty"},
     .parse = set_text<&Global::chroot>},
    {.name = "close-spread-time", .sections = in_global,
     .doc = {.summary = "Time over which idle connections are closed during a soft stop.",
             .text = "'infinite' leaves them to their own timeouts. Without it all are closed at once.", .example = "global\n    close-spread-time 30s"},
     .parse = close_spread_time},
    {.name = "cpu-map", .sections = in_global,
     .doc = {.summary = "Pins workers to CPUs.",
             .text = "The first word is [auto:]1[/WORKERS], the others are CPU sets. Workers and CPUs are numbers, ranges, 'all', 'odd' or 'even'. "
                     "With 'auto:' worker after worker gets one CPU after the other; both sets must then be of one size.",
             .example = "global\n    nbthread 2\n    cpu-map auto:1/1-2 0-1"},
     .parse = parse_cpu_map},
    {.name = "daemon", .sections = in_global,
     .doc = {.summary = "Goes to the background, like -D.", .text = "", .example = "global\n    daemon"},
     .parse = set_flag<&Global::daemon>, .negatable = true},
    {.name = "default-path", .sections = in_global,
     .doc = {.summary = "Directory that relative paths in the configuration start from.",
             .text = "'current': where the program was started; 'config': the directory of the file that is read; 'parent': the one above it; 'origin PATH': a fixed one.",
             .example = "global\n    default-path config"},
     .parse = default_path},
    {.name = "description", .sections = in_global,
     .doc = {.summary = "A text about this instance, for the statistics page.", .text = "", .example = "global\n    description edge of site A"},
     .parse = description},
    {.name = "expose-deprecated-directives", .sections = in_global,
     .doc = {.summary = "Allows keywords that are on their way out.", .text = "", .example = "global\n    expose-deprecated-directives"},
     .parse = set_flag<&Global::expose_deprecated>},
    {.name = "expose-experimental-directives", .sections = in_global,
     .doc = {.summary = "Allows keywords that are not settled yet.", .text = "", .example = "global\n    expose-experimental-directives"},
     .parse = set_flag<&Global::expose_experimental>},
    {.name = "external-check", .sections = in_global,
     .doc = {.summary = "Allows health checks that run programs.",
             .text = "With 'preserve-env' the programs keep the environment that penstock was started with.", .example = "global\n    external-check\n    insecure-fork-wanted"},
     .parse = external_check},
    {.name = "gid", .sections = in_global,
     .doc = {.summary = "Group number that the workers run as.", .text = "", .example = "global\n    gid 1000"},
     .parse = set_number<&Global::gid, 0, INT32_MAX>},
    {.name = "grace", .sections = in_global,
     .doc = {.summary = "Delay between the signal for a soft stop and its beginning.",
             .text = "Connections are still accepted meanwhile, and the fetch 'stopping' is true.", .example = "global\n    grace 10s"},
     .parse = set_delay<&Global::grace>},
    {.name = "group", .sections = in_global,
     .doc = {.summary = "Group that the workers run as.", .text = "", .example = "global\n    group root"},
     .parse = group},
    {.name = "hard-stop-after", .sections = in_global,
     .doc = {.summary = "Longest duration of a soft stop; what is still open then is cut.", .text = "", .example = "global\n    hard-stop-after 30s"},
     .parse = set_delay<&Global::hard_stop_after>},
    {.name = "insecure-fork-wanted", .sections = in_global,
     .doc = {.summary = "Lets processes that serve traffic start other programs.", .text = "", .example = "global\n    insecure-fork-wanted"},
     .parse = set_flag<&Global::insecure_fork_wanted>, .negatable = true},
    {.name = "insecure-setuid-wanted", .sections = in_global,
     .doc = {.summary = "Lets programs that are started gain privileges.", .text = "", .example = "global\n    insecure-setuid-wanted"},
     .parse = set_flag<&Global::insecure_setuid_wanted>, .negatable = true},
    {.name = "localpeer", .sections = in_global,
     .doc = {.summary = "Name of this instance among its peers; the host's name by default.", .text = "", .example = "global\n    localpeer lb1"},
     .parse = localpeer},
    {.name = "master-worker", .sections = in_global,
     .doc = {.summary = "Runs a master that supervises workers and reloads, like -W.", .text = "", .example = "global\n    master-worker"},
     .parse = master_worker, .negatable = true},
    {.name = "mworker-max-reloads", .sections = in_global,
     .doc = {.summary = "Reloads that a worker may outlive before it is terminated.", .text = "", .example = "global\n    mworker-max-reloads 10"},
     .parse = set_number<&Global::mworker_max_reloads, 0, 1'000'000>},
    {.name = "nbproc", .sections = in_global,
     .doc = {.summary = "Number of worker processes, in the old way.", .text = "", .example = "global\n    nbproc 1"},
     .parse = nbproc, .standing = Standing::Legacy, .modern = "nbthread"},
    {.name = "nbthread", .sections = in_global,
     .doc = {.summary = "Number of workers; one per usable CPU by default.", .text = "Workers are processes here. The word 'workers' means the same.", .example = "global\n    nbthread 2"},
     .parse = set_number<&Global::workers, 1, max_workers>},
    {.name = "node", .sections = in_global,
     .doc = {.summary = "Name of this host on the statistics page; its host name by default.", .text = "", .example = "global\n    node lb1"},
     .parse = set_text<&Global::node>},
    {.name = "noepoll", .sections = in_global, .doc = {.summary = "Does without epoll, like -de.", .text = "", .example = "global\n    noepoll"},
     .parse = switch_off<&Switches::epoll>},
    {.name = "nogetaddrinfo", .sections = in_global, .doc = {.summary = "Resolves names without getaddrinfo(), like -dG.", .text = "", .example = "global\n    nogetaddrinfo"},
     .parse = switch_off<&Switches::getaddrinfo>},
    {.name = "nopoll", .sections = in_global, .doc = {.summary = "Does without poll(), like -dp.", .text = "", .example = "global\n    nopoll"},
     .parse = switch_off<&Switches::poll>},
    {.name = "noreuseport", .sections = in_global, .doc = {.summary = "Does without SO_REUSEPORT, like -dR.", .text = "", .example = "global\n    noreuseport"},
     .parse = switch_off<&Switches::reuseport>},
    {.name = "nosplice", .sections = in_global, .doc = {.summary = "Does without splice(), like -dS.", .text = "", .example = "global\n    nosplice"},
     .parse = switch_off<&Switches::splice>},
    {.name = "pidfile", .sections = in_global,
     .doc = {.summary = "File that holds the pid of the started service, like -p.", .text = "", .example = "global\n    pidfile /tmp/penstock-example.pid"},
     .parse = set_text<&Global::pidfile>},
    {.name = "prealloc-fd", .sections = in_global,
     .doc = {.summary = "Makes the kernel size its descriptor table at the start.", .text = "", .example = "global\n    prealloc-fd"},
     .parse = set_flag<&Global::prealloc_fd>},
    {.name = "quiet", .sections = in_global, .doc = {.summary = "Says nothing at the start, like -q.", .text = "", .example = "global\n    quiet"},
     .parse = set_flag<&Global::quiet>, .negatable = true},
    {.name = "set-dumpable", .sections = in_global,
     .doc = {.summary = "Lets workers leave a core file when they crash.", .text = "Takes an optional 'on', 'off' or 'libs'.", .example = "global\n    set-dumpable"},
     .parse = set_dumpable, .negatable = true},
    {.name = "setcap", .sections = in_global,
     .doc = {.summary = "Capabilities that the workers keep when they give up root.", .text = "", .example = "global\n    setcap cap_net_bind_service"},
     .parse = setcap},
    {.name = "strict-limits", .sections = in_global,
     .doc = {.summary = "Refuses to start when the system does not grant the limits that are needed.", .text = "On by default; 'no strict-limits' makes it a warning.", .example = "global\n    no strict-limits"},
     .parse = strict_limits, .negatable = true},
    {.name = "uid", .sections = in_global, .doc = {.summary = "User number that the workers run as.", .text = "", .example = "global\n    uid 1000"},
     .parse = set_number<&Global::uid, 0, INT32_MAX>},
    {.name = "user", .sections = in_global, .doc = {.summary = "User that the workers run as.", .text = "", .example = "global\n    user root"}, .parse = user},
    {.name = "workers", .sections = in_global,
     .doc = {.summary = "Number of workers; one per usable CPU by default.", .text = "'nbthread' means the same.", .example = "global\n    workers 2"},
     .parse = set_number<&Global::workers, 1, max_workers>},
    {.name = "zero-warning", .sections = in_global, .doc = {.summary = "Refuses to start after any warning, like -dW.", .text = "", .example = "global\n    zero-warning"},
     .parse = set_flag<&Global::zero_warning>, .negatable = true},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> kw_global_process_rows() { return rows; }

} // namespace penstock
