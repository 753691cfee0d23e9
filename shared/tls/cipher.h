// SPDX-License-Identifier: BSD-2-Clause
// AES for the converters aes_gcm_* and aes_cbc_*: the one wrapper around OpenSSL's ciphers for them.
#pragma once

#include "shared/base/basic.h"

namespace penstock {

inline constexpr size_t cipher_tag_size = 16;
inline constexpr size_t cipher_bad = ~size_t{0};

enum class CipherMode : u8 { Gcm, Cbc };

/// `bits` is 128, 192 or 256, and the key that long; `out` has room for 16 bytes more than `in`. Writes the tag (Gcm).
/// Returns how many bytes were written, cipher_bad on failure.
size_t encrypt(CipherMode mode, unsigned bits, string_view key, string_view nonce, string_view in, char *out, char *tag);
/// The same backwards; with a wrong tag or padding cipher_bad.
size_t decrypt(CipherMode mode, unsigned bits, string_view key, string_view nonce, string_view in, char *out, string_view tag);

} // namespace penstock
