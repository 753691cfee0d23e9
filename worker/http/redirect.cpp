// SPDX-License-Identifier: BSD-2-Clause
#include "worker/http/redirect.h"

#include <initializer_list>

#include "shared/http/uri.h"

namespace penstock {

namespace {

string_view join(Arena &arena, std::initializer_list<string_view> parts) {
  size_t n = 0;
  for (string_view p : parts) n += p.size();
  char *out = arena.chars(n);
  size_t at = 0;
  for (string_view p : parts) {
    p.copy(out + at, p.size());
    at += p.size();
  }
  return {out, n};
}

} // namespace

string_view redirect_location(const RedirectForm &form, string_view value, string_view target, string_view host, Arena &arena) {
  if (form.kind == RedirectKind::Location) {
    string_view query = form.keep_query ? query_of(target) : string_view{};
    if (query.empty()) return value;
    return join(arena, {value, value.find('?') == string_view::npos ? "?" : "&", query});
  }
  string_view path = form.drop_query ? path_of(target) : path_and_query_of(target);
  if (path.empty()) path = "/";
  string_view slash = form.append_slash && path.back() != '/' ? "/" : "";
  if (form.kind == RedirectKind::Scheme) return join(arena, {value, "://", host, path, slash});
  return join(arena, {value == "/" ? string_view{} : value, path, slash});
}

} // namespace penstock
