// SPDX-License-Identifier: BSD-2-Clause
#include <doctest/doctest.h>

#include "worker/http/redirect.h"

using namespace penstock;

TEST_CASE("locations of redirects") {
  struct Row {
    RedirectForm form;
    string_view value, target, host, want;
  };
  const auto loc = RedirectKind::Location, pre = RedirectKind::Prefix, sch = RedirectKind::Scheme;
  const Row rows[] = {
      {{loc}, "/x", "/a?b", "h", "/x"},
      {{loc, false, false, true}, "/x", "/a?b", "h", "/x?b"},
      {{loc, false, false, true}, "/x?y", "/a?b", "h", "/x?y&b"},
      {{loc, false, false, true}, "/x?y", "/a", "h", "/x?y"},
      {{pre}, "http://n/p", "/a/b?c=d", "h", "http://n/p/a/b?c=d"},
      {{pre}, "http://n", "http://zz/q?w", "zz", "http://n/q?w"},
      {{pre}, "/", "/a?b", "h", "/a?b"},
      {{pre}, "/", "*", "h", "/"},
      {{pre, true}, "/p", "/a?b", "h", "/p/a"},
      {{pre, true, true}, "/", "/a?b", "h", "/a/"},
      {{pre, false, true}, "http://n", "/a/b?c=d", "h", "http://n/a/b?c=d/"},
      {{sch}, "https", "/a?b", "h:8", "https://h:8/a?b"},
      {{sch, true}, "https", "/a?b", "", "https:///a"},
      {{sch}, "https", "*", "a", "https://a/"},
  };
  Arena arena;
  for (const Row &r : rows) {
    CAPTURE(r.want);
    CHECK(redirect_location(r.form, r.value, r.target, r.host, arena) == r.want);
  }
}
