// SPDX-License-Identifier: BSD-2-Clause
// How MaxMind databases are replaced while the service runs: the control process looks at the files that say
// `auto-reload` every second, and takes up what `update maxmind` asks for, in portions between its other work.
#pragma once

#include "worker/control.h"

namespace penstock {

ControlHook maxmind_hook();

struct CliCommand;
/// `show maxmind`, `update maxmind`.
std::span<const CliCommand> maxmind_commands();

} // namespace penstock
