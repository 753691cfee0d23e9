// SPDX-License-Identifier: BSD-2-Clause
// Carrying out what the statistics page's form asks for, in the worker that received it: states are in
// shared memory, so the whole host sees the change when this returns.
#pragma once

#include "shared/model/config.h"
#include "shared/shm/service.h"
#include "worker/stats/page_query.h"

namespace penstock {

PageOutcome carry_out(const PageOrder &order, const Config &config, Service &service, Tick now);

} // namespace penstock
