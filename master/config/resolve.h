// SPDX-License-Identifier: BSD-2-Clause
// After reading: names become pointers, server names become addresses, and the whole is checked.
#pragma once

#include "shared/base/diagnostics.h"

namespace penstock {

struct Config;

/// Names of proxies and servers, references between them, ids, addresses (resolve*.cpp); then validate().
void resolve_configuration(Config &config, Diagnostics &diags);
/// What only the finished whole can tell: missing binds, timeouts, modes that do not fit (validate.cpp).
void validate_configuration(Config &config, Diagnostics &diags);

} // namespace penstock
