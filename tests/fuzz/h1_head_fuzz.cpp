// SPDX-License-Identifier: BSD-2-Clause
// Fuzzes the HTTP/1 head parser. Beside memory errors it holds the parser to two promises: bytes that come
// one by one mean the same as bytes that come together, and what was accepted and written again is read
// back as the same message, so that nobody behind us can read it in another way.
#include <cstdint>
#include <cstdio>
#include <string>

#include "worker/http/h1_head.h"
#include "worker/http/h1_write.h"

using namespace penstock;

namespace {

struct Parsed {
  HeadResult result;
  HttpMessage msg;
  H1Framing framing;
};

void must(bool holds, const char *what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  __builtin_trap();
}

struct Kind {
  bool request;
  Method method; // of a response: what it answers
  H1Limits limits;
};

HeadResult parse(const Kind &kind, string_view bytes, u32 &scanned, Parsed &p) {
  return p.result = kind.request ? parse_request_head(bytes, kind.limits, scanned, p.msg, p.framing)
                                 : parse_response_head(bytes, kind.limits, kind.method, scanned, p.msg, p.framing);
}

bool same_fields(const HttpMessage &a, const HttpMessage &b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); i++)
    if (a.name(i) != b.name(i) || a.value(i) != b.value(i)) return false;
  return true;
}

bool same_framing(const H1Framing &a, const H1Framing &b) { return a.kind == b.kind && a.length == b.length; }

void in_pieces(const Kind &kind, string_view bytes, const Parsed &whole) {
  Parsed p;
  u32 scanned = 0;
  for (size_t n = 1; n <= bytes.size(); n++) {
    parse(kind, bytes.substr(0, n), scanned, p);
    if (p.result.status != HeadStatus::NeedMore) break;
  }
  if (whole.result.status != HeadStatus::Complete) return must(p.result.status != HeadStatus::Complete, "a prefix is accepted, the whole is not");
  must(p.result.status == HeadStatus::Complete && p.result.consumed == whole.result.consumed, "pieces end elsewhere");
  must(same_fields(p.msg, whole.msg) && same_framing(p.framing, whole.framing), "pieces say something else");
}

void written_again(const Kind &kind, const Parsed &whole) {
  std::string out(whole.msg.wire_size(), '\0');
  size_t n = kind.request ? write_request_head(whole.msg, out.data(), out.size()) : write_response_head(whole.msg, out.data(), out.size());
  must(n > 0, "does not fit in its own size");
  Kind strict = kind;
  strict.limits.relaxed = false;
  strict.limits.max_head_bytes *= 2;
  Parsed again;
  u32 scanned = 0;
  parse(strict, {out.data(), n}, scanned, again);
  must(again.result.status == HeadStatus::Complete && again.result.consumed == n, "what was accepted is refused when written again");
  must(same_fields(again.msg, whole.msg) && same_framing(again.framing, whole.framing), "what was written again says something else");
  if (kind.request) must(again.msg.method_text() == whole.msg.method_text() && again.msg.target() == whole.msg.target(), "another request line");
  else must(again.msg.status() == whole.msg.status() && again.msg.reason() == whole.msg.reason(), "another status line");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (size < 1) return 0;
  Kind kind{(data[0] & 1) != 0, data[0] & 2 ? Method::Head : data[0] & 4 ? Method::Connect : Method::Get, {}};
  kind.limits.relaxed = data[0] & 8;
  if (data[0] & 16) kind.limits.max_head_bytes = 256;
  if (data[0] & 32) kind.limits.max_fields = 5;
  string_view bytes{reinterpret_cast<const char *>(data + 1), size - 1};
  Parsed whole;
  u32 scanned = 0;
  parse(kind, bytes, scanned, whole);
  must(whole.result.consumed <= bytes.size() && whole.result.error_at <= bytes.size() + 1, "an offset outside");
  if (bytes.size() <= 600) in_pieces(kind, bytes, whole);
  if (whole.result.status == HeadStatus::Complete && !kind.limits.relaxed) written_again(kind, whole);
  return 0;
}
