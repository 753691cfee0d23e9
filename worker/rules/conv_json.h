// SPDX-License-Identifier: BSD-2-Clause
// Queries into JSON text, which json_query and the converters of JSON Web Tokens share.
#pragma once

#include "worker/rules/rows.h"

namespace penstock {

/// The value at `path` of `text` into `s`; `type` as in json_query. False: nothing there, or no JSON.
bool query_json(EvalContext &ctx, string_view text, const ArgValue &path, const ArgValue &type, Sample &s);
bool check_json_path(const ArgValue &path, const ArgValue &type, std::string &error);

} // namespace penstock
