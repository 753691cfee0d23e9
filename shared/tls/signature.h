// SPDX-License-Identifier: BSD-2-Clause
// Public keys and the verification of signatures with them, for JSON Web Tokens (RFC 7518, section 3).
#pragma once

#include <memory>
#include <string>

#include "shared/base/basic.h"

namespace penstock {

/// How a signature was made.
enum class SignatureScheme : u8 { RsaPkcs1, RsaPss, Ecdsa /* r and s one behind the other */ };

class PublicKey : Pinned {
 public:
  /// From a file in PEM: SubjectPublicKeyInfo, PKCS#1 or a certificate. Null and `error` when it is none.
  static std::shared_ptr<const PublicKey> load(const std::string &path, std::string &error);
  ~PublicKey();
  /// `bits`: of the SHA-2 digest, 256, 384 or 512. False also where the key is of another kind.
  bool verify(SignatureScheme scheme, unsigned bits, string_view data, string_view signature) const;

 private:
  PublicKey() = default;
  void *key_ = nullptr; // the library's own
};

} // namespace penstock
