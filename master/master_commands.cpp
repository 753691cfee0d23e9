// SPDX-License-Identifier: BSD-2-Clause
#include "master/master_commands.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <span>

#include "master/master_cli.h"
#include "master/master_session.h"
#include "master/messages.h"
#include "master/supervise.h"
#include "shared/base/build_info.h"
#include "shared/base/text.h"

extern char **environ;

namespace penstock {
namespace {

using Arguments = std::vector<string_view>;

struct CommandRow {
  string_view name; // one or more words
  string_view arguments;
  string_view summary;
  Bind::Level level;
  void (*run)(MasterSession &, Supervisor &, const Arguments &arguments);
};

// ------------------------------------------------------------------------------------------- show proc

std::string uptime(i64 since) {
  i64 s = std::max<i64>(0, wall_us() / 1'000'000 - since);
  char text[40];
  snprintf(text, sizeof text, "%lldd%02dh%02dm%02ds", static_cast<long long>(s / 86400), static_cast<int>(s / 3600 % 24), static_cast<int>(s / 60 % 60), static_cast<int>(s % 60));
  return text;
}

void proc_line(MasterSession &to, i64 pid, string_view type, const std::string &reloads, i64 since, string_view version, std::optional<int> channel) {
  char line[160];
  snprintf(line, sizeof line, "%-15lld %-15.*s %-15s %-15s %-15.*s", static_cast<long long>(pid), static_cast<int>(type.size()), type.data(), reloads.c_str(),
           uptime(since).c_str(), static_cast<int>(version.size()), version.data());
  to.print(line);
  if (channel) to.print("\t\t " + std::to_string(*channel) + "               ");
  to.print("\n");
}

void proc_children(MasterSession &to, Supervisor &s, bool current, bool debug) {
  for (const Child &c : s.children()) {
    if ((c.generation >= s.generation()) != current || (c.kind == ChildKind::Control && !debug)) continue;
    proc_line(to, c.pid, c.kind == ChildKind::Control ? "control" : "worker", std::to_string(s.reloads() - c.born_at_reload), c.started_s, c.version,
              debug ? std::optional<int>(c.channel.fd()) : std::nullopt);
  }
}

void show_proc(MasterSession &to, Supervisor &s, const Arguments &arguments) {
  bool debug = !arguments.empty() && arguments[0] == "debug";
  to.print("#<PID>          <type>          <reloads>       <uptime>        <version>      ");
  to.print(debug ? "\t\t <ipc_fd>       \n" : "\n");
  proc_line(to, getpid(), "master", std::to_string(s.reloads()) + " [failed: " + std::to_string(s.failed_reloads()) + "]", s.started_s(), product_version,
            debug ? std::optional<int>(to.cli().listener()) : std::nullopt);
  to.print("# workers\n");
  proc_children(to, s, true, debug);
  bool old = std::ranges::any_of(s.children(), [&s](const Child &c) { return c.generation < s.generation() && c.kind == ChildKind::Worker; });
  if (old) {
    to.print("# old workers\n");
    proc_children(to, s, false, debug);
  }
  to.print("\n");
}

// ------------------------------------------------------------------------------------------ the others

void show_version(MasterSession &to, Supervisor &, const Arguments &) { to.print(std::string(product_version) + "\n\n"); }
void show_startup_logs(MasterSession &to, Supervisor &, const Arguments &) { to.print(startup_log() + "\n"); }

void show_env(MasterSession &to, Supervisor &, const Arguments &arguments) {
  for (char **e = environ; *e; e++) {
    string_view line = *e;
    if (arguments.empty() || line.substr(0, line.find('=')) == arguments[0]) to.print(std::string(line) + "\n");
  }
  to.print("\n");
}

template <bool hard> void reload(MasterSession &from, Supervisor &s, const Arguments &) { s.reload(from.give_away(), hard); }

template <Bind::Level level> void lower_level(MasterSession &session, Supervisor &, const Arguments &) {
  if (session.level < level) session.print("Permission denied\n");
  else session.level = level;
}

void show_level(MasterSession &session, Supervisor &, const Arguments &) {
  constexpr const char *names[] = {"user\n\n", "operator\n\n", "admin\n\n"};
  session.print(names[session.level]);
}

void show_sockets(MasterSession &session, Supervisor &, const Arguments &) {
  std::string key = session.cli().key();
  session.print("# socket lvl processes\n" + key.substr(key.find(' ') + 1) + " admin all\n\n");
}

void set_prompt(MasterSession &session, Supervisor &, const Arguments &arguments) {
  using Prompt = MasterSession::Prompt;
  string_view how = arguments.empty() ? "" : arguments[0];
  struct Row {
    string_view word;
    Prompt prompt;
  };
  static constexpr Row rows[] = {{"n", Prompt::None}, {"i", Prompt::Silent}, {"p", Prompt::Shown}, {"timed", Prompt::Shown}};
  for (const Row &row : rows)
    if (row.word == how) session.prompt = row.prompt;
  if (how.empty()) session.prompt = session.prompt == Prompt::Shown ? Prompt::None : Prompt::Shown;
  if (session.prompt == Prompt::None) session.print("\n");
}

void echo(MasterSession &session, Supervisor &, const Arguments &arguments) {
  for (size_t i = 0; i < arguments.size(); i++) session.print((i ? " " : "") + std::string(arguments[i]));
  session.print("\n");
}
void quit(MasterSession &session, Supervisor &, const Arguments &) { session.quit(); }
/// Accepted and without effect here: what they unlock belongs to the runtime socket.
void accept_mode(MasterSession &, Supervisor &, const Arguments &) {}
void help(MasterSession &session, Supervisor &, const Arguments &arguments);

constexpr CommandRow rows[] = {
    {"echo", "TEXT", "print the text", Bind::User, echo},
    {"experimental-mode", "[on|off]", "accepted", Bind::User, accept_mode},
    {"expert-mode", "[on|off]", "accepted", Bind::User, accept_mode},
    {"hard-reload", "", "load the configuration anew and end the old workers at once", Bind::Admin, reload<true>},
    {"help", "[COMMAND]", "this list, or what begins like COMMAND", Bind::User, help},
    {"mcli-debug-mode", "[on|off]", "accepted", Bind::User, accept_mode},
    {"operator", "", "lower the level of this conversation to operator", Bind::User, lower_level<Bind::Operator>},
    {"prompt", "[n|i|p|timed]", "keep the conversation open", Bind::User, set_prompt},
    {"quit", "", "end the conversation", Bind::User, quit},
    {"reload", "", "load the configuration anew; old workers finish what they have", Bind::Admin, reload<false>},
    {"show cli level", "", "the level of this conversation", Bind::User, show_level},
    {"show cli sockets", "", "the sockets that take commands", Bind::Operator, show_sockets},
    {"show env", "[VAR]", "environment variables of the master", Bind::Operator, show_env},
    {"show proc", "[debug]", "the processes and how long they run", Bind::Operator, show_proc},
    {"show startup-logs", "", "messages of the last start or reload", Bind::Operator, show_startup_logs},
    {"show version", "", "version of the master", Bind::User, show_version},
    {"user", "", "lower the level of this conversation to user", Bind::User, lower_level<Bind::User>},
};

void help_line(MasterSession &session, string_view left, string_view summary) {
  char line[200];
  snprintf(line, sizeof line, "  %-40.*s: %.*s\n", static_cast<int>(left.size()), left.data(), static_cast<int>(summary.size()), summary.data());
  session.print(line);
}

void help(MasterSession &session, Supervisor &, const Arguments &arguments) {
  session.print("The following commands are valid at this level:\n");
  help_line(session, "@!<pid> [COMMAND]", "send a command to the processes of <pid>");
  help_line(session, "@1 [COMMAND]", "send a command to the current processes");
  help_line(session, "@master [COMMAND]", "send a command to the master");
  for (const CommandRow &row : rows)
    if (row.level <= session.level && (arguments.empty() || row.name.starts_with(arguments[0])))
      help_line(session, std::string(row.name) + (row.arguments.empty() ? "" : " " + std::string(row.arguments)), row.summary);
  session.print("\n");
}

Arguments words_of(string_view line) {
  Arguments out;
  for (string_view w : split(line, ' '))
    if (!w.empty()) out.push_back(w);
  return out;
}

/// How many words of the line the row's name takes; 0: it is not this one.
size_t matches(const CommandRow &row, const Arguments &line) {
  Arguments name = words_of(row.name);
  if (line.size() < name.size()) return 0;
  return std::equal(name.begin(), name.end(), line.begin()) ? name.size() : 0;
}

} // namespace

void run_master_command(MasterSession &session, string_view command) {
  Arguments line = words_of(command);
  if (line.empty()) return;
  for (const CommandRow &row : rows) {
    size_t taken = matches(row, line);
    if (!taken) continue;
    if (row.level > session.level) return session.print("Permission denied\n\n");
    return row.run(session, session.cli().supervisor(), Arguments(line.begin() + static_cast<std::ptrdiff_t>(taken), line.end()));
  }
  session.print("Unknown command: '" + std::string(line[0]) + "', but maybe one of the following ones is a better match:\n");
  for (const CommandRow &row : rows)
    if (row.level <= session.level && (row.name.starts_with(line[0]) || row.name.starts_with("help") || row.name.starts_with("prompt")))
      help_line(session, row.name, row.summary);
  session.print("\n");
}

Child *find_target(Supervisor &supervisor, string_view prefix) {
  prefix.remove_prefix(1);
  u32 generation = 0;
  if (prefix.starts_with('!')) {
    auto pid = parse_i64(prefix.substr(1));
    for (const Child &c : supervisor.children())
      if (pid && c.pid == *pid) generation = c.generation;
  } else if (prefix == "1") {
    generation = supervisor.generation();
  }
  if (!generation) return nullptr;
  for (Child &c : supervisor.children())
    if (c.kind == ChildKind::Control && c.generation == generation && c.channel.is_open()) return &c;
  return nullptr;
}

} // namespace penstock
