// SPDX-License-Identifier: BSD-2-Clause
// Converters that hash, digest and authenticate (manual, section 7.3.1).
#include "shared/base/hash.h"
#include "shared/base/text.h"
#include "shared/tls/digest.h"
#include "worker/rules/base64.h"
#include "worker/rules/rows.h"
#include "worker/stream/vars.h"

namespace penstock {

namespace {

template <u32 (*hash)(string_view)> bool hash32(EvalContext &, const Args &args, Sample &s) {
  u32 h = hash(s.str);
  return give_int(s, args[0].num == 1 ? avalanche(h) : h);
}
PENSTOCK_CONVERTER(xx32) { return give_int(s, xxh32(s.str, static_cast<u32>(args[0].num))); }
PENSTOCK_CONVERTER(xx64) { return give_int(s, static_cast<i64>(xxh64(s.str, static_cast<u64>(args[0].num)))); }
PENSTOCK_CONVERTER(xx3) { return give_int(s, static_cast<i64>(xxh3(s.str, static_cast<u64>(args[0].num)))); }

bool give_digest(EvalContext &ctx, const DigestKind *kind, Sample &s) {
  char *p = ctx.scratch.chars(digest_max);
  size_t n = digest(kind, s.str, p);
  s.set_bin({p, n});
  return n > 0;
}
PENSTOCK_CONVERTER(sha1) {
  static const DigestKind *kind = digest_kind("sha1");
  return give_digest(ctx, kind, s);
}
PENSTOCK_CONVERTER(by_algorithm) { return give_digest(ctx, args[0].as<DigestKind>(), s); }
bool check_algorithm(Args &args, std::string &error) {
  args[0].ref = digest_kind(args[0].str);
  if (!args[0].ref) error = "unknown digest '" + args[0].str + "'";
  return args[0].ref;
}
bool check_sha2(Args &args, std::string &error) {
  i64 bits = args[0] ? args[0].num : 256;
  if (bits != 224 && bits != 256 && bits != 384 && bits != 512) {
    error = "there are 224, 256, 384 and 512 bits, not " + std::to_string(bits);
    return false;
  }
  args[0].ref = digest_kind("sha" + std::to_string(bits));
  return args[0].ref;
}

/// The key is base64: decoded when read, or when it comes out of a variable.
PENSTOCK_CONVERTER(hmac_of) {
  string_view key = args[1].str;
  if (args[1].type == ArgType::Var) {
    string_view encoded;
    if (!text_argument(ctx, args[1], encoded)) return false;
    char *p = ctx.scratch.chars(encoded.size() + 3);
    size_t n = base64_decode(encoded, p, false);
    if (n == base64_bad) return false;
    key = {p, n};
  }
  char *p = ctx.scratch.chars(digest_max);
  size_t n = hmac(args[0].as<DigestKind>(), key, s.str, p);
  s.set_bin({p, n});
  return n > 0;
}
bool check_hmac(Args &args, std::string &error) {
  if (!check_algorithm(args, error)) return false;
  if (args[1].type == ArgType::Var) return true;
  std::string key(args[1].str.size() + 3, '\0');
  size_t n = base64_decode(args[1].str, key.data(), false);
  if (n == base64_bad) error = "the key must be base64 or a variable";
  else args[1].str = key.substr(0, n);
  return n != base64_bad;
}

PENSTOCK_CONVERTER(secure_compare) {
  string_view other;
  return text_argument(ctx, args[0], other) && give_bool(s, same_secret(s.str, other));
}

/// Whether a byte occurs whose bit is set in the mask: 0 to 31, and 32 for DEL.
PENSTOCK_CONVERTER(has_control) {
  auto mask = static_cast<u64>(args[0].num);
  for (char c : s.str) {
    unsigned bit = c == 0x7f ? 32 : static_cast<unsigned char>(c);
    if (bit <= 32 && !(bit == 32 && c == ' ') && mask >> bit & 1) return give_bool(s, true);
  }
  return give_bool(s, false);
}
bool check_mask(Args &args, std::string &error) {
  constexpr i64 all = 0x1FFFFFFFF, but_tab = all & ~(i64{1} << 9), http = 0x2401;
  string_view text = args[0].str;
  if (!args[0]) return args[0].num = but_tab, true;
  if (text == "any") return args[0].num = all, true;
  if (text == "http") return args[0].num = http, true;
  i64 v = 0;
  bool hex = text.starts_with("0x");
  for (char c : text.substr(hex ? 2 : 0)) {
    int digit = hex_digit(c);
    if (digit < 0 || (!hex && digit > 9) || v > all) v = all;
    v = v * (hex ? 16 : 10) + digit;
  }
  args[0].num = v;
  if (v > all) error = "the mask is a number of 33 bits, any or http, got '" + args[0].str + "'";
  return error.empty();
}

constexpr ArgSpecs avalanche_arg = {opt(ArgType::Int, "avalanche")};
constexpr ArgSpecs seed_arg = {opt(ArgType::Int, "seed")};
constexpr Type X = Type::Bin, I = Type::Int;
constexpr string_view spread = "With 1 as argument the result is spread over all bits. The same function as hash-type's. Not for secrets.";
constexpr string_view quick = "Fast and even; not for secrets. The argument is the seed.";
constexpr ConverterDef rows[] = {
    {.name = "crc32", .args = avalanche_arg, .in = X, .out = I, .doc = {"The CRC32 of Ethernet and gzip.", spread, "http-request set-header X-H %[path,crc32]"}, .eval = hash32<crc32>},
    {.name = "crc32c", .args = avalanche_arg, .in = X, .out = I, .doc = {"The CRC32 of Castagnoli.", spread, "http-request set-header X-H %[path,crc32c]"}, .eval = hash32<crc32c>},
    {.name = "digest", .args = {req(ArgType::Str, "algorithm")}, .in = X, .out = X, .doc = {"The digest by a named algorithm.", "", "http-request set-header X-D %[path,digest(sha256),hex]"}, .eval = by_algorithm, .check = check_algorithm},
    {.name = "djb2", .args = avalanche_arg, .in = X, .out = I, .doc = {"The hash djb2.", spread, "http-request set-header X-H %[path,djb2]"}, .eval = hash32<djb2>},
    {.name = "has_ctl", .args = {opt(ArgType::Str, "mask")}, .in = X, .out = Type::Bool, .doc = {"Whether there is a control character.", "All but the tab count; a mask names those that do by their bits, 0 to 31 and 32 for DEL. The word any stands for all of them, http for NUL, CR and LF.", "http-request deny if { req.hdr(x),has_ctl(http) }"}, .eval = has_control, .check = check_mask},
    {.name = "hmac", .args = {req(ArgType::Str, "algorithm"), req(ArgType::StrOrVar, "key")}, .in = X, .out = X, .doc = {"The keyed digest (HMAC) by a named algorithm.", "The key is base64, or a variable that holds base64.", "http-request set-header X-Sign %[path,hmac(sha256,c2VjcmV0),hex]"}, .eval = hmac_of, .check = check_hmac},
    {.name = "sdbm", .args = avalanche_arg, .in = X, .out = I, .doc = {"The hash sdbm.", spread, "http-request set-header X-H %[path,sdbm]"}, .eval = hash32<sdbm>},
    {.name = "secure_memcmp", .args = {req(ArgType::Var, "variable")}, .in = X, .out = Type::Bool, .doc = {"Whether the value equals a variable's, in a time that tells nothing.", "", "http-request set-var(txn.token) req.hdr(token)\nhttp-request deny unless { str(secret),secure_memcmp(txn.token) }"}, .eval = secure_compare},
    {.name = "sha1", .in = X, .out = X, .doc = {"The SHA-1 digest.", "", "http-request set-header X-D %[path,sha1,hex]"}, .eval = sha1},
    {.name = "sha2", .args = {opt(ArgType::Int, "bits")}, .in = X, .out = X, .doc = {"The SHA-2 digest of 224, 256, 384 or 512 bits.", "256 unless given.", "http-request set-header X-D %[path,sha2(512),hex]"}, .eval = by_algorithm, .check = check_sha2},
    {.name = "wt6", .args = avalanche_arg, .in = X, .out = I, .doc = {"The hash wt6.", "The values are our own, not those of other programs that know the name.", "http-request set-header X-H %[path,wt6]"}, .eval = hash32<wt6>},
    {.name = "xxh3", .args = seed_arg, .in = X, .out = I, .doc = {"The 64-bit hash XXH3.", quick, "http-request set-header X-H %[path,xxh3]"}, .eval = xx3},
    {.name = "xxh32", .args = seed_arg, .in = X, .out = I, .doc = {"The 32-bit hash XXH32.", quick, "http-request set-header X-H %[path,xxh32]"}, .eval = xx32},
    {.name = "xxh64", .args = seed_arg, .in = X, .out = I, .doc = {"The 64-bit hash XXH64.", quick, "http-request set-header X-H %[path,xxh64]"}, .eval = xx64},
};
static_assert(sorted_and_documented<ConverterDef>(rows));

} // namespace

std::span<const ConverterDef> conv_hash() { return rows; }

} // namespace penstock
