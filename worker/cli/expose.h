// SPDX-License-Identifier: BSD-2-Clause
// `expose-fd listeners`: a successor process fetches the listening sockets over the runtime socket (management
// guide, option -x). It says `_getsocks`; it is told how many descriptors there are and gets them in
// batches, each with a record per descriptor (namespace, interface, options), and acknowledges every batch.
#pragma once

#include "worker/control.h"

namespace penstock {

/// Takes the connection over, hands all of `control.start.exposed` out and closes it. Waits for nobody.
void hand_out_listeners(Control &control, int fd);

} // namespace penstock
