// SPDX-License-Identifier: BSD-2-Clause
// Fuzzes the chunked decoder: the same bytes in pieces of other sizes must give the same content, trailers and end.
#include <cstdint>
#include <cstdio>
#include <string>

#include "worker/http/h1_body.h"

using namespace penstock;

namespace {

struct Decoded {
  std::string content, trailers;
  bool ended = false, bad = false;
  size_t end_at = 0;
};

Decoded decode(string_view wire, size_t first, size_t step) {
  using What = ChunkDecoder::What;
  ChunkDecoder d;
  Decoded out;
  size_t at = 0, have = first;
  for (;;) {
    if (have > wire.size()) have = wire.size();
    auto s = d.next(wire.substr(at, have - at));
    if (s.bytes > have - at) __builtin_trap();
    if (s.what == What::NeedMore) {
      if (have == wire.size()) return out;
      have += step;
      continue;
    }
    if (s.what == What::Bad) return out.bad = true, out;
    if (s.what == What::Data) {
      size_t n = (s.bytes + 1) / 2; // takers do not always take all
      out.content += wire.substr(at, n);
      d.consumed(n);
      at += n;
      continue;
    }
    at += s.bytes;
    if (s.what == What::End) {
      out.ended = true, out.end_at = at, out.trailers = d.trailers();
      return out;
    }
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (size < 2) return 0;
  string_view wire{reinterpret_cast<const char *>(data + 2), size - 2};
  Decoded whole = decode(wire, wire.size(), 1), parts = decode(wire, data[0], data[1] + 1u);
  if (whole.content != parts.content || whole.ended != parts.ended || whole.bad != parts.bad || whole.end_at != parts.end_at || whole.trailers != parts.trailers) {
    std::fprintf(stderr, "pieces say something else\n");
    __builtin_trap();
  }
  return 0;
}
