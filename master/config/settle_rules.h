// SPDX-License-Identifier: BSD-2-Clause
// What proxies' lines come to when all of them are read; called by resolve_configuration().
#pragma once

#include "shared/model/config.h"

namespace penstock {

/// `block` rules run before http-request rules. (`redirect` rules run after them: Proxy::redirects.)
void settle_rules(Config &config);
/// Chooses each backend's check steps by its kind, and completes the request of HTTP checks (settle_checks.cpp).
void settle_checks(Config &config);

} // namespace penstock
