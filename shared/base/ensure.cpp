// SPDX-License-Identifier: BSD-2-Clause
#include <cstdio>
#include <cstdlib>

#include "shared/base/basic.h"

namespace penstock {

void ensure_failed(const char *what, const char *file, int line) {
  std::fprintf(stderr, "penstock: %s:%d: this must hold but does not: %s\n", file, line, what);
  std::abort();
}

} // namespace penstock
