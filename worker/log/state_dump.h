// SPDX-License-Identifier: BSD-2-Clause
// SIGHUP to a process without a master (management guide, section 4): the state of all servers and proxies goes
// to their logs.
#pragma once

namespace penstock {

struct Control;
void dump_states(Control &control);

} // namespace penstock
