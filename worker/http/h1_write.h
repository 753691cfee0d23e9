// SPDX-License-Identifier: BSD-2-Clause
// Writes heads and chunk framing in HTTP/1 form. Pure: into memory that the caller gives.
#pragma once

#include "shared/http/message.h"

namespace penstock {

class HeaderCase; // shared/http/header_case.h

/// Writes start line, fields and the empty line. Returns the length, or 0 when `capacity` is too
/// small. Connection, Keep-Alive and Transfer-Encoding are the caller's business before the call.
/// `spelling`: of field names, for peers under `option h1-case-adjust-bogus-*`.
size_t write_request_head(const HttpMessage &msg, char *out, size_t capacity, const HeaderCase *spelling = nullptr);
size_t write_response_head(const HttpMessage &msg, char *out, size_t capacity, const HeaderCase *spelling = nullptr);

/// "1a2b\r\n" into `out` (room for 18); returns its length.
size_t write_chunk_size(u64 size, char *out);

} // namespace penstock
