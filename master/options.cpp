// SPDX-License-Identifier: BSD-2-Clause
#include "master/options.h"

#include "shared/base/switches.h"
#include "shared/base/text.h"

namespace penstock {
namespace {

/// The words that are left; an option takes what it needs.
struct Line {
  int argc;
  char **argv;
  int at = 1;
  string_view next() { return at < argc ? argv[at++] : ""; }
  string_view peek() const { return at < argc ? argv[at] : ""; }
  bool at_end() const { return at >= argc; }
};

struct Given {
  Options &options;
  string_view value; // the next word, or what is glued to the option's name
  Line &line;
  std::string &error;
};

enum class Takes : u8 { Nothing, Word, Glued, Pids };

struct OptionRow {
  string_view name;
  Takes takes;
  string_view value; // for the usage
  string_view summary;
  void (*apply)(Given &);
};

template <bool Options::*member> void turn_on(Given &g) { g.options.*member = true; }
template <bool Switches::*member> void switch_on(Given &) { switches.*member = true; }
template <bool Switches::*member> void switch_off(Given &) { switches.*member = false; }
template <std::string Options::*member> void text(Given &g) { g.options.*member = std::string(g.value); }
template <Listing what> void list(Given &g) { g.options.listing = what; }
template <u32 Options::*member> void number(Given &g) {
  auto n = parse_u64(g.value);
  if (!n || *n > 0x7fffffff) g.error = "'" + std::string(g.value) + "' is not a number";
  else g.options.*member = static_cast<u32>(*n);
}
template <std::vector<pid_t> Options::*member> void pids(Given &g) {
  while (auto pid = parse_u64(g.line.peek())) {
    if (*pid > 0) (g.options.*member).push_back(static_cast<pid_t>(*pid));
    g.line.next();
  }
}
void ignore(Given &) {}

// Sorted so that a glued form stands after the plain options that begin with the same letters.
constexpr OptionRow rows[] = {
    {"--", Takes::Nothing, "FILE…", "the rest of the line are configuration files",
     [](Given &g) { while (!g.line.at_end()) g.options.files.emplace_back(g.line.next()); }},
    {"-4", Takes::Nothing, "", "names resolve to IPv4 addresses only", switch_on<&Switches::ipv4_only>},
    {"-C", Takes::Word, "DIR", "go to this directory before reading files", text<&Options::directory>},
    {"-D", Takes::Nothing, "", "run in the background", turn_on<&Options::daemon>},
    {"-L", Takes::Word, "NAME", "this host's name among its peers", text<&Options::local_peer>},
    {"-N", Takes::Word, "N", "maxconn of a frontend that sets none", number<&Options::proxy_maxconn>},
    {"-S", Takes::Word, "ADDR[,OPTION…]", "listen for the master's commands there", text<&Options::master_socket>},
    {"-V", Takes::Nothing, "", "say more, even where the configuration says `quiet`", turn_on<&Options::verbose>},
    {"-W", Takes::Nothing, "", "master and workers, in the foreground", turn_on<&Options::master_worker>},
    {"-Ws", Takes::Nothing, "", "the same, and tell the service manager when ready",
     [](Given &g) { g.options.master_worker = g.options.notify = true; }},
    {"-c", Takes::Nothing, "", "check the configuration and exit",
     [](Given &g) { g.options.check = switches.checking = true; }},
    {"-cc", Takes::Word, "EXPR", "evaluate a condition: exit status 0 true, 1 false, 2 malformed",
     [](Given &g) { g.options.condition = std::string(g.value); }},
    {"-d", Takes::Nothing, "", "stay in the foreground and tell about traffic",
     [](Given &g) { g.options.foreground = switches.debug = true; }},
    {"-dC", Takes::Glued, "[KEY]", "print the configuration as it is read; with a key, names and addresses hidden",
     [](Given &g) { g.options.dump_config = true; g.options.dump_config_key = std::string(g.value); }},
    {"-dD", Takes::Nothing, "", "report what is suspicious in the configuration, too", switch_on<&Switches::diagnose>},
    {"-dF", Takes::Nothing, "", "no fast forwarding", switch_off<&Switches::fast_forward>},
    {"-dG", Takes::Nothing, "", "no getaddrinfo()", switch_off<&Switches::getaddrinfo>},
    {"-dI", Takes::Nothing, "", "processes may fork and execute after the start", switch_on<&Switches::insecure_fork>},
    {"-dK", Takes::Glued, "CLASS[,…]", "list the keywords of these classes (`help` lists the classes)",
     [](Given &g) { g.options.list_keywords = true; g.options.keyword_classes = std::string(g.value); }},
    {"-dL", Takes::Nothing, "", "list the libraries that are loaded", turn_on<&Options::dump_libraries>},
    {"-dM", Takes::Glued, "[BYTE][,WORD…]", "memory debugging (`help` explains)",
     [](Given &g) { if (g.value == "help") g.options.listing = Listing::Pools; }},
    {"-dR", Takes::Nothing, "", "no SO_REUSEPORT: one shared socket per address", switch_off<&Switches::reuseport>},
    {"-dS", Takes::Nothing, "", "no splice()", switch_off<&Switches::splice>},
    {"-dV", Takes::Nothing, "", "don't verify servers' certificates", switch_off<&Switches::server_verify>},
    {"-dW", Takes::Nothing, "", "a warning is a mistake", switch_on<&Switches::zero_warning>},
    {"-dZ", Takes::Nothing, "", "no forwarding without copies", switch_off<&Switches::zero_copy>},
    {"-db", Takes::Nothing, "", "stay in the foreground", turn_on<&Options::foreground>},
    {"-dc", Takes::Nothing, "", "accepted: which CPUs are used is in `cpu-map`", ignore},
    {"-de", Takes::Nothing, "", "no epoll", switch_off<&Switches::epoll>},
    {"-dk", Takes::Nothing, "", "accepted for kqueue systems", ignore},
    {"-dp", Takes::Nothing, "", "no poll()", switch_off<&Switches::poll>},
    {"-dr", Takes::Nothing, "", "a server whose name does not resolve is no mistake", switch_off<&Switches::need_server_addresses>},
    {"-dt", Takes::Glued, "[SOURCE…]", "traces on standard error (`help` explains)",
     [](Given &g) { if (g.value == "help") g.options.listing = Listing::Traces; }},
    {"-dv", Takes::Nothing, "", "accepted for systems with event ports", ignore},
    {"-f", Takes::Word, "FILE|DIR", "read this configuration (repeatable)",
     [](Given &g) { g.options.files.emplace_back(g.value); }},
    {"-m", Takes::Word, "MB", "limit each process to so much memory", number<&Options::memory_mb>},
    {"-n", Takes::Word, "N", "maxconn of the whole host", number<&Options::maxconn>},
    {"-p", Takes::Word, "FILE", "write the process id there", text<&Options::pidfile>},
    {"-q", Takes::Nothing, "", "no messages", switch_on<&Switches::quiet>},
    {"-sf", Takes::Pids, "[PID…]", "once ready, tell these processes to finish", pids<&Options::finish>},
    {"-st", Takes::Pids, "[PID…]", "once ready, end these processes", pids<&Options::terminate>},
    {"-v", Takes::Nothing, "", "print the version", list<Listing::Version>},
    {"-vv", Takes::Nothing, "", "print the version and what is built in", list<Listing::Build>},
    {"-x", Takes::Word, "SOCKET", "take the listening sockets over from the process that serves this one", text<&Options::takeover>},
};

const OptionRow *find_row(string_view word) {
  const OptionRow *glued = nullptr;
  for (const OptionRow &row : rows) {
    if (row.name == word) return &row;
    if (row.takes == Takes::Glued && word.starts_with(row.name)) glued = &row;
  }
  return glued;
}

} // namespace

Options parse_options(int argc, char **argv, std::string &error) {
  Options options;
  Line line{argc, argv};
  while (!line.at_end() && error.empty()) {
    string_view word = line.next();
    const OptionRow *row = find_row(word);
    if (!row) {
      options.listing = Listing::Usage;
      error = "unknown option '" + std::string(word) + "'";
      return options;
    }
    Given given{options, {}, line, error};
    if (row->takes == Takes::Glued) given.value = word.substr(row->name.size());
    if (row->takes == Takes::Word) {
      if (line.at_end()) {
        options.listing = Listing::Usage;
        error = "option '" + std::string(word) + "' expects " + std::string(row->value);
        return options;
      }
      given.value = line.next();
    }
    row->apply(given);
    if (options.listing == Listing::Version || options.listing == Listing::Build) return options;
  }
  if (error.empty() && options.listing == Listing::None && options.files.empty() && !options.condition && !options.list_keywords) options.listing = Listing::Usage;
  return options;
}

std::vector<std::string> reload_arguments(const std::vector<std::string> &arguments, bool check) {
  std::vector<std::string> out = {arguments.at(0)};
  if (check) out.push_back("-c");
  for (size_t i = 1; i < arguments.size(); i++) {
    const std::string &word = arguments[i];
    const OptionRow *row = find_row(word);
    if (!row) continue;
    bool once = row->takes == Takes::Pids || row->name == "-x" || (check && row->name == "-q");
    if (row->name == "--") {
      out.insert(out.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
      break;
    }
    if (!once) out.push_back(word);
    if (row->takes == Takes::Word && ++i < arguments.size() && !once) out.push_back(arguments[i]);
    if (row->takes == Takes::Pids)
      while (i + 1 < arguments.size() && parse_u64(arguments[i + 1])) i++;
  }
  return out;
}

std::string usage() {
  std::string out = "Usage: penstock [-f FILE|DIR]… [OPTION]… [-- FILE…]\n";
  for (const OptionRow &row : rows) {
    std::string left = "  " + std::string(row.name);
    if (!row.value.empty()) left += (row.takes == Takes::Glued ? "" : " ") + std::string(row.value);
    size_t shown = 0; // characters, not bytes
    for (char c : left) shown += (c & 0xc0) != 0x80;
    left.append(shown < 26 ? 26 - shown : 1, ' ');
    out += left + std::string(row.summary) + "\n";
  }
  return out;
}

} // namespace penstock
