// SPDX-License-Identifier: BSD-2-Clause
#include "shared/tls/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <map>
#include <string>

namespace penstock {

static const EVP_MD *md_of(const DigestKind *kind) { return reinterpret_cast<const EVP_MD *>(kind); }

const DigestKind *digest_kind(string_view name) {
  // Fetched once each and kept: fetching at every use costs more than the digest of a short text.
  static auto &known = *new std::map<std::string, EVP_MD *>; // to the very end: others keep what it holds
  auto [it, fresh] = known.try_emplace(std::string(name), nullptr);
  if (fresh) it->second = EVP_MD_fetch(nullptr, it->first.c_str(), nullptr);
  return reinterpret_cast<const DigestKind *>(it->second);
}

size_t digest(const DigestKind *kind, string_view data, char *out) {
  static EVP_MD_CTX *ctx = EVP_MD_CTX_new();
  unsigned size = 0;
  bool good = kind && EVP_DigestInit_ex2(ctx, md_of(kind), nullptr) && EVP_DigestUpdate(ctx, data.data(), data.size()) &&
              EVP_DigestFinal_ex(ctx, reinterpret_cast<unsigned char *>(out), &size);
  return good ? size : 0;
}

size_t hmac(const DigestKind *kind, string_view key, string_view data, char *out) {
  unsigned size = 0;
  const unsigned char *text = reinterpret_cast<const unsigned char *>(data.data() ? data.data() : "");
  if (!kind || !HMAC(md_of(kind), key.data() ? key.data() : "", static_cast<int>(key.size()), text, data.size(), reinterpret_cast<unsigned char *>(out), &size)) return 0;
  return size;
}

bool same_secret(string_view a, string_view b) { return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0; }

} // namespace penstock
