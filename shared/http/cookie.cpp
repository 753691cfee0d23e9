// SPDX-License-Identifier: BSD-2-Clause
#include "shared/http/cookie.h"

namespace penstock {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// The pair between `begin` and the next ';' outside quotes; `next` is set behind that.
CookieSpan pair_at(string_view text, u32 begin, u32 &next) {
  u32 size = static_cast<u32>(text.size());
  CookieSpan s;
  s.begin = begin;
  u32 i = begin;
  while (i < size && text[i] != '=' && text[i] != ';') i++;
  s.name_end = i;
  while (s.name_end > begin && is_blank(text[s.name_end - 1])) s.name_end--;
  if (i < size && text[i] == '=') {
    i++;
    while (i < size && is_blank(text[i])) i++;
    s.value_begin = i;
    if (i < size && text[i] == '"') {
      u32 close = i + 1;
      while (close < size && text[close] != '"') close++;
      if (close < size) i = close; // an open quote is a character like others
    }
    while (i < size && text[i] != ';') i++;
    s.end = i;
    while (s.end > s.value_begin && is_blank(text[s.end - 1])) s.end--;
  } else {
    s.value_begin = s.end = s.name_end;
  }
  next = i < size ? i + 1 : size;
  return s;
}

Header field_of(const HttpMessage &msg) { return msg.is_request() ? Header::Cookie : Header::SetCookie; }

} // namespace

bool next_cookie(string_view text, u32 &at, CookieSpan &out) {
  while (at < text.size() && (is_blank(text[at]) || text[at] == ';')) at++;
  if (at >= text.size()) return false;
  out = pair_at(text, at, at);
  return true;
}

bool set_cookie_pair(string_view text, CookieSpan &out) {
  u32 at = 0;
  while (at < text.size() && is_blank(text[at])) at++;
  if (at == text.size()) return false;
  out = pair_at(text, at, at);
  return true;
}

bool find_cookie(const HttpMessage &msg, string_view name, CookiePlace &from) {
  Header id = field_of(msg);
  bool more = from.field != HttpMessage::npos;
  size_t field = more && id == Header::Cookie ? from.field : msg.find(id, more ? from.field + 1 : 0);
  u32 at = more && id == Header::Cookie ? from.span.end : 0;
  for (; field != HttpMessage::npos; field = msg.find(id, field + 1), at = 0) {
    string_view text = msg.value(field);
    CookieSpan span;
    if (id == Header::SetCookie) {
      if (set_cookie_pair(text, span) && span.name(text) == name) return from = {field, span}, true;
      continue;
    }
    while (next_cookie(text, at, span))
      if (span.name(text) == name) return from = {field, span}, true;
  }
  return false;
}

bool cookie_value(const HttpMessage &msg, string_view name, string_view &value) {
  CookiePlace at;
  if (!find_cookie(msg, name, at)) return false;
  value = at.span.value(msg.value(at.field));
  return true;
}

void set_cookie_value(HttpMessage &msg, const CookiePlace &at, string_view value) {
  const CookieSpan &s = at.span;
  if (s.value_begin == s.name_end) return; // a name without '=' has no place for a value
  msg.replace_in_value(at.field, s.value_begin, s.end - s.value_begin, value);
}

void remove_cookie(HttpMessage &msg, const CookiePlace &at) {
  if (!msg.is_request()) return msg.remove(at.field);
  string_view text = msg.value(at.field);
  u32 begin = at.span.begin, end = at.span.end, size = static_cast<u32>(text.size());
  while (end < size && (is_blank(text[end]) || text[end] == ';')) end++;
  if (end == size)
    while (begin > 0 && (is_blank(text[begin - 1]) || text[begin - 1] == ';')) begin--;
  if (begin == 0 && end == size) return msg.remove(at.field);
  msg.replace_in_value(at.field, begin, end - begin, {});
}

} // namespace penstock
