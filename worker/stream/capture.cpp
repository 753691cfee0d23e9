// SPDX-License-Identifier: BSD-2-Clause
// See capture.h.
#include "worker/stream/capture.h"

#include "shared/http/cookie.h"
#include "worker/stream/stream.h"

namespace penstock {

namespace {

/// The last field of each slot's name, as the manual says.
void capture_headers(Stream &s, HttpMessage &m, bool of_request) {
  u32 slot = 0;
  for (const CaptureSlot &c : s.frontend().captures) {
    if (c.is_request != of_request) continue;
    size_t at = c.header.empty() ? HttpMessage::npos : m.find(c.header), last = HttpMessage::npos;
    for (; at != HttpMessage::npos; at = m.find(c.header, at + 1)) last = at;
    if (last != HttpMessage::npos) {
      string_view value = m.value(last).substr(0, c.length);
      of_request ? s.capture_request(slot, value) : s.capture_response(slot, value);
    }
    slot++;
  }
}

bool is_wanted(const Proxy &p, string_view name) { return p.capture_cookie_prefix ? name.starts_with(p.capture_cookie) : name == p.capture_cookie; }

/// The first cookie that matches, as "name=value"; "" without one.
string_view find_captured(const Proxy &p, const HttpMessage &m, Header field) {
  for (size_t i = m.find(field); i != HttpMessage::npos; i = m.find(field, i + 1)) {
    string_view text = m.value(i);
    CookieSpan span;
    if (field == Header::SetCookie) {
      if (set_cookie_pair(text, span) && is_wanted(p, span.name(text))) return text.substr(span.begin, span.end - span.begin);
      continue;
    }
    for (u32 at = 0; next_cookie(text, at, span);)
      if (is_wanted(p, span.name(text))) return text.substr(span.begin, span.end - span.begin);
  }
  return {};
}

} // namespace

void capture_request_head(Stream &s) {
  const Proxy &p = s.frontend();
  if (!p.captures.empty()) capture_headers(s, s.request(), true);
  if (!p.capture_cookie.empty()) s.facts.client_cookie = s.arena().copy(find_captured(p, s.request(), Header::Cookie).substr(0, p.capture_cookie_length));
}

void capture_response_head(Stream &s) {
  const Proxy &p = s.frontend();
  if (!p.captures.empty()) capture_headers(s, s.response(), false);
  if (!p.capture_cookie.empty()) s.facts.server_cookie = s.arena().copy(find_captured(p, s.response(), Header::SetCookie).substr(0, p.capture_cookie_length));
}

} // namespace penstock
