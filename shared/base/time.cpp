// SPDX-License-Identifier: BSD-2-Clause
#include "shared/base/time.h"

#include <time.h>

namespace penstock {

static i64 read_us(clockid_t id) {
  timespec ts;
  clock_gettime(id, &ts);
  return i64{ts.tv_sec} * 1'000'000 + ts.tv_nsec / 1000;
}

Tick monotonic_ms() { return read_us(CLOCK_MONOTONIC) / 1000; }
i64 monotonic_us() { return read_us(CLOCK_MONOTONIC); }
i64 wall_us() { return read_us(CLOCK_REALTIME); }

} // namespace penstock
