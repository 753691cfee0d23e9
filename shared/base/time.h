// SPDX-License-Identifier: BSD-2-Clause
// Clocks. The event loop reads the clock once per turn; everybody else reads the loop's value.
#pragma once

#include "shared/base/basic.h"

namespace penstock {

/// A duration in milliseconds; `eternity` where the configuration sets none.
using Millis = i64;
inline constexpr Millis eternity = -1;

/// A point on the monotonic clock, in milliseconds; the same on all processes of the host.
using Tick = i64;
inline constexpr Tick never = INT64_MAX;

/// CLOCK_MONOTONIC in ms / µs, read now.
Tick monotonic_ms();
i64 monotonic_us();
/// CLOCK_REALTIME in µs since 1970, read now.
i64 wall_us();

inline Tick after(Tick now, Millis delay) { return delay == eternity ? never : now + delay; }

} // namespace penstock
