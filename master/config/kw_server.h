// SPDX-License-Identifier: BSD-2-Clause
// What the functions of server options get as their target.
#pragma once

#include "shared/model/proxy.h"

namespace penstock {

/// One `server`, `server-template` or `default-server` line on its way into the model.
struct ServerLine {
  ServerOptions options; // starts as the proxy's default-server
  bool is_default = false; // a default-server line
  u32 id = 0;
  std::string cookie;
  bool enabled_word = false; // 'enabled' undoes 'disabled'
};

} // namespace penstock
