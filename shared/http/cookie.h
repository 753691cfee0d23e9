// SPDX-License-Identifier: BSD-2-Clause
// Cookies in Cookie and Set-Cookie fields (RFC 6265): found as places within a field's value, so that
// persistence can read, rewrite or take out a single one and leave the others as the peers wrote them.
#pragma once

#include "shared/http/message.h"

namespace penstock {

/// One name=value within the text of a field's value; offsets into that text.
struct CookieSpan {
  u32 begin = 0;       // of the name
  u32 name_end = 0;
  u32 value_begin = 0; // equal to `end` when there is no '='
  u32 end = 0;         // of the value
  string_view name(string_view text) const { return text.substr(begin, name_end - begin); }
  string_view value(string_view text) const { return text.substr(value_begin, end - value_begin); }
};

/// Walks the pairs of a Cookie value. `at` starts at 0. False at the end.
bool next_cookie(string_view text, u32 &at, CookieSpan &out);
/// The pair that a Set-Cookie value begins with; its attributes follow behind `end`.
bool set_cookie_pair(string_view text, CookieSpan &out);

struct CookiePlace {
  size_t field = HttpMessage::npos;
  CookieSpan span;
};
/// The next cookie of that name (case-sensitive) in the Cookie fields of a request, or the Set-Cookie fields of a
/// response. `from`: the place of the previous one, or a default one to begin. False when there is none.
bool find_cookie(const HttpMessage &msg, string_view name, CookiePlace &from);
/// The first one's value; "" and false without one.
bool cookie_value(const HttpMessage &msg, string_view name, string_view &value);

void set_cookie_value(HttpMessage &msg, const CookiePlace &at, string_view value);
/// Takes it out of its field with its separator; the field goes when nothing is left (of Set-Cookie: always).
void remove_cookie(HttpMessage &msg, const CookiePlace &at);

} // namespace penstock
