// SPDX-License-Identifier: BSD-2-Clause
// JSON Web Tokens and AES: the converters that know keys (manual, section 7.3.1; RFC 7515, 7518).
#include <cstring>

#include "shared/base/text.h"
#include "shared/tls/cipher.h"
#include "shared/tls/digest.h"
#include "shared/tls/signature.h"
#include "worker/rules/base64.h"
#include "worker/rules/conv_json.h"
#include "worker/rules/rows.h"
#include "worker/stream/vars.h"

namespace penstock {

namespace {

bool decode(Arena &arena, string_view encoded, bool url, string_view &out) {
  char *p = arena.chars(encoded.size() + 3);
  size_t n = base64_decode(encoded, p, url);
  out = {p, n};
  return n != base64_bad;
}

// -------------------------------------------------------------------------------------------- tokens

/// "header.payload.signature"
struct Token {
  string_view parts[3];
  string_view signed_part; // the first two with their dot
};
bool split_token(string_view text, size_t least, Token &t) {
  size_t n = 0;
  for (string_view rest = text; n < 3; n++) {
    size_t dot = rest.find('.');
    t.parts[n] = rest.substr(0, dot);
    if (dot == string_view::npos) {
      n++;
      rest = {};
      break;
    }
    rest.remove_prefix(dot + 1);
    if (n == 2) return false; // a fourth part
  }
  size_t signature = text.rfind('.');
  t.signed_part = text.substr(0, signature == string_view::npos ? 0 : signature);
  return n >= least;
}

template <size_t part> bool query_token(EvalContext &ctx, const Args &args, Sample &s) {
  Token t;
  string_view json;
  if (!split_token(s.str, part + 1, t) || !decode(ctx.scratch, t.parts[part], true, json)) return false;
  if (args[0]) return query_json(ctx, json, args[0], args[1], s);
  return give_str(s, json);
}
bool check_query(Args &args, std::string &error) { return !args[0] || check_json_path(args[0], args[1], error); }

struct Algorithm {
  string_view name;
  enum Family : u8 { None, Hmac, Signature } family;
  SignatureScheme scheme;
  unsigned bits;
};
constexpr Algorithm algorithms[] = {
    {"none", Algorithm::None, {}, 0},
    {"HS256", Algorithm::Hmac, {}, 256}, {"HS384", Algorithm::Hmac, {}, 384}, {"HS512", Algorithm::Hmac, {}, 512},
    {"RS256", Algorithm::Signature, SignatureScheme::RsaPkcs1, 256}, {"RS384", Algorithm::Signature, SignatureScheme::RsaPkcs1, 384},
    {"RS512", Algorithm::Signature, SignatureScheme::RsaPkcs1, 512}, {"PS256", Algorithm::Signature, SignatureScheme::RsaPss, 256},
    {"PS384", Algorithm::Signature, SignatureScheme::RsaPss, 384},   {"PS512", Algorithm::Signature, SignatureScheme::RsaPss, 512},
    {"ES256", Algorithm::Signature, SignatureScheme::Ecdsa, 256},    {"ES384", Algorithm::Signature, SignatureScheme::Ecdsa, 384},
    {"ES512", Algorithm::Signature, SignatureScheme::Ecdsa, 512},
};
const Algorithm *algorithm_of(string_view name) {
  for (const Algorithm &a : algorithms)
    if (a.name == name) return &a;
  return nullptr;
}

/// What jwt_verify gives.
enum Outcome : i64 { failure = 0, success = 1, unknown_algorithm = -1, invalid_token = -3, unknown_key = -5 };

/// Keys by the path that rules name, so that variables can name them too.
struct KnownKey {
  std::string path;
  std::shared_ptr<const PublicKey> key;
};
std::vector<KnownKey> &known_keys() {
  static std::vector<KnownKey> keys;
  return keys;
}
const PublicKey *known_key(string_view path) {
  for (const KnownKey &k : known_keys())
    if (k.path == path) return k.key.get();
  return nullptr;
}

i64 verify_hmac(unsigned bits, string_view key, const Token &t, string_view signature) {
  static const DigestKind *kinds[] = {digest_kind("sha256"), digest_kind("sha384"), digest_kind("sha512")};
  char made[digest_max];
  size_t n = hmac(kinds[bits == 256 ? 0 : bits == 384 ? 1 : 2], key, t.signed_part, made);
  return n > 0 && same_secret({made, n}, signature) ? success : failure;
}

PENSTOCK_CONVERTER(jwt_verify) {
  string_view name, key, signature;
  if (!text_argument(ctx, args[0], name) || !text_argument(ctx, args[1], key)) return false;
  const Algorithm *a = algorithm_of(name);
  if (!a) return give_int(s, unknown_algorithm);
  Token t;
  if (!split_token(s.str, 3, t) || t.parts[0].empty() || t.parts[1].empty()) return give_int(s, invalid_token);
  if (a->family == Algorithm::None) return give_int(s, t.parts[2].empty() ? success : failure);
  if (t.parts[2].empty() || !decode(ctx.scratch, t.parts[2], true, signature)) return give_int(s, invalid_token);
  if (a->family == Algorithm::Hmac) return give_int(s, verify_hmac(a->bits, key, t, signature));
  const PublicKey *public_key = args[1].as<PublicKey>() ? args[1].as<PublicKey>() : known_key(key);
  if (!public_key) return give_int(s, unknown_key);
  return give_int(s, public_key->verify(a->scheme, a->bits, t.signed_part, signature) ? success : failure);
}
bool check_verify(Args &args, std::string &error) {
  const Algorithm *a = args[0].type == ArgType::Var ? nullptr : algorithm_of(args[0].str);
  if (args[0].type != ArgType::Var && !a) {
    error = "unknown algorithm '" + args[0].str + "'; there are none, and HS, RS, PS or ES with 256, 384 or 512";
    return false;
  }
  if (args[1].type == ArgType::Var || (a && a->family != Algorithm::Signature)) return true;
  if (const PublicKey *k = known_key(args[1].str)) return args[1].ref = k, true;
  std::string why;
  auto key = PublicKey::load(args[1].str, why);
  if (!key) {
    if (!a) return true; // the variable may ask for a secret
    error = why;
    return false;
  }
  args[1].ref = key.get();
  known_keys().push_back({args[1].str, key}); // kept for good: rules name it
  return true;
}

// ----------------------------------------------------------------------------------------------- AES

/// A literal was decoded when it was read; a variable holds base64.
bool binary_argument(EvalContext &ctx, const ArgValue &arg, string_view &out) {
  if (arg.type != ArgType::Var) return out = arg.str, true;
  string_view encoded;
  return text_argument(ctx, arg, encoded) && decode(ctx.scratch, encoded, false, out);
}

template <CipherMode mode> bool aes_encrypt(EvalContext &ctx, const Args &args, Sample &s) {
  string_view nonce, key;
  if (!binary_argument(ctx, args[1], nonce) || !binary_argument(ctx, args[2], key)) return false;
  char *p = ctx.scratch.chars(s.str.size() + 32), tag[cipher_tag_size];
  size_t n = encrypt(mode, static_cast<unsigned>(args[0].num), key, nonce, s.str, p, tag);
  if (n == cipher_bad) return false;
  s.set_bin({p, n});
  if (mode != CipherMode::Gcm) return true;
  Sample kept;
  char *text = ctx.scratch.chars(cipher_tag_size * 2);
  kept.set_str({text, base64_encode({tag, sizeof tag}, text, false)});
  return set_variable(ctx, VarId::unpacked(args[3].num), kept);
}
template <CipherMode mode> bool aes_decrypt(EvalContext &ctx, const Args &args, Sample &s) {
  string_view nonce, key, tag;
  if (!binary_argument(ctx, args[1], nonce) || !binary_argument(ctx, args[2], key)) return false;
  if (mode == CipherMode::Gcm && !binary_argument(ctx, args[3], tag)) return false;
  char *p = ctx.scratch.chars(s.str.size() + 32);
  size_t n = decrypt(mode, static_cast<unsigned>(args[0].num), key, nonce, s.str, p, tag);
  if (n == cipher_bad) return false;
  s.set_bin({p, n});
  return true;
}

bool decode_literal(ArgValue &arg, const char *what, size_t size, std::string &error) {
  if (arg.type == ArgType::Var) return true;
  std::string out(arg.str.size() + 3, '\0');
  size_t n = base64_decode(arg.str, out.data(), false);
  if (n == base64_bad) error = std::string("the ") + what + " must be base64 or a variable";
  else if (size && n != size) error = std::string("the ") + what + " has " + std::to_string(n) + " bytes, not " + std::to_string(size);
  else arg.str = out.substr(0, n);
  return error.empty();
}
bool check_aes(Args &args, std::string &error) {
  i64 bits = args[0].num;
  if (bits != 128 && bits != 192 && bits != 256) {
    error = "AES has 128, 192 or 256 bits, not " + std::to_string(bits);
    return false;
  }
  return decode_literal(args[1], "nonce", 0, error) && decode_literal(args[2], "key", static_cast<size_t>(bits / 8), error);
}
bool check_gcm_decrypt(Args &args, std::string &error) { return check_aes(args, error) && decode_literal(args[3], "tag", 0, error); }

constexpr ArgSpecs query_args = {opt(ArgType::Str, "path"), opt(ArgType::Str, "type")};
constexpr ArgSpec bits = req(ArgType::Int, "bits"), nonce = req(ArgType::StrOrVar, "nonce"), aes_key = req(ArgType::StrOrVar, "key");
constexpr string_view aes_text = "Nonce and key are base64, or variables that hold base64; the key has as many bits as the first argument says.";
constexpr string_view query_text = "All of it without arguments, else what json_query finds at the path. The signature is not looked at: see jwt_verify.";
constexpr Type X = Type::Bin, S = Type::Str;
constexpr ConverterDef rows[] = {
    {.name = "aes_cbc_dec", .args = {bits, nonce, aes_key}, .in = X, .out = X, .doc = {"Decrypts AES in CBC mode.", aes_text, "http-request set-var(txn.clear) req.hdr(x-secret),b64dec,aes_cbc_dec(128,MDEyMzQ1Njc4OWFiY2RlZg==,MDEyMzQ1Njc4OWFiY2RlZg==)"}, .eval = aes_decrypt<CipherMode::Cbc>, .check = check_aes},
    {.name = "aes_cbc_enc", .args = {bits, nonce, aes_key}, .in = X, .out = X, .doc = {"Encrypts by AES in CBC mode.", aes_text, "http-request set-header X-Secret %[src,aes_cbc_enc(128,MDEyMzQ1Njc4OWFiY2RlZg==,MDEyMzQ1Njc4OWFiY2RlZg==),base64]"}, .eval = aes_encrypt<CipherMode::Cbc>, .check = check_aes},
    {.name = "aes_gcm_dec", .args = {bits, nonce, aes_key, req(ArgType::StrOrVar, "tag")}, .in = X, .out = X, .doc = {"Decrypts AES in GCM mode and checks the tag; no value where it is wrong.", aes_text, "http-request set-var(txn.tag) req.hdr(x-tag)\nhttp-request set-var(txn.clear) req.hdr(x-secret),b64dec,aes_gcm_dec(128,MDEyMzQ1Njc4OWFi,MDEyMzQ1Njc4OWFiY2RlZg==,txn.tag)"}, .eval = aes_decrypt<CipherMode::Gcm>, .check = check_gcm_decrypt},
    {.name = "aes_gcm_enc", .args = {bits, nonce, aes_key, req(ArgType::Var, "tag")}, .in = X, .out = X, .doc = {"Encrypts by AES in GCM mode and leaves the tag, in base64, in a variable.", aes_text, "http-request set-header X-Secret %[src,aes_gcm_enc(128,MDEyMzQ1Njc4OWFi,MDEyMzQ1Njc4OWFiY2RlZg==,txn.tag),base64]"}, .eval = aes_encrypt<CipherMode::Gcm>, .check = check_aes},
    {.name = "jwt_header_query", .args = query_args, .in = X, .out = Type::Any, .doc = {"The header of a JSON Web Token, or a value in it.", query_text, "http-request set-var(txn.alg) http_auth_bearer,jwt_header_query('$.alg')"}, .eval = query_token<0>, .check = check_query},
    {.name = "jwt_payload_query", .args = query_args, .in = X, .out = Type::Any, .doc = {"The payload of a JSON Web Token, or a value in it.", query_text, "http-request set-var(txn.iss) http_auth_bearer,jwt_payload_query('$.iss')"}, .eval = query_token<1>, .check = check_query},
    {.name = "jwt_verify", .args = {req(ArgType::StrOrVar, "algorithm"), req(ArgType::StrOrVar, "key")}, .in = X, .out = Type::Int,
     .doc = {"Verifies the signature of a JSON Web Token: 1 good, 0 bad, below 0 it could not be tried.",
             "Algorithms are none, and HS, RS, PS or ES with 256, 384 or 512; name the one that you expect, never the one that the token asks for. "
             "The key of HS is the secret itself, of the others a file with the public key, which is read once. Variables may stand for both; a key file must be "
             "named literally somewhere.\n\n-1 the algorithm is not known, -3 it is no token, -5 the key is not known.",
             "http-request deny unless { http_auth_bearer,jwt_verify(HS256,secret) 1 }"},
     .eval = jwt_verify, .check = check_verify},
};
static_assert(sorted_and_documented<ConverterDef>(rows));

} // namespace

std::span<const ConverterDef> conv_token() { return rows; }

} // namespace penstock
