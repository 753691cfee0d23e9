// SPDX-License-Identifier: BSD-2-Clause
// Host names of servers become addresses, as 'init-addr' says (manual 5.2): from the system's resolver,
// or a fixed address, or none (the server then starts without one and is not used). Addresses from a
// state file ("last") are put in by whoever loads it, after this.
#include <netdb.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "master/config/resolve.h"
#include "shared/base/switches.h"
#include "shared/model/config.h"

namespace penstock {

namespace {

struct Lookup {
  Ip ip; // without family: not found
  std::string error;
};

/// Each name is asked for once per family.
class HostNames {
 public:
  const Lookup &find(const std::string &host, u16 family) {
    auto [it, added] = known_.try_emplace({host, family});
    if (added) it->second = ask(host, family);
    return it->second;
  }

 private:
  static Lookup ask(const std::string &host, u16 family) {
    addrinfo hints{}, *list = nullptr;
    hints.ai_family = switches.ipv4_only ? AF_INET : family;
    hints.ai_socktype = SOCK_STREAM;
    Lookup result;
    if (int error = getaddrinfo(host.c_str(), nullptr, &hints, &list); error != 0) {
      result.error = gai_strerror(error);
      return result;
    }
    // The first IPv4 address where there is one, as people's configurations expect; else the first.
    for (addrinfo *a = list; a && !result.ip; a = a->ai_next)
      if (a->ai_family == AF_INET) result.ip = Address::from_sockaddr(a->ai_addr, a->ai_addrlen).ip;
    for (addrinfo *a = list; a && !result.ip; a = a->ai_next)
      if (a->ai_family == AF_INET6) result.ip = Address::from_sockaddr(a->ai_addr, a->ai_addrlen).ip;
    freeaddrinfo(list);
    if (!result.ip) result.error = "no usable address";
    return result;
  }
  std::map<std::pair<std::string, u16>, Lookup> known_;
};

/// True when the server has an address or may do without.
bool settle(Server &server, HostNames &names, std::string &error) {
  static const std::vector<InitAddr> usual = {InitAddr::Last, InitAddr::Libc};
  const std::vector<InitAddr> &methods = server.options->init_addr.empty() ? usual : server.options->init_addr;
  for (InitAddr method : methods) {
    if (method == InitAddr::None) return true;
    Ip ip;
    if (method == InitAddr::Ip) ip = server.options->init_ip;
    if (method == InitAddr::Libc) {
      const Lookup &found = names.find(server.host, server.host_family);
      ip = found.ip;
      error = found.error;
    }
    if (!ip) continue;
    server.address = Address::from_ip(ip, server.port);
    return true;
  }
  return !switches.need_server_addresses;
}

} // namespace

void resolve_addresses(Config &config, Diagnostics &diags) {
  HostNames names;
  for (const auto &proxy : config.proxies) {
    if (proxy->disabled) continue;
    auto find_address = [&](Server &server) {
      std::string error;
      if (!server.host.empty() && !settle(server, names, error))
        diags.alert(server.place, "server '" + proxy->name + "/" + server.name + "': the address of '" + server.host + "' cannot be found: " + error);
    };
    for (const auto &server : proxy->servers) find_address(*server);
    if (proxy->direct) find_address(*proxy->direct);
  }
}

} // namespace penstock
