// SPDX-License-Identifier: BSD-2-Clause
// How a value is compared with patterns (manual, section 7.1): the words of `-m`.
#pragma once

#include <optional>

#include "shared/expr/sample.h"

namespace penstock {

enum class MatchMethod : u8 { Found, Bool, Int, Ip, Bin, Len, Str, Beg, Sub, Dir, Dom, End, Reg };

std::optional<MatchMethod> match_method_of(string_view word);
string_view match_method_name(MatchMethod m);
/// The type to which a value is cast before it is compared; Any: none.
Type match_input(MatchMethod m);
/// The method that an ACL uses for values of this type when the line names none; nothing: it must.
std::optional<MatchMethod> default_match(Type t);

} // namespace penstock
