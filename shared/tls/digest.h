// SPDX-License-Identifier: BSD-2-Clause
// Digests and message authentication codes: the one wrapper around OpenSSL's EVP for them.
#pragma once

#include "shared/base/basic.h"

namespace penstock {

struct DigestKind; // OpenSSL's description of an algorithm

inline constexpr size_t digest_max = 64;

/// Null for an unknown name ("sha256", "SHA-512", "md5" …). Looked up when the configuration is read.
const DigestKind *digest_kind(string_view name);
/// Writes at most digest_max bytes; returns how many, 0 on failure.
size_t digest(const DigestKind *kind, string_view data, char *out);
size_t hmac(const DigestKind *kind, string_view key, string_view data, char *out);
/// In a time that does not depend on where they differ; false when the lengths do.
bool same_secret(string_view a, string_view b);

} // namespace penstock
