// SPDX-License-Identifier: BSD-2-Clause
#include "worker/http/error_capture.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace penstock {

namespace {

/// All but the version, which orders them.
void copy_content(ErrorCapture &to, const ErrorCapture &from) {
  to.event = from.event, to.wall_us = from.wall_us;
  to.response = from.response, to.port = from.port, to.source = from.source;
  to.frontend = from.frontend, to.backend = from.backend, to.server = from.server;
  to.position = from.position, to.total = from.total;
  to.stored = std::min(from.stored, ErrorCapture::most_bytes);
  std::memcpy(to.why, from.why, sizeof to.why);
  to.why[sizeof to.why - 1] = '\0';
  std::memcpy(to.bytes, from.bytes, to.stored);
}

void append_escaped(std::string &out, char c) {
  switch (c) {
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    case '\\': out += "\\\\"; return;
    default: break;
  }
  if (c >= 0x20 && c < 0x7f) {
    out += c;
    return;
  }
  char hex[8];
  std::snprintf(hex, sizeof hex, "\\x%02X", static_cast<unsigned>(static_cast<u8>(c)));
  out += hex;
}

} // namespace

void capture_error(ErrorCapture &at, bool response, const ErrorOrigin &origin, const HeadResult &result, string_view bytes) {
  at.version.fetch_add(1, std::memory_order_acq_rel);
  at.event = origin.event, at.wall_us = origin.wall_us;
  at.response = response;
  at.source = origin.source.ip, at.port = origin.source.port;
  at.frontend = origin.frontend, at.backend = origin.backend, at.server = origin.server;
  at.total = static_cast<u32>(bytes.size());
  at.stored = std::min(at.total, ErrorCapture::most_bytes);
  at.position = std::min(result.error_at, at.total);
  std::snprintf(at.why, sizeof at.why, "%s", result.error);
  std::memcpy(at.bytes, bytes.data(), at.stored);
  at.version.fetch_add(1, std::memory_order_release);
}

bool read_capture(const ErrorCapture &at, ErrorCapture &copy) {
  u32 before = at.version.load(std::memory_order_acquire);
  if (before % 2 != 0 || at.event == 0) return false;
  copy_content(copy, at);
  std::atomic_thread_fence(std::memory_order_acquire);
  return at.version.load(std::memory_order_relaxed) == before;
}

void print_captured_bytes(const ErrorCapture &c, std::string &out) {
  constexpr size_t widest = 70;
  for (u32 i = 0; i < c.stored;) {
    char offset[16];
    std::snprintf(offset, sizeof offset, "  %05u%c ", i, i > 0 && c.bytes[i - 1] != '\n' ? '+' : ' ');
    out += offset;
    size_t line = out.size();
    while (i < c.stored && out.size() - line < widest) {
      append_escaped(out, c.bytes[i]);
      if (c.bytes[i++] == '\n') break;
    }
    out += '\n';
  }
}

} // namespace penstock
