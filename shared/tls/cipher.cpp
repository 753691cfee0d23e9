// SPDX-License-Identifier: BSD-2-Clause
#include "shared/tls/cipher.h"

#include <openssl/evp.h>

namespace penstock {

namespace {

/// Fetched once each and kept.
EVP_CIPHER *cipher_of(CipherMode mode, unsigned bits) {
  static EVP_CIPHER *known[2][3];
  if (bits != 128 && bits != 192 && bits != 256) return nullptr;
  constexpr const char *names[2][3] = {{"AES-128-GCM", "AES-192-GCM", "AES-256-GCM"}, {"AES-128-CBC", "AES-192-CBC", "AES-256-CBC"}};
  auto row = static_cast<size_t>(mode), column = static_cast<size_t>(bits / 64 - 2);
  EVP_CIPHER *&c = known[row][column];
  if (!c) c = EVP_CIPHER_fetch(nullptr, names[row][column], nullptr);
  return c;
}

const unsigned char *bytes(string_view s) { return reinterpret_cast<const unsigned char *>(s.data() ? s.data() : ""); }

/// A context made ready with key and nonce; null where their lengths are wrong. One is enough: nothing runs twice at once.
EVP_CIPHER_CTX *ready(CipherMode mode, unsigned bits, string_view key, string_view nonce, int encrypting) {
  static EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
  EVP_CIPHER *cipher = cipher_of(mode, bits);
  if (!cipher || key.size() != bits / 8 || nonce.empty() || (mode == CipherMode::Cbc && nonce.size() != 16)) return nullptr;
  if (!EVP_CipherInit_ex2(ctx, cipher, nullptr, nullptr, encrypting, nullptr)) return nullptr;
  if (mode == CipherMode::Gcm && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, static_cast<int>(nonce.size()), nullptr) != 1) return nullptr;
  return EVP_CipherInit_ex2(ctx, nullptr, bytes(key), bytes(nonce), encrypting, nullptr) ? ctx : nullptr;
}

size_t run(EVP_CIPHER_CTX *ctx, string_view in, char *out) {
  auto *at = reinterpret_cast<unsigned char *>(out);
  int first = 0, last = 0;
  if (!EVP_CipherUpdate(ctx, at, &first, bytes(in), static_cast<int>(in.size()))) return cipher_bad;
  if (EVP_CipherFinal_ex(ctx, at + first, &last) != 1) return cipher_bad;
  return static_cast<size_t>(first + last);
}

} // namespace

size_t encrypt(CipherMode mode, unsigned bits, string_view key, string_view nonce, string_view in, char *out, char *tag) {
  EVP_CIPHER_CTX *ctx = ready(mode, bits, key, nonce, 1);
  size_t n = ctx ? run(ctx, in, out) : cipher_bad;
  if (n != cipher_bad && mode == CipherMode::Gcm && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, cipher_tag_size, tag) != 1) return cipher_bad;
  return n;
}

size_t decrypt(CipherMode mode, unsigned bits, string_view key, string_view nonce, string_view in, char *out, string_view tag) {
  EVP_CIPHER_CTX *ctx = ready(mode, bits, key, nonce, 0);
  if (!ctx) return cipher_bad;
  if (mode == CipherMode::Gcm) {
    char copy[cipher_tag_size];
    if (tag.empty() || tag.size() > sizeof copy) return cipher_bad;
    tag.copy(copy, tag.size());
    if (EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, static_cast<int>(tag.size()), copy) != 1) return cipher_bad;
  }
  return run(ctx, in, out);
}

} // namespace penstock
