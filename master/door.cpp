// SPDX-License-Identifier: BSD-2-Clause
#include "master/door.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cstdio>

#include "master/config/conditions.h"
#include "master/config/keyword_list.h"
#include "master/config/keyword_list.h"
#include "master/config/parser.h"
#include "master/daemonize.h"
#include "master/dump_config.h"
#include "master/limits.h"
#include "master/messages.h"
#include "master/sd_notify.h"
#include "master/supervise.h"
#include "master/version.h"
#include "shared/base/build_info.h"
#include "shared/base/switches.h"

extern char **environ;

namespace penstock {
namespace {

/// Whatever we inherited: ^C works, a closed pipe is no reason to die, and nothing is blocked.
void reset_signals() {
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  signal(SIGCHLD, SIG_DFL);
  signal(SIGPIPE, SIG_IGN);
}

/// Where the binary is on disk, so that a replaced one is found by a reload: as it was called, not what it was resolved to.
std::string find_executable(const char *called) {
  std::string name = called;
  char directory[PATH_MAX];
  if (name.starts_with('/')) return name;
  if (name.find('/') != std::string::npos && getcwd(directory, sizeof directory)) return std::string(directory) + "/" + name;
  const char *path = getenv("PATH");
  for (std::string rest = path ? path : ""; !rest.empty();) {
    size_t colon = rest.find(':');
    std::string candidate = rest.substr(0, colon) + "/" + name;
    if (candidate.starts_with('/') && access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.erase(0, colon == std::string::npos ? rest.size() : colon + 1);
  }
  ssize_t n = readlink("/proc/self/exe", directory, sizeof directory);
  return n > 0 ? std::string(directory, static_cast<size_t>(n)) : name;
}

Invocation invocation_of(int argc, char **argv, Options options) {
  Invocation out;
  out.options = std::move(options);
  out.arguments.assign(argv, argv + argc);
  for (char **e = environ; *e; e++) out.environment.emplace_back(*e);
  out.executable = find_executable(argv[0]);
  char directory[PATH_MAX];
  if (getcwd(directory, sizeof directory)) out.directory = directory;
  return out;
}

int print(const std::string &text, int status = 0) {
  fwrite(text.data(), 1, text.size(), stdout);
  fflush(stdout);
  return status;
}

int show_usage(const std::string &error) {
  if (!error.empty()) say(Severity::Alert, error);
  print(version_text());
  std::string text = usage();
  fwrite(text.data(), 1, text.size(), stderr);
  return 1;
}

int answer_condition(const std::string &expression) {
  std::string error;
  int status = check_condition_for_command_line(expression, error);
  if (status == 2) say(Severity::Alert, "cannot evaluate the condition '" + expression + "': " + error);
  return status;
}

/// What only prints. Nothing: go on.
std::optional<int> listing(const Options &options, const std::string &error) {
  switch (options.listing) {
    case Listing::Version: return print(version_text());
    case Listing::Build: return print(build_text());
    case Listing::Pools: return print(pools_text());
    case Listing::Traces: return print(traces_text());
    case Listing::Usage: return show_usage(error);
    case Listing::None: break;
  }
  if (!error.empty()) return show_usage(error);
  if (options.condition) return answer_condition(*options.condition);
  return {};
}

bool has_listener(const Config &config) {
  if (!config.global.stats_sockets.empty()) return true;
  for (const auto &proxy : config.proxies)
    if (!proxy->binds.empty()) return true;
  return false;
}

/// The command line's word goes over the configuration's for modes, under it for names and numbers.
void merge_options(Options &options, Config &config) {
  Global &g = config.global;
  if (options.foreground) options.daemon = false;
  else if (g.daemon && !options.master_worker) options.daemon = true;
  else if (g.daemon && g.master_worker && !options.notify) options.daemon = true;
  if (g.master_worker) options.master_worker = true;
  if (g.quiet && !options.verbose) switches.quiet = true;
  if (g.zero_warning) switches.zero_warning = true;
  if (!options.pidfile.empty()) g.pidfile = options.pidfile;
  if (!options.local_peer.empty()) g.localpeer = options.local_peer;
  if (options.proxy_maxconn == 0) return;
  for (auto &proxy : config.proxies)
    if (proxy->is_frontend && !proxy->maxconn) proxy->maxconn = options.proxy_maxconn;
}

/// What is printed beside whatever else is asked for.
void print_extras(const Options &options) {
  if (options.dump_libraries) print(libraries_text());
  if (options.list_keywords) print(list_keywords(options.keyword_classes));
  if (options.dump_config) print(dump_configuration(options.files, options.dump_config_key));
}

/// Null after mistakes, which have been told.
std::unique_ptr<Config> load(const Options &options) {
  auto config = std::make_unique<Config>();
  Diagnostics diags;
  if (!options.directory.empty() && chdir(options.directory.c_str()) < 0) {
    say(Severity::Alert, "cannot change to directory " + options.directory + ": " + strerror(errno));
    return nullptr;
  }
  if (!options.local_peer.empty()) config->global.localpeer = options.local_peer;
  read_configuration(options.files, *config, diags);
  say_all(diags);
  if (diags.failed()) {
    say(Severity::Alert, "The configuration has " + std::to_string(diags.alerts()) + (diags.alerts() == 1 ? " mistake." : " mistakes."));
    return nullptr;
  }
  if ((switches.zero_warning || config->global.zero_warning) && diags.warnings() > 0) {
    say(Severity::Alert, "Some warnings were found and 'zero-warning' is set. Aborting.");
    return nullptr;
  }
  return config;
}

int check(Config &config) {
  if (getenv(trial_variable) && has_listener(config)) {
    Listeners trial;
    if (!trial.try_out(config)) return 1;
  }
  if (!switches.quiet) print("Configuration file is valid\n");
  return 0;
}

int start(Invocation invocation, std::unique_ptr<Config> config) {
  Options &options = invocation.options;
  if (!has_listener(*config)) {
    say(Severity::Alert, "The configuration is valid but has no listener: there is nothing to do.");
    return 2;
  }
  if (!apply_limits(options, *config)) return 1;
  if (options.notify) notify_enable();
  bool background = options.daemon;
  std::string pidfile = background || options.master_worker ? config->global.pidfile : "";
  Supervisor supervisor(std::move(invocation));
  if (!supervisor.prepare(std::move(config))) return 1;
  if (background) {
    int report = daemonize();
    if (report < 0) {
      say(Severity::Alert, std::string("cannot go to the background: ") + strerror(errno));
      return 1;
    }
    supervisor.report_to(report);
  }
  std::string error;
  if (!pidfile.empty() && !write_pidfile(pidfile, error)) {
    say(Severity::Alert, error);
    return 1;
  }
  supervisor.start();
  return supervisor.run();
}

int resume(Invocation invocation, Manifest manifest) {
  Options &options = invocation.options;
  auto config = load(options);
  if (config) {
    merge_options(options, *config);
    if (!apply_limits(options, *config)) config.reset();
  }
  if (options.notify) notify_enable();
  Supervisor supervisor(std::move(invocation));
  supervisor.take_up(std::move(manifest), std::move(config));
  return supervisor.run();
}

} // namespace

int run_penstock(int argc, char **argv) {
  auto manifest = take_manifest();
  reset_signals();
  std::string error;
  Options options = parse_options(argc, argv, error);
  if (auto status = listing(options, error)) return *status;
  if (options.verbose) switches.quiet = false;
  if (options.dump_libraries) print(libraries_text());
  if (options.list_keywords) {
    print(list_keywords(options.keyword_classes));
    if (options.files.empty()) return 0;
  }
  Invocation invocation = invocation_of(argc, argv, std::move(options));
  if (manifest) return resume(std::move(invocation), std::move(*manifest));
  if (invocation.options.files.empty()) {
    print_extras(invocation.options); // no file is needed to list the language
    return 0;
  }
  auto config = load(invocation.options);
  if (!config) return 1;
  print_extras(invocation.options);
  if (invocation.options.check) return check(*config);
  merge_options(invocation.options, *config);
  return start(std::move(invocation), std::move(config));
}

} // namespace penstock
