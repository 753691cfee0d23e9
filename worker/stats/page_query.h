// SPDX-License-Identifier: BSD-2-Clause
// What a request to the statistics page asks for: options after its URI, and the fields of its form.
// Pure text work.
#pragma once

#include <string>
#include <vector>

#include "shared/base/basic.h"

namespace penstock {

/// What became of the form's orders; told by the page that follows (";st=DONE").
enum class PageOutcome : u8 { None, Done, Nothing, Part, Bad, TooLong, Denied, count_ };
string_view outcome_word(PageOutcome o);

struct PageQuery {
  enum Form : u8 { Html, Csv, Json, Typed } form = Html;
  bool no_refresh = false, up_only = false, no_maint = false;
  std::string scope; // proxies whose names contain it
  PageOutcome outcome = PageOutcome::None;
};
/// `target` begins with the page's `uri`; options follow it, each after a `;` (`;csv;norefresh`).
bool is_page_target(string_view target, string_view uri);
PageQuery parse_page_query(string_view target, string_view uri);
/// The options as they stand in a link. The outcome is left out.
std::string page_options(const PageQuery &q);

/// An order to servers of a backend.
struct PageOrder {
  std::string backend; // a name, or "#" and a number
  std::string action;
  std::vector<std::string> servers;
};
/// From application/x-www-form-urlencoded; false when it is no order.
bool parse_page_order(string_view body, PageOrder &out);

/// Whether "Basic …" holds one of `users` ("name:password"). Takes the same time for all.
bool basic_auth_matches(string_view authorization, const std::vector<std::string> &users);

} // namespace penstock
