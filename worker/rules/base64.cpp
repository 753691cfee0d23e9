// SPDX-License-Identifier: BSD-2-Clause
#include "worker/rules/base64.h"

namespace penstock {

static constexpr string_view standard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static constexpr string_view for_urls = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

size_t base64_encode(string_view in, char *out, bool url) {
  string_view alphabet = url ? for_urls : standard;
  char *at = out;
  for (size_t i = 0; i < in.size(); i += 3) {
    size_t left = in.size() - i;
    u32 v = static_cast<u32>(static_cast<unsigned char>(in[i])) << 16;
    if (left > 1) v |= static_cast<u32>(static_cast<unsigned char>(in[i + 1])) << 8;
    if (left > 2) v |= static_cast<unsigned char>(in[i + 2]);
    *at++ = alphabet[v >> 18];
    *at++ = alphabet[v >> 12 & 63];
    if (left > 1) *at++ = alphabet[v >> 6 & 63];
    else if (!url) *at++ = '=';
    if (left > 2) *at++ = alphabet[v & 63];
    else if (!url) *at++ = '=';
  }
  return static_cast<size_t>(at - out);
}

size_t base64_decode(string_view in, char *out, bool url) {
  static const auto values = [] {
    struct { signed char v[2][256]; } t;
    for (auto &table : t.v)
      for (auto &x : table) x = -1;
    for (int i = 0; i < 64; i++) {
      t.v[0][static_cast<unsigned char>(standard[static_cast<size_t>(i)])] = static_cast<signed char>(i);
      t.v[1][static_cast<unsigned char>(for_urls[static_cast<size_t>(i)])] = static_cast<signed char>(i);
    }
    return t;
  }();
  if (!url && in.size() % 4) return base64_bad;
  size_t pads = 0;
  while (pads < 2 && !in.empty() && in.back() == '=') in.remove_suffix(1), pads++;
  if (in.size() % 4 == 1) return base64_bad;
  char *at = out;
  u32 v = 0;
  unsigned bits = 0;
  for (char c : in) {
    int digit = values.v[url][static_cast<unsigned char>(c)];
    if (digit < 0) return base64_bad;
    v = v << 6 | static_cast<u32>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    *at++ = static_cast<char>(v >> bits);
  }
  return static_cast<size_t>(at - out);
}

} // namespace penstock
