// SPDX-License-Identifier: BSD-2-Clause
// The HTTP/1 head parser: bytes in, HttpMessage and framing out, no sockets (RFC 9112). Strict: what
// two implementations could read in two ways is refused, because that is how requests are smuggled.
#pragma once

#include "shared/http/message.h"

namespace penstock {

class HeaderCase;

/// What the configuration says about heads from one side.
struct H1Limits {
  u32 max_head_bytes = 15360; // tune.bufsize - tune.maxrewrite
  u32 max_fields = 101;       // tune.http.maxhdr
  bool relaxed = false;       // option accept-unsafe-violations-in-http-request / -response
  bool payload_with_any_method = false; // h1-accept-payload-with-any-method
  bool both_lengths = false; // h1-do-not-close-on-insecure-transfer-encoding: Content-Length beside Transfer-Encoding is dropped
  const HeaderCase *spelling = nullptr; // of field names that are written to this peer (h1_write.h)
};

enum class HeadStatus : u8 { NeedMore, Complete, Bad, TooLarge };

/// How the body of a message is delimited (RFC 9112, section 6).
enum class BodyKind : u8 { None, Length, Chunked, UntilClose, Tunnel };

struct H1Framing {
  BodyKind kind = BodyKind::None;
  u64 length = 0;          // of Length
  bool keep_alive = false; // what the peer said or its version implies
  bool close_said = false; // Connection: close was there
  bool upgrade = false;    // Connection: upgrade with an Upgrade field
  bool expect_continue = false;
};

struct HeadResult {
  HeadStatus status = HeadStatus::NeedMore;
  u32 consumed = 0;       // bytes of the head, including the empty line and skipped leading CRLF
  u32 error_at = 0;       // of Bad: offset of the offending byte, for `show errors`
  const char *error = ""; // of Bad: what is wrong
  u16 refuse_with = 400;  // of Bad and TooLarge: 400, 413, 414, 422, 431, 505; of responses 502
};

/// Parses as much as is there. `scanned` remembers how far a previous call got, so that bytes that
/// arrive one by one do not cost a scan from the start each; set it to 0 for a new message.
HeadResult parse_request_head(string_view bytes, const H1Limits &limits, u32 &scanned, HttpMessage &msg, H1Framing &framing);
/// `request_method` decides whether a body can follow (HEAD, CONNECT).
HeadResult parse_response_head(string_view bytes, const H1Limits &limits, Method request_method, u32 &scanned,
                               HttpMessage &msg, H1Framing &framing);

} // namespace penstock
