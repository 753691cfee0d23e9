// SPDX-License-Identifier: BSD-2-Clause
// The one Worker of a worker process. Apart, so that rules link without the worker's machinery (tests,
// the master checking a configuration).
#include "worker/worker.h"

namespace penstock {

static Worker *current = nullptr;
Worker *this_worker() { return current; }
void set_this_worker(Worker *w) { current = w; }

} // namespace penstock
