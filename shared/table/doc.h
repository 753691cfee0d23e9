// SPDX-License-Identifier: BSD-2-Clause
// The documentation that every row of a table carries. From it come the man pages, `-dK`, the
// hints in diagnostics and shell completion.
#pragma once

#include "shared/base/basic.h"

namespace penstock {

struct Doc {
  string_view summary = {}; // one sentence, ends in a full stop
  string_view text = {};    // paragraphs separated by an empty line; may be empty where the summary says it all
  string_view example = {}; // configuration lines that `make check` runs through -c; may be empty for trivial rows
};

} // namespace penstock
