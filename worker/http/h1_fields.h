// SPDX-License-Identifier: BSD-2-Clause
// What the HTTP/1 codec itself must know of a head's fields: framing, persistence, upgrade, Host.
// Collected field by field while the head is read. Private to the HTTP/1 codec.
#pragma once

#include "shared/http/message.h"

namespace penstock::h1 {

struct FieldFacts {
  bool cl_seen = false, te_seen = false;
  bool chunked = false;      // the last coding so far is "chunked"
  bool other_coding = false; // and there was another one
  bool close = false, keep_alive = false, upgrade_option = false; // in Connection
  bool nominates = false;    // Connection names fields that are for us alone
  bool upgrade_seen = false, websocket = false, te_field = false;
  bool expect_continue = false;
  bool host_seen = false;
  u64 length = 0;
  string_view host;
  u16 refuse_with = 400;

  /// These return what is wrong, or null. `drop`: a mere repetition of what was said before.
  const char *content_length(string_view value, Field &f, bool &drop);
  const char *transfer_encoding(string_view value, bool is_request, bool relaxed);
  void connection(string_view value);
  void upgrade(string_view value);
};

/// Takes out what Connection names (RFC 9110, section 7.6.1). Fields that we know mean something beyond one hop stay:
/// a client shall not make them vanish.
void drop_nominated(HttpMessage &msg);
/// TE says what the next hop can take, and that is trailers only, whatever the peer can take.
void reduce_te(HttpMessage &msg);

/// Walks a comma-separated list; empty elements are given too. False at the end.
bool next_element(string_view &rest, string_view &element);

/// Makes "http://a:80" and "Host: a" one spelling: no default port, and a path (RFC 9112, section 3.2.2).
void normalise_absolute_target(HttpMessage &msg);

} // namespace penstock::h1
