// SPDX-License-Identifier: BSD-2-Clause
// The words of a reply that the proxy gives by itself: status, content type, payload, headers. Shared by
// `http-error` and the actions `return`, `deny` and `tarpit` (manual, 'http-request return'). Files are read here,
// when the configuration is.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "shared/expr/compile.h"

namespace penstock {

struct HttpReply;

enum class ReplyUse : u8 {
  Return,    // status 200 and no payload unless said
  Deny,      // the error page of the status unless a payload is given; `deny_status` is another word for `status`
  HttpError, // the status must be given and be one of error_page_statuses()
};

/// Statuses for which there are error pages.
std::span<const u16> error_page_statuses();
bool has_error_page(u16 status);

/// Reads the words at the cursor up to `if`, `unless` or the end into `out`, whose status is the default.
/// Alerts and returns false on a mistake.
bool parse_http_reply(Compiler &compiler, ReplyUse use, HttpReply &out);

/// A whole file; nothing and `error` when it cannot be read.
std::optional<std::string> read_whole_file(const std::string &path, std::string &error);
/// A file that holds a whole HTTP response, checked for form (status line, fields, length of the body).
/// An empty file stands for "close without an answer".
std::optional<HttpReply> load_error_file(const std::string &path, u16 status, std::string &error);

} // namespace penstock
