// SPDX-License-Identifier: BSD-2-Clause
#include "master/config/resolve.h"

#include <algorithm>
#include <set>

#include "master/config/resolve_errors.h"
#include "master/config/settle_rules.h"
#include "shared/model/config.h"
#include "shared/table/words.h"

namespace penstock {

std::string proxy_text(const Proxy &proxy) {
  string_view kind = proxy.is_frontend && proxy.is_backend ? "proxy" : proxy.is_frontend ? "frontend" : "backend";
  return std::string(kind) + " '" + proxy.name + "'";
}

// --------------------------------------------------------------------------------------- proxy names

static std::string at(const Place &place) { return std::string(place.file) + ":" + std::to_string(place.line); }

/// Fixed ids are kept; the others get the first that is free, in file order.
static void number_proxies(Config &config, Diagnostics &diags) {
  std::map<u32, const Proxy *> fixed;
  for (const auto &proxy : config.proxies) {
    if (proxy->id == 0) continue;
    auto [it, added] = fixed.try_emplace(proxy->id, proxy.get());
    if (!added)
      diags.alert(proxy->place, proxy_text(*proxy) + " has the id " + std::to_string(proxy->id) + " of " + proxy_text(*it->second) + " at " + at(it->second->place));
  }
  u32 next = 1;
  for (const auto &proxy : config.proxies) {
    if (proxy->id != 0) continue;
    while (fixed.contains(next)) next++;
    proxy->id = next++;
  }
}

static void number_binds(Proxy &proxy, Diagnostics &diags) {
  std::set<u32> fixed;
  for (const auto &bind : proxy.binds)
    if (bind->id != 0 && !fixed.insert(bind->id).second)
      diags.alert(bind->place, "two 'bind' lines of " + proxy_text(proxy) + " have the id " + std::to_string(bind->id));
  u32 next = 1;
  for (const auto &bind : proxy.binds) {
    if (bind->id != 0) continue;
    while (fixed.contains(next)) next++;
    bind->id = next++;
  }
}

void resolve_proxy_names(Config &config, Diagnostics &diags) {
  for (const auto &proxy : config.proxies) {
    // A frontend and a backend may share a name.
    auto add = [&](auto &map) {
      auto [it, added] = map.try_emplace(proxy->name, proxy.get());
      if (!added) diags.alert(proxy->place, proxy_text(*proxy) + " has the name of " + proxy_text(*it->second) + " at " + at(it->second->place));
      return added;
    };
    if ((!proxy->is_frontend || add(config.frontends)) && proxy->is_backend) add(config.backends);
    number_binds(*proxy, diags);
  }
  number_proxies(config, diags);
}

// -------------------------------------------------------------------------------------------- routes

/// The backend of that name, or null after an alert.
static const Proxy *find_target(Config &config, const Proxy &from, string_view name, Place place, string_view rule, Diagnostics &diags) {
  const Proxy *target = config.backend(name);
  if (!target) {
    NearMiss near(name);
    for (const auto &[known, proxy] : config.backends) near.consider(known);
    std::string hint = near.hint();
    if (hint.empty() && config.frontend(name)) hint = "there is a frontend of that name";
    diags.alert(place, proxy_text(from) + ": there is no backend '" + std::string(name) + "' for " + std::string(rule), hint);
    return nullptr;
  }
  if (target == &from) {
    diags.alert(place, proxy_text(from) + " is its own " + std::string(rule) + ": requests would go round for ever");
    return nullptr;
  }
  if (from.mode != target->mode && !(from.mode == Mode::Tcp && target->mode == Mode::Http)) {
    diags.alert(place, std::string(from.mode == Mode::Http ? "http " : "tcp ") + proxy_text(from) + " cannot use the " +
                           (target->mode == Mode::Http ? "http " : "tcp ") + proxy_text(*target) + " as its " + std::string(rule), "see 'mode'");
    return nullptr;
  }
  return target;
}

static void resolve_frontend(Config &config, Proxy &proxy, Diagnostics &diags) {
  if (!proxy.default_backend.empty()) {
    Place place = proxy.default_backend_place.file ? proxy.default_backend_place : proxy.place;
    proxy.default_target = find_target(config, proxy, proxy.default_backend, place, "default_backend", diags);
  }
  for (UseBackend &rule : proxy.use_backend)
    if (auto name = rule.name.constant()) rule.target = find_target(config, proxy, *name, rule.place, "use_backend", diags);
}

static void resolve_use_server(Proxy &proxy, Diagnostics &diags) {
  for (UseServer &rule : proxy.use_server) {
    auto name = rule.name.constant();
    if (!name) continue;
    NearMiss near(*name);
    for (const auto &server : proxy.servers) {
      if (server->name == *name) rule.target = server.get();
      near.consider(server->name);
    }
    if (!rule.target) diags.alert(rule.place, proxy_text(proxy) + " has no server '" + std::string(*name) + "' for 'use-server'", near.hint());
  }
}

void resolve_routes(Config &config, Diagnostics &diags) {
  for (const auto &proxy : config.proxies) {
    if (proxy->is_frontend && !proxy->disabled) resolve_frontend(config, *proxy, diags);
    if (proxy->is_backend) resolve_use_server(*proxy, diags);
  }
}

// ----------------------------------------------------------------------------------------- userlists

void resolve_userlists(Config &config, Diagnostics &diags) {
  for (const auto &list : config.userlists) {
    for (User &user : list->users)
      for (const std::string &group : user.groups)
        if (!list->groups.contains(group))
          diags.alert(list->place, "userlist '" + list->name + "': the user '" + user.name + "' is in the group '" + group + "', which does not exist");
    for (const auto &[group, members] : list->groups) {
      for (const std::string &name : members) {
        auto user = std::find_if(list->users.begin(), list->users.end(), [&](const User &u) { return u.name == name; });
        if (user == list->users.end()) diags.alert(list->place, "userlist '" + list->name + "': the group '" + group + "' has the user '" + name + "', who does not exist");
        else if (std::find(user->groups.begin(), user->groups.end(), group) == user->groups.end()) user->groups.push_back(group);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------- order

void resolve_configuration(Config &config, Diagnostics &diags) {
  resolve_proxy_names(config, diags);
  resolve_servers(config, diags);
  resolve_userlists(config, diags);
  resolve_names(config, diags); // those inside expressions
  resolve_tables(config, diags);
  resolve_routes(config, diags);
  resolve_error_files(config, diags);
  resolve_logs(config, diags);
  settle_rules(config);
  settle_checks(config);
  validate_configuration(config, diags);
  if (!diags.failed()) resolve_addresses(config, diags); // last: it may take time, and its mistakes are not in the text
}

} // namespace penstock
