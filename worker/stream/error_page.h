// SPDX-License-Identifier: BSD-2-Clause
// The answers that need no configuration: a short page for each status that the proxy gives by itself,
// and heads for the other kinds of own answers. Pure: an HttpMessage and a body come out.
#pragma once

#include "shared/http/message.h"

namespace penstock {

/// The built-in page of a status. Its length is that of the pages which log analysers and tests of
/// other implementations expect; the words are ours.
struct ErrorPage {
  u16 status;
  string_view reason;
  string_view text; // the HTML
  bool close;       // the connection cannot go on after it
};
/// Null when there is none.
const ErrorPage *error_page(u16 status);

/// The page as head and body. A status without a page gives a head without content.
string_view build_error_page(u16 status, HttpMessage &head, bool &close);

/// The head of an answer with content of its own: length and type follow what is there already.
void finish_reply_head(HttpMessage &head, size_t body_bytes, string_view content_type);

/// `errorloc`: a redirect instead of an error page.
void build_error_redirect(u16 code, string_view location, HttpMessage &head);

/// An error file: a whole message as text. False when it cannot be read (it is checked when loaded). `close`
/// when its end is the connection's end: no length, or Connection: close.
bool build_from_file(string_view text, HttpMessage &head, string_view &body, bool &close);

/// The reason phrase, or the class's name for a status that nobody knows.
string_view reason_for(u16 status);

} // namespace penstock
