// SPDX-License-Identifier: BSD-2-Clause
// What a child gives up right after the fork: the file system outside its chroot, its groups and user,
// the means to get any of it back. The master itself keeps what it needs to bind and to start workers.
#pragma once

#include <sys/types.h>

#include <string>

#include "shared/model/config.h"

namespace penstock {

/// chroot, groups, user, no new privileges; then the signal for the parent's death, which setuid clears.
/// False and `error` on failure: the child must not go on.
bool drop_privileges(const Global &global, bool may_fork, pid_t parent, std::string &error);

/// Runs on the CPUs that `cpu-map` gives worker `index`; elsewhere it runs where it likes.
void pin_worker(const Global &global, u32 index);

/// How many CPUs this process may use.
u32 usable_cpus();

} // namespace penstock
