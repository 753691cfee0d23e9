// SPDX-License-Identifier: BSD-2-Clause
// What goes into the Location field of a redirect rule (manual, 'redirect'). Pure text.
#pragma once

#include "shared/base/arena.h"

namespace penstock {

enum class RedirectKind : u8 { Location, Prefix, Scheme };

struct RedirectForm {
  RedirectKind kind = RedirectKind::Location;
  bool drop_query = false, append_slash = false; // of Prefix and Scheme
  bool keep_query = false;                       // of Location
};

/// `value` is the rule's word, evaluated; `target` and `host` are the request's. The result lives in `arena` or is `value`.
string_view redirect_location(const RedirectForm &form, string_view value, string_view target, string_view host, Arena &arena);

} // namespace penstock
