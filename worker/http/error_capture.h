// SPDX-License-Identifier: BSD-2-Clause
// `show errors`: the last request and the last response of a proxy that could not be read, with the place
// where reading stopped. Plain memory of fixed size, so that it can lie in shared memory: the worker that
// met the message writes it, the process that answers the command prints it.
#pragma once

#include <atomic>
#include <string>

#include "shared/base/address.h"
#include "worker/http/h1_head.h"

namespace penstock {

struct ErrorCapture {
  static constexpr u32 most_bytes = 16384;

  std::atomic<u32> version; // odd while it is written: a reader takes a copy and looks whether it stayed the same
  u32 event = 0;            // number of the error in this process; 0: nothing captured
  i64 wall_us = 0;
  bool response = false;
  u16 port = 0;
  Ip source;
  u32 frontend = ~0u, backend = ~0u, server = ~0u; // Proxy::index, Server::id
  u32 position = 0; // offset of the byte at which reading stopped
  u32 total = 0, stored = 0;
  char why[80] = {};
  char bytes[most_bytes] = {};
};

/// Who sent it and on whose behalf.
struct ErrorOrigin {
  u32 event = 1;
  i64 wall_us = 0;
  Address source;
  u32 frontend = ~0u, backend = ~0u, server = ~0u;
};

/// Replaces what `at` holds. One writer at a time.
void capture_error(ErrorCapture &at, bool response, const ErrorOrigin &origin, const HeadResult &result, string_view bytes);
/// Takes a copy that no writer disturbed; false when there is nothing, or it is being written.
bool read_capture(const ErrorCapture &at, ErrorCapture &copy);

/// The bytes in lines of "  OFFSET  text", a line of the message at most each, control characters escaped.
void print_captured_bytes(const ErrorCapture &c, std::string &out);

} // namespace penstock
