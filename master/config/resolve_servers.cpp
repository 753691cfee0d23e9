// SPDX-License-Identifier: BSD-2-Clause
// Servers within their backends: distinct names, ids, whom they track.
#include <algorithm>
#include <unordered_map>

#include "master/config/resolve.h"
#include "shared/base/text.h"
#include "shared/model/config.h"
#include "shared/table/words.h"

namespace penstock {

namespace {

std::string server_text(const Server &s) { return "server '" + s.proxy->name + "/" + s.name + "'"; }

void check_names(const Proxy &proxy, Diagnostics &diags) {
  std::unordered_map<string_view, const Server *> seen;
  seen.reserve(proxy.servers.size());
  for (const auto &server : proxy.servers) {
    auto [it, added] = seen.try_emplace(server->name, server.get());
    if (!added) diags.alert(server->place, proxy_text(proxy) + " has a server '" + server->name + "' already, at line " + std::to_string(it->second->place.line));
  }
}

void number_servers(const Proxy &proxy, Diagnostics &diags) {
  std::unordered_map<u32, const Server *> fixed;
  for (const auto &server : proxy.servers) {
    if (server->id == 0) continue;
    auto [it, added] = fixed.try_emplace(server->id, server.get());
    if (!added) diags.alert(server->place, server_text(*server) + " has the id " + std::to_string(server->id) + " of " + server_text(*it->second));
  }
  u32 next = 1;
  for (const auto &server : proxy.servers) {
    if (server->id != 0) continue;
    while (fixed.contains(next)) next++;
    server->id = next++;
  }
}

Server *find_tracked(Config &config, const Server &server, Diagnostics &diags) {
  string_view path = server.options->track;
  size_t slash = path.find('/');
  Proxy *backend = slash == string_view::npos ? server.proxy : config.backend(path.substr(0, slash));
  if (!backend) {
    NearMiss near(path.substr(0, slash));
    for (const auto &[name, proxy] : config.backends) near.consider(name);
    diags.alert(server.place, server_text(server) + " tracks a server of the backend '" + std::string(path.substr(0, slash)) + "', which does not exist", near.hint());
    return nullptr;
  }
  string_view name = slash == string_view::npos ? path : path.substr(slash + 1);
  NearMiss near(name);
  for (const auto &candidate : backend->servers) {
    if (candidate->name == name) return candidate.get();
    near.consider(candidate->name);
  }
  diags.alert(server.place, server_text(server) + " tracks '" + std::string(path) + "', but " + proxy_text(*backend) + " has no such server", near.hint());
  return nullptr;
}

/// Ends at a server that has checks of its own.
bool leads_to_checks(const Server &server, Diagnostics &diags) {
  const Server *s = &server;
  for (unsigned hops = 0; s->tracked; hops++) {
    if (hops > 1000) {
      diags.alert(server.place, server_text(server) + " tracks itself in the end");
      return false;
    }
    s = s->tracked;
  }
  if (s->options->check || s->options->agent_check) return true;
  diags.alert(server.place, server_text(server) + " tracks " + server_text(*s) + ", which has no checks");
  return false;
}

void resolve_tracks(Config &config, Diagnostics &diags) {
  std::vector<Server *> tracking;
  for (const auto &proxy : config.proxies)
    for (const auto &server : proxy->servers)
      if (!server->options->track.empty()) tracking.push_back(server.get());
  for (Server *server : tracking) {
    if (server->options->check) diags.alert(server->place, server_text(*server) + " has both 'check' and 'track': only one of them can decide");
    server->tracked = find_tracked(config, *server, diags);
  }
  for (Server *server : tracking)
    if (server->tracked) leads_to_checks(*server, diags);
}

/// `dispatch` and `option transparent` give way to a `balance` line.
void settle_direct(Config &config, Proxy &proxy, Diagnostics &diags) {
  if (!proxy.is_backend) return;
  if (proxy.direct && proxy.balance.given) {
    diags.warning(proxy.direct->place, "'dispatch' of " + proxy_text(proxy) + " is ignored: 'balance' chooses among the servers");
    proxy.direct.reset();
  }
  if (proxy.has(Opt::Transparent) && !proxy.direct && !proxy.balance.given) {
    proxy.direct = std::make_unique<Server>();
    proxy.direct->address = Address::from_ip(Ip::v4(0), 0); // as on a `server` line: what the client connected to
    proxy.direct->place = proxy.place;
  }
  if (!proxy.direct) return;
  Server &direct = *proxy.direct;
  direct.name = "<NOSRV>"; // as logs show it
  direct.proxy = &proxy;
  direct.global_index = config.server_count++;
  direct.options = proxy.default_server ? proxy.default_server : std::make_shared<ServerOptions>();
}

} // namespace

void resolve_servers(Config &config, Diagnostics &diags) {
  for (const auto &proxy : config.proxies) {
    settle_direct(config, *proxy, diags);
    if (proxy->servers.empty()) continue;
    check_names(*proxy, diags);
    number_servers(*proxy, diags);
  }
  resolve_tracks(config, diags);
}

} // namespace penstock
