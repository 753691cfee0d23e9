// SPDX-License-Identifier: BSD-2-Clause
// Request targets and their parts (RFC 3986; RFC 9112, section 3.2), as views of the text that is given.
#pragma once

#include "shared/base/basic.h"

namespace penstock {

/// A target in origin, absolute or asterisk form. Parts that are not there are empty.
struct Uri {
  string_view scheme;    // "http"; empty in origin form
  string_view authority; // "user@host:port"
  string_view path;      // from the first '/' on, without query
  string_view query;     // without '?'
  string_view fragment;  // without '#'
  bool has_query = false; // "/a?" has one, and it is empty
};
/// False when `target` is neither "/…" nor "scheme:…" nor "*".
bool split_uri(string_view target, Uri &out);

struct Authority {
  string_view userinfo, host, port; // of "[::1]:80" the host is "[::1]"
};
/// False when it is empty or its port is not a number below 65536.
bool split_authority(string_view text, Authority &out);
/// Same host (case-blind) and port, where a missing port is `default_port`.
bool same_authority(string_view a, string_view b, string_view default_port);
/// Whether `value` may stand in a Host field: empty, or host with an optional port, without user or list.
bool valid_host(string_view value);
string_view default_port_of(string_view scheme); // "80", "443" or ""

/// The manual's `path`: from the first slash behind the authority to the query; empty for "*" and CONNECT.
string_view path_of(string_view target);
/// `pathq`: the same with the query.
string_view path_and_query_of(string_view target);
/// `query`: behind the first '?', "" without one.
string_view query_of(string_view target);
/// The target's authority: of absolute form, or all of a CONNECT's.
string_view authority_of(string_view target);

/// Walks name=value pairs of a query or form body.
struct UrlParam {
  string_view name, value;
};
class UrlParams {
 public:
  explicit UrlParams(string_view query, char delimiter = '&') : rest_(query), delimiter_(delimiter) {}
  bool next(UrlParam &out);

 private:
  string_view rest_;
  char delimiter_;
};
/// The first parameter of that name. False without one. `fold_case` ignores the case of names.
bool find_url_param(string_view query, string_view name, string_view &value, char delimiter = '&', bool fold_case = false);

/// Decodes %XX (and '+' to a blank when `plus`) into `out`, which has room for `in`; returns the length,
/// or ~0 when an escape is malformed.
size_t percent_decode(string_view in, char *out, bool plus);

} // namespace penstock
