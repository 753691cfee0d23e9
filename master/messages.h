// SPDX-License-Identifier: BSD-2-Clause
// What the daemon says about itself, on standard error: `[ALERT]    (pid) : text`. The lines of the
// last start are kept, for `show startup-logs` and for those who asked for a reload.
#pragma once

#include <string>

#include "shared/base/diagnostics.h"

namespace penstock {

/// Says one line. -q silences standard error, never the record.
void say(Severity severity, string_view text);
/// Says all of `diags`; -dD decides on the suspicious ones.
void say_all(const Diagnostics &diags);

/// The lines since the record was cleared, each with its newline.
const std::string &startup_log();
void clear_startup_log();
void restore_startup_log(std::string text);

} // namespace penstock
