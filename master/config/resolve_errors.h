// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "shared/model/config.h"

namespace penstock {

/// Replaces references to http-errors sections by their pages; alerts where a section does not exist.
void resolve_error_files(Config &config, Diagnostics &diags);

} // namespace penstock
