// SPDX-License-Identifier: BSD-2-Clause
#include "master/config/resolve.h"

#include "shared/model/config.h"

namespace penstock {

namespace {

/// Fills Config::frontends and Config::backends; a frontend and a backend may share a name.
void index_names(Config &config, Diagnostics &diags) {
  for (const auto &proxy : config.proxies) {
    auto add = [&](auto &map, string_view half) {
      auto [it, added] = map.try_emplace(proxy->name, proxy.get());
      if (added) return;
      const Place &other = it->second->place;
      diags.alert(proxy->place, std::string(half) + " '" + proxy->name + "' has the name of the one at " + other.file + ":" + std::to_string(other.line));
    };
    if (proxy->is_frontend) add(config.frontends, "frontend");
    if (proxy->is_backend) add(config.backends, "backend");
  }
}

} // namespace

void resolve_configuration(Config &config, Diagnostics &diags) {
  index_names(config, diags);
  if (diags.failed()) return;
}

} // namespace penstock
