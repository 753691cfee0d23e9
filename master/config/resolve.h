// SPDX-License-Identifier: BSD-2-Clause
// After reading: names become pointers, server names become addresses, and the whole is checked.
#pragma once

#include <string>

#include "shared/base/diagnostics.h"

namespace penstock {

struct Config;
struct Proxy;

/// Names of proxies and servers, references between them, ids, log formats, addresses; then the checks.
void resolve_configuration(Config &config, Diagnostics &diags);

// Its parts, in their order:
void resolve_proxy_names(Config &config, Diagnostics &diags); // resolve.cpp
void resolve_servers(Config &config, Diagnostics &diags);     // resolve_servers.cpp: names, ids, track
void resolve_tables(Config &config, Diagnostics &diags);      // resolve_tables.cpp: what their users ask of stick tables
void resolve_routes(Config &config, Diagnostics &diags);      // resolve.cpp: default_backend, use_backend, use-server
void resolve_logs(Config &config, Diagnostics &diags);        // resolve_logs.cpp: targets, formats
void resolve_userlists(Config &config, Diagnostics &diags);   // resolve.cpp: users and groups know each other
void resolve_addresses(Config &config, Diagnostics &diags);   // resolve_address.cpp: getaddrinfo
void validate_configuration(Config &config, Diagnostics &diags); // validate.cpp: what only the whole tells

/// "frontend 'www'", "backend 'app'", "proxy 'x'" for a listen section.
std::string proxy_text(const Proxy &proxy);

} // namespace penstock
