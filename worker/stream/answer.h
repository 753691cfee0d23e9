// SPDX-License-Identifier: BSD-2-Clause
// An answer that the proxy gives by itself, in preparation: what rules (deny, return, redirect, tarpit),
// the statistics page and failures leave for Step::Reply. worker/stream/reply.h fills in what is missing
// (error page by status, headers) before it is sent.
#pragma once

#include "shared/base/basic.h"

namespace penstock {

struct HttpReply; // shared/model/proxy.h

/// A body that is made while it is sent: long statistics pages. Owned by the stream that answers.
class AnswerSource {
 public:
  virtual ~AnswerSource() = default;
  /// Writes at most `capacity` bytes of the body; 0: it is complete. Never waits.
  virtual size_t next(char *out, size_t capacity) = 0;
};

struct Answer {
  u16 status = 0;                   // 0: nothing prepared
  const HttpReply *reply = nullptr; // of the rule or proxy; null: the status' error page
  bool ready = false;   // Stream::response() holds the head and `body` the content: nothing to fill in
  bool raw = false;     // `body` is a whole HTTP message (errorfile): sent as it is
  bool close = false;   // the client connection ends after it
  bool intercepted = false; // a service, not a refusal: statistics, monitor, return, redirect
  string_view body;     // in the stream's arena or in memory that outlives it
  AnswerSource *source = nullptr; // instead of `body`; deleted by the stream
};

} // namespace penstock
