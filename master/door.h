// SPDX-License-Identifier: BSD-2-Clause
// From the command line to a listing, an answer, a check, or a running service.
#pragma once

namespace penstock {

/// Returns the exit status.
int run_penstock(int argc, char **argv);

} // namespace penstock
