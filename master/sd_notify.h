// SPDX-License-Identifier: BSD-2-Clause
// Tells the service manager how we are (systemd's notification protocol: one datagram of VAR=value
// lines to $NOTIFY_SOCKET). Silent until enabled by -Ws.
#pragma once

#include <string>

#include "shared/base/basic.h"

namespace penstock {

void notify_enable();
/// The service serves; MAINPID and the status line are added.
void notify_ready(string_view status);
/// A reload begins (MONOTONIC_USEC as the protocol wants it).
void notify_reloading(string_view status);
void notify_stopping(string_view status);

} // namespace penstock
