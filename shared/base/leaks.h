// SPDX-License-Identifier: BSD-2-Clause
// For processes that end without taking anything apart.
#pragma once

extern "C" void __lsan_do_leak_check() __attribute__((weak));

namespace penstock {

/// Under the leak sanitizer (detect_leaks=1): what was allocated and nobody points at any more is told.
inline void tell_leaks() {
  if (__lsan_do_leak_check != nullptr) __lsan_do_leak_check();
}

} // namespace penstock
