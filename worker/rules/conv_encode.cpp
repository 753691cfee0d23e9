// SPDX-License-Identifier: BSD-2-Clause
// Converters between encodings: hexadecimal, base64, URLs, JSON text (manual, section 7.3.1).
#include <charconv>

#include "shared/base/text.h"
#include "worker/rules/base64.h"
#include "worker/rules/rows.h"

namespace penstock {

namespace {

constexpr char upper_digits[] = "0123456789ABCDEF";

PENSTOCK_CONVERTER(to_hex) {
  char *p = ctx.scratch.chars(s.str.size() * 2 + 1), *at = p;
  for (char c : s.str) *at++ = upper_digits[static_cast<unsigned char>(c) >> 4], *at++ = upper_digits[c & 15];
  return give_str(s, {p, s.str.size() * 2});
}
PENSTOCK_CONVERTER(hex_to_int) {
  u64 v = 0;
  for (char c : s.str) {
    int digit = hex_digit(c);
    if (digit < 0) return false;
    v = v << 4 | static_cast<u64>(digit);
  }
  return give_int(s, static_cast<i64>(v));
}
PENSTOCK_CONVERTER(to_binary_digits) {
  char *p = ctx.scratch.chars(s.str.size() * 8 + 1), *at = p;
  for (char c : s.str)
    for (int bit = 7; bit >= 0; bit--) *at++ = c >> bit & 1 ? '1' : '0';
  return give_str(s, {p, s.str.size() * 8});
}

/// Numbers of `chunk` bytes each, in decimal, with a separator between.
template <bool big_endian> bool to_decimals(EvalContext &ctx, const Args &args, Sample &s) {
  size_t chunk = static_cast<size_t>(args[1].num);
  string_view separator = args[0].str, in = s.str;
  bool truncate = args[2] && args[2].num;
  char *p = ctx.scratch.chars(in.size() * (20 + separator.size()) + 1), *at = p;
  for (size_t i = 0; i < in.size(); i += chunk) {
    string_view part = in.substr(i, chunk);
    if (part.size() < chunk && truncate) break;
    u64 v = 0;
    for (size_t k = 0; k < part.size(); k++) {
      u64 byte = static_cast<unsigned char>(part[k]);
      v = big_endian ? v << 8 | byte : v | byte << (8 * k);
    }
    if (at != p && !separator.empty()) std::memcpy(at, separator.data(), separator.size()), at += separator.size();
    at = write_u64(at, v);
  }
  return give_str(s, {p, static_cast<size_t>(at - p)});
}
bool check_decimals(Args &args, std::string &error) {
  if (args[1].num >= 1 && args[1].num <= 8) return true;
  error = "the size of a chunk is 1 to 8 bytes";
  return false;
}

PENSTOCK_CONVERTER(to_hex_chunks) {
  string_view separator = args[0].str, in = s.str;
  size_t chunk = args[1] ? static_cast<size_t>(args[1].num) : 1;
  bool truncate = args[2] && args[2].num;
  char *p = ctx.scratch.chars(in.size() * (2 + separator.size()) + 1), *at = p;
  for (size_t i = 0; i < in.size(); i++) {
    if (truncate && i % chunk == 0 && in.size() - i < chunk) break;
    if (i && i % chunk == 0 && !separator.empty()) std::memcpy(at, separator.data(), separator.size()), at += separator.size();
    *at++ = upper_digits[static_cast<unsigned char>(in[i]) >> 4];
    *at++ = upper_digits[in[i] & 15];
  }
  return give_str(s, {p, static_cast<size_t>(at - p)});
}
bool check_hex_chunks(Args &args, std::string &error) {
  if (!args[1] || args[1].num > 0) return true;
  error = "the size of a chunk must be above 0";
  return false;
}

template <bool url> bool encode64(EvalContext &ctx, const Args &, Sample &s) {
  char *p = ctx.scratch.chars((s.str.size() + 2) / 3 * 4 + 1);
  return give_str(s, {p, base64_encode(s.str, p, url)});
}
template <bool url> bool decode64(EvalContext &ctx, const Args &, Sample &s) {
  char *p = ctx.scratch.chars(s.str.size() + 3);
  size_t n = base64_decode(s.str, p, url);
  if (n == base64_bad) return false;
  s.set_bin({p, n});
  return true;
}

// --------------------------------------------------------------------------------------------- URLs

/// A '+' is a blank in forms and behind a question mark. Malformed escapes and escaped NULs give no value.
PENSTOCK_CONVERTER(url_decode) {
  bool form = !args[0] || args[0].num;
  char *p = ctx.scratch.chars(s.str.size() + 1), *at = p;
  for (size_t i = 0; i < s.str.size(); i++) {
    char c = s.str[i];
    if (c == '?') form = true;
    if (c == '+' && form) c = ' ';
    else if (c == '%') {
      if (i + 2 >= s.str.size()) return false;
      int high = hex_digit(s.str[i + 1]), low = hex_digit(s.str[i + 2]);
      if (high < 0 || low < 0) return false;
      c = static_cast<char>(high * 16 + low);
      if (c == 0) return false;
      i += 2;
    }
    *at++ = c;
  }
  return give_str(s, {p, static_cast<size_t>(at - p)});
}

constexpr bool is_unreserved(char c) { return is_alpha(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~'; }
PENSTOCK_CONVERTER(url_encode) {
  char *p = ctx.scratch.chars(s.str.size() * 3 + 1), *at = p;
  for (char c : s.str) {
    if (is_unreserved(c)) *at++ = c;
    else *at++ = '%', *at++ = upper_digits[static_cast<unsigned char>(c) >> 4], *at++ = upper_digits[c & 15];
  }
  return give_str(s, {p, static_cast<size_t>(at - p)});
}
bool check_url_encode(Args &args, std::string &error) {
  if (!args[0] || args[0].str == "query") return true;
  error = "the only type of encoding is query, got '" + args[0].str + "'";
  return false;
}

// --------------------------------------------------------------------------------------------- JSON

/// What to do about a malformed sequence, or one of a character that takes more than four hexadecimal digits.
enum class Utf8 : u8 {
  None,   // bytes, not characters
  Strict, // no value
  Skip,   // leave it out
  Loose,  // Strict, but longer forms than needed are taken
  LooseSkip,
};

/// Decodes one character at `at`; 0 length when it is malformed.
size_t utf8_length(string_view s, size_t at, bool loose, u32 &code) {
  auto byte = [&](size_t i) { return at + i < s.size() ? static_cast<unsigned char>(s[at + i]) : 0u; };
  u32 c = byte(0);
  size_t n = c < 0x80 ? 1 : c >= 0xC0 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF8 ? 4 : 0;
  if (n == 0) return 0;
  code = n == 1 ? c : c & (0x7Fu >> n);
  for (size_t i = 1; i < n; i++) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr u32 least[] = {0, 0, 0x80, 0x800, 0x10000};
  return (code < least[n] && !loose) || code > 0xFFFF || (code >= 0xD800 && code < 0xE000) ? 0 : n;
}

char *put_escape(char *at, u32 unit) {
  *at++ = '\\', *at++ = 'u';
  for (int shift = 12; shift >= 0; shift -= 4) *at++ = "0123456789abcdef"[unit >> shift & 15];
  return at;
}

PENSTOCK_CONVERTER(json) {
  auto mode = static_cast<Utf8>(args[0].num);
  char *p = ctx.scratch.chars(s.str.size() * 6 + 1), *at = p;
  for (size_t i = 0; i < s.str.size();) {
    u32 code = static_cast<unsigned char>(s.str[i]);
    size_t n = 1;
    if (code >= 0x80 && mode != Utf8::None) {
      n = utf8_length(s.str, i, mode >= Utf8::Loose, code);
      if (n == 0) {
        if (mode == Utf8::Strict || mode == Utf8::Loose) return false;
        i++;
        continue;
      }
    }
    i += n;
    if (code == '"' || code == '\\') *at++ = '\\', *at++ = static_cast<char>(code);
    else if (code == '\n') *at++ = '\\', *at++ = 'n';
    else if (code == '\r') *at++ = '\\', *at++ = 'r';
    else if (code == '\t') *at++ = '\\', *at++ = 't';
    else if (code == '\b') *at++ = '\\', *at++ = 'b';
    else if (code == '\f') *at++ = '\\', *at++ = 'f';
    else if (code == '/') *at++ = '\\', *at++ = '/';
    else if (code >= 0x20 && code < 0x7f) *at++ = static_cast<char>(code);
    else at = put_escape(at, code);
  }
  return give_str(s, {p, static_cast<size_t>(at - p)});
}
bool check_json(Args &args, std::string &error) {
  string_view code = args[0] ? string_view(args[0].str) : "ascii";
  struct Row { string_view name; Utf8 mode; };
  constexpr Row rows[] = {{"ascii", Utf8::None}, {"utf8", Utf8::Strict}, {"utf8s", Utf8::Skip}, {"utf8p", Utf8::Loose}, {"utf8ps", Utf8::LooseSkip}};
  for (const Row &r : rows)
    if (r.name == code) return args[0].num = static_cast<i64>(r.mode), true;
  error = "the input code is ascii, utf8, utf8s, utf8p or utf8ps, got '" + std::string(code) + "'";
  return false;
}

constexpr Type S = Type::Str, X = Type::Bin;
constexpr ConverterDef rows[] = {
    {.name = "b64dec", .in = S, .out = X, .doc = {"Decodes base64.", "", "http-request set-var(txn.cred) req.hdr(x-data),b64dec"}, .eval = decode64<false>},
    {.name = "base2", .in = X, .out = S, .doc = {"The bytes as binary digits.", "", "http-request set-header X-Bits %[src,base2]"}, .eval = to_binary_digits},
    {.name = "base64", .in = X, .out = S, .doc = {"Encodes in base64.", "", "http-request set-header X-Path %[path,base64]"}, .eval = encode64<false>},
    {.name = "be2dec", .args = {req(ArgType::Str, "separator"), req(ArgType::Int, "chunk"), opt(ArgType::Int, "truncate")}, .in = X, .out = S, .doc = {"Numbers in big-endian bytes, as decimals.", "Chunks of 1 to 8 bytes, divided by a separator; the third argument leaves out an incomplete one.", "http-request set-header X-N %[src,be2dec(.,1)]"}, .eval = to_decimals<true>, .check = check_decimals},
    {.name = "be2hex", .args = {opt(ArgType::Str, "separator"), opt(ArgType::Int, "chunk"), opt(ArgType::Int, "truncate")}, .in = X, .out = S, .doc = {"The bytes in hexadecimal, in chunks divided by a separator.", "", "http-request set-header X-N %[src,be2hex(:,2)]"}, .eval = to_hex_chunks, .check = check_hex_chunks},
    {.name = "hex", .in = X, .out = S, .doc = {"The bytes in hexadecimal.", "", "http-request set-header X-Src %[src,hex]"}, .eval = to_hex},
    {.name = "hex2i", .in = X, .out = Type::Int, .doc = {"A number out of hexadecimal digits.", "", "http-request set-var(txn.n) req.hdr(x-n),hex2i"}, .eval = hex_to_int},
    {.name = "json", .args = {opt(ArgType::Str, "input-code")}, .in = S, .out = S, .doc = {"Escapes text so that it can stand in a JSON string.", "How the text is coded: ascii, or utf8 with what to do about mistakes: none gives no value, s leaves them out, p takes forms that are longer than needed. "
                     "Characters beyond four hexadecimal digits count as mistakes.", "http-request set-header X-Agent %[req.hdr(user-agent),json(utf8s)]"}, .eval = json, .check = check_json},
    {.name = "le2dec", .args = {req(ArgType::Str, "separator"), req(ArgType::Int, "chunk"), opt(ArgType::Int, "truncate")}, .in = X, .out = S, .doc = {"Numbers in little-endian bytes, as decimals.", "As be2dec.", "http-request set-header X-N %[src,le2dec(.,2)]"}, .eval = to_decimals<false>, .check = check_decimals},
    {.name = "ub64dec", .in = S, .out = X, .doc = {"Decodes base64 of the alphabet for URLs.", "", "http-request set-var(txn.data) req.hdr(x-data),ub64dec"}, .eval = decode64<true>},
    {.name = "ub64enc", .in = X, .out = S, .doc = {"Encodes in base64 of the alphabet for URLs, without padding.", "", "http-request set-header X-Path %[path,ub64enc]"}, .eval = encode64<true>},
    {.name = "url_dec", .args = {opt(ArgType::Int, "form")}, .in = S, .out = S, .doc = {"Decodes percent escapes.", "A plus is a blank; with the argument 0 only behind a question mark. Malformed escapes give no value, nor does %00.", "http-request set-var(txn.q) url_param(q),url_dec(1)"}, .eval = url_decode},
    {.name = "url_enc", .args = {opt(ArgType::Str, "type")}, .in = S, .out = S, .doc = {"Encodes what may not stand in a query as percent escapes.", "", "http-request redirect location /login?from=%[pathq,url_enc]"}, .eval = url_encode, .check = check_url_encode},
};
static_assert(sorted_and_documented<ConverterDef>(rows));

} // namespace

std::span<const ConverterDef> conv_encode() { return rows; }

} // namespace penstock
