// SPDX-License-Identifier: BSD-2-Clause
#include "shared/tls/signature.h"

#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <cstdio>

#include "shared/tls/digest.h"

namespace penstock {

namespace {

struct CloseFile {
  void operator()(FILE *f) const { fclose(f); }
};

/// Each form of key that the file may hold, in turn.
EVP_PKEY *read_key(FILE *file) {
  if (EVP_PKEY *key = PEM_read_PUBKEY(file, nullptr, nullptr, nullptr)) return key;
  rewind(file);
  if (X509 *certificate = PEM_read_X509(file, nullptr, nullptr, nullptr)) {
    EVP_PKEY *key = X509_get_pubkey(certificate);
    X509_free(certificate);
    return key;
  }
  return nullptr;
}

/// The form in tokens, two numbers of equal length, turned into the one that libraries want.
bool ecdsa_der(string_view raw, unsigned char *out, size_t capacity, size_t &size) {
  if (raw.empty() || raw.size() % 2 || raw.size() > 2 * 66) return false;
  const auto *at = reinterpret_cast<const unsigned char *>(raw.data());
  int half = static_cast<int>(raw.size() / 2);
  ECDSA_SIG *sig = ECDSA_SIG_new();
  ECDSA_SIG_set0(sig, BN_bin2bn(at, half, nullptr), BN_bin2bn(at + half, half, nullptr));
  int n = i2d_ECDSA_SIG(sig, nullptr);
  bool fits = n > 0 && static_cast<size_t>(n) <= capacity;
  if (fits) size = static_cast<size_t>(i2d_ECDSA_SIG(sig, &out));
  ECDSA_SIG_free(sig);
  return fits;
}

} // namespace

std::shared_ptr<const PublicKey> PublicKey::load(const std::string &path, std::string &error) {
  std::unique_ptr<FILE, CloseFile> file(fopen(path.c_str(), "re"));
  if (!file) {
    error = "cannot read '" + path + "'";
    return nullptr;
  }
  EVP_PKEY *key = read_key(file.get());
  ERR_clear_error();
  if (!key) {
    error = "'" + path + "' holds no public key in PEM form";
    return nullptr;
  }
  std::shared_ptr<PublicKey> out(new PublicKey);
  out->key_ = key;
  return out;
}

PublicKey::~PublicKey() { EVP_PKEY_free(static_cast<EVP_PKEY *>(key_)); }

bool PublicKey::verify(SignatureScheme scheme, unsigned bits, string_view data, string_view signature) const {
  static EVP_MD_CTX *ctx = EVP_MD_CTX_new();
  static const DigestKind *kinds[] = {digest_kind("sha256"), digest_kind("sha384"), digest_kind("sha512")};
  auto *key = static_cast<EVP_PKEY *>(key_);
  bool is_rsa = EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA, is_ec = EVP_PKEY_get_base_id(key) == EVP_PKEY_EC;
  if (scheme == SignatureScheme::Ecdsa ? !is_ec : !is_rsa) return false;
  const auto *md = reinterpret_cast<const EVP_MD *>(kinds[bits == 256 ? 0 : bits == 384 ? 1 : 2]);
  EVP_PKEY_CTX *options = nullptr;
  EVP_MD_CTX_reset(ctx);
  if (EVP_DigestVerifyInit(ctx, &options, md, nullptr, key) != 1) return ERR_clear_error(), false;
  if (scheme == SignatureScheme::RsaPss &&
      (EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING) != 1 || EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_AUTO) != 1))
    return ERR_clear_error(), false;
  const auto *sig = reinterpret_cast<const unsigned char *>(signature.data());
  size_t size = signature.size();
  unsigned char der[160];
  if (scheme == SignatureScheme::Ecdsa) {
    if (!ecdsa_der(signature, der, sizeof der, size)) return false;
    sig = der;
  }
  bool good = EVP_DigestVerify(ctx, sig, size, reinterpret_cast<const unsigned char *>(data.data()), data.size()) == 1;
  ERR_clear_error();
  return good;
}

} // namespace penstock
