// SPDX-License-Identifier: BSD-2-Clause
// The command line (interface.md, "Command line"): one row per option, applied to Options and to the
// Switches that other parts ask for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "shared/base/basic.h"

namespace penstock {

enum class Listing : u8 { None, Version, Build, Usage, Pools, Traces };

struct Options {
  std::vector<std::string> files; // files and directories in order
  std::string directory;          // -C
  std::optional<std::string> condition; // -cc
  bool check = false, daemon = false, master_worker = false, notify = false;
  bool foreground = false, verbose = false;
  bool dump_libraries = false, dump_config = false;
  std::string dump_config_key, keyword_classes;
  bool list_keywords = false;
  u32 maxconn = 0, proxy_maxconn = 0, memory_mb = 0;
  std::string pidfile, local_peer;
  std::string master_socket;      // -S ADDR[,opts]
  std::string takeover;           // -x
  std::vector<pid_t> finish, terminate; // -sf, -st
  Listing listing = Listing::None;
};

/// Reads the command line. On a mistake: the listing is Usage and `error` may say why.
Options parse_options(int argc, char **argv, std::string &error);

/// The command line of the next image: without the lists of processes to end and what to take over, and
/// for a check with -c and without -q.
std::vector<std::string> reload_arguments(const std::vector<std::string> &arguments, bool check);

/// The usage text: one line per option.
std::string usage();

} // namespace penstock
