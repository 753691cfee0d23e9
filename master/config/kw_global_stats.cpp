// SPDX-License-Identifier: BSD-2-Clause
// Global keywords about the runtime socket, the files of server states and log headers (manual 3.1),
// and defaults for UNIX sockets.
#include <grp.h>
#include <pwd.h>

#include "master/config/kw_proxy.h"
#include "master/config/slots.h"
#include "shared/base/text.h"

namespace penstock {

namespace {

void stats_socket(LineContext &ctx) {
  if (ctx.words.at_end()) return ctx.words.alert("'stats socket' expects a path or an address with a port");
  AddressWord address;
  if (!parse_address(ctx.words, {.port_required = true, .fd = true}, address)) return;
  auto bind = std::make_unique<Bind>();
  bind->place = ctx.words.line_place();
  bind->address = address.address;
  bind->inherited_fd = address.fd;
  bind->inherited_kind_given = address.socket_given;
  bind->sockpair = address.sockpair;
  if (!parse_line_options(ctx, bind_option_index(), bind.get())) return;
  if (bind->name.empty()) bind->name = "stats-" + std::to_string(ctx.config.global.stats_sockets.size() + 1);
  ctx.config.global.stats_sockets.push_back(std::move(bind));
}

void log_send_hostname(LineContext &ctx) {
  Global &g = ctx.config.global;
  g.log_send_hostname_set = true;
  g.log_send_hostname.clear(); // the host's own name
  if (!ctx.words.at_end()) g.log_send_hostname = ctx.words.next();
}

void server_state_file(LineContext &ctx) { set_text<&Global::server_state_file>(ctx); }

void unix_bind(LineContext &ctx) {
  Global &g = ctx.config.global;
  Words &words = ctx.words;
  if (words.at_end()) return words.alert("'unix-bind' expects 'prefix', 'mode', 'user', 'uid', 'group' or 'gid'");
  while (!words.at_end()) {
    std::string what(words.next());
    auto value = words.need("a value after '" + what + "'");
    if (!value) return;
    std::string text(*value);
    auto number = parse_u64(text);
    passwd *pw = what == "user" ? getpwnam(text.c_str()) : nullptr;
    struct group *gr = what == "group" ? getgrnam(text.c_str()) : nullptr;
    char *end = nullptr;
    if (what == "prefix") g.unix_bind_prefix = text;
    else if (what == "mode") {
      g.unix_bind_mode = static_cast<u32>(strtoul(text.c_str(), &end, 8));
      if (*end || g.unix_bind_mode > 0777) words.alert_last("'mode' expects octal digits such as 660");
    } else if (pw) g.unix_bind_uid = static_cast<i32>(pw->pw_uid);
    else if (gr) g.unix_bind_gid = static_cast<i32>(gr->gr_gid);
    else if (what == "uid" && number) g.unix_bind_uid = static_cast<i32>(*number);
    else if (what == "gid" && number) g.unix_bind_gid = static_cast<i32>(*number);
    else if (what == "user" || what == "group") words.alert_last("there is no " + what + " '" + text + "' on this system");
    else words.alert_last("'unix-bind' expects 'prefix', 'mode', 'user', 'uid', 'group' or 'gid', got '" + what + " " + text + "'");
  }
}

constexpr KeywordDef rows[] = {
    {.name = "log-send-hostname", .sections = in_global,
     .doc = {.summary = "Name of the host in the header of log lines; the host's own name if none is given.", .text = {}, .example = "global\n    log-send-hostname lb1"},
     .parse = log_send_hostname},
    {.name = "server-state-base", .sections = in_global,
     .doc = {.summary = "Directory of server state files that are named by a relative path.", .text = {}, .example = "global\n    server-state-base /var/lib/penstock"},
     .parse = set_text<&Global::server_state_base>},
    {.name = "server-state-file", .sections = in_global,
     .doc = {.summary = "File that server states are read from at the start.", .text = "Proxies ask for it with 'load-server-state-from-file global'.", .example = "global\n    server-state-file /var/lib/penstock/state"},
     .parse = server_state_file},
    {.name = "stats maxconn", .sections = in_global,
     .doc = {.summary = "Concurrent connections to the runtime sockets.", .text = {}, .example = "global\n    stats maxconn 20"},
     .parse = set_number<&Global::stats_maxconn, 1, 1'000'000>},
    {.name = "stats socket", .sections = in_global,
     .doc = {.summary = "A runtime socket: commands in, state out.",
             .text = "Takes an address as 'bind' does and its options, of which 'level user|operator|admin', 'mode', 'user', 'group' and 'expose-fd listeners' are usual.",
             .example = "global\n    stats socket /tmp/penstock-example.sock mode 600 level admin"},
     .parse = stats_socket},
    {.name = "stats timeout", .sections = in_global,
     .doc = {.summary = "Longest pause in a conversation on a runtime socket; 10 seconds by default.", .text = {}, .example = "global\n    stats timeout 30s"},
     .parse = set_delay<&Global::stats_timeout>},
    {.name = "unix-bind", .sections = in_global,
     .doc = {.summary = "Path prefix, mode and owner of UNIX sockets whose lines do not say their own.", .text = {}, .example = "global\n    unix-bind mode 660"},
     .parse = unix_bind},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> kw_global_stats_rows() { return rows; }

} // namespace penstock
