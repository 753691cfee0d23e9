// SPDX-License-Identifier: BSD-2-Clause
// Into the background: -D and `daemon`. The started process waits for the new one's word and returns
// its outcome, so that whoever started it knows when traffic is served.
#pragma once

#include <string>

#include "shared/base/basic.h"

namespace penstock {

/// Forks. In the parent: waits, then exits with 0 once the child has written to the descriptor, with 1 if it
/// ended without. In the child: a session of its own; returns the descriptor. -1: could not fork.
int daemonize();

/// Writes our process id. False and `error` on failure.
bool write_pidfile(const std::string &path, std::string &error);

} // namespace penstock
