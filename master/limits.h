// SPDX-License-Identifier: BSD-2-Clause
// Descriptors and connections: `ulimit-n`, `maxconn` (computed from the descriptor limit where it is
// not set), `fd-hard-limit`, `strict-limits`, and the memory limit of -m.
#pragma once

#include "master/options.h"
#include "shared/model/config.h"

namespace penstock {

/// Sets the limits of this process (and so of its children) and fills Global::maxconn and ulimit_n.
/// Says what could not be had; false when that is fatal.
bool apply_limits(const Options &options, Config &config);

/// Pure: the descriptors that `maxconn` connections need beside `fixed` others, and the reverse.
u64 descriptors_for(u64 maxconn, u64 fixed);
u64 connections_for(u64 descriptors, u64 fixed);

} // namespace penstock
