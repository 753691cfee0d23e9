// SPDX-License-Identifier: BSD-2-Clause
// The writing half of the HTTP/1 codec: from HttpMessage to bytes (RFC 9112, sections 3 to 5 and 7.1).
#include "worker/http/h1_write.h"

#include <bit>
#include <cstring>

#include "shared/http/header_case.h"

namespace penstock {

namespace {

inline char *put(char *out, string_view s) {
  if (!s.empty()) std::memcpy(out, s.data(), s.size());
  return out + s.size();
}

/// What we write is HTTP/1.1 whatever the peer spoke; only what was made as 1.0 on purpose stays so.
inline string_view version_text(const HttpMessage &msg) { return msg.version() == 10 ? "HTTP/1.0" : "HTTP/1.1"; }

char *put_fields(const HttpMessage &msg, char *p, const HeaderCase *spelling) {
  for (size_t i = 0; i < msg.size(); i++) {
    const Field &f = msg.field(i);
    p = put(p, spelling == nullptr ? msg.name(f) : spelling->spelling(msg.name(f)));
    *p++ = ':';
    *p++ = ' ';
    p = put(p, msg.value(f));
    *p++ = '\r';
    *p++ = '\n';
  }
  *p++ = '\r';
  *p++ = '\n';
  return p;
}

} // namespace

size_t write_request_head(const HttpMessage &msg, char *out, size_t capacity, const HeaderCase *spelling) {
  if (msg.wire_size() > capacity) return 0;
  char *p = put(out, msg.method_text());
  *p++ = ' ';
  p = put(p, msg.target());
  *p++ = ' ';
  p = put(p, version_text(msg));
  *p++ = '\r';
  *p++ = '\n';
  return static_cast<size_t>(put_fields(msg, p, spelling) - out);
}

size_t write_response_head(const HttpMessage &msg, char *out, size_t capacity, const HeaderCase *spelling) {
  if (msg.wire_size() > capacity) return 0;
  char *p = put(out, version_text(msg));
  u16 s = msg.status();
  *p++ = ' ';
  *p++ = static_cast<char>('0' + s / 100 % 10);
  *p++ = static_cast<char>('0' + s / 10 % 10);
  *p++ = static_cast<char>('0' + s % 10);
  *p++ = ' ';
  p = put(p, msg.reason());
  *p++ = '\r';
  *p++ = '\n';
  return static_cast<size_t>(put_fields(msg, p, spelling) - out);
}

size_t write_chunk_size(u64 size, char *out) {
  unsigned digits = size == 0 ? 1 : (64 - static_cast<unsigned>(std::countl_zero(size)) + 3) / 4;
  for (unsigned i = digits; i-- > 0; size >>= 4) out[i] = "0123456789abcdef"[size & 15];
  out[digits] = '\r';
  out[digits + 1] = '\n';
  return digits + 2;
}

} // namespace penstock
