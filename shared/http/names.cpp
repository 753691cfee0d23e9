// SPDX-License-Identifier: BSD-2-Clause
// Methods, field names and reason phrases as tables. Every field line of every head asks header_of(),
// so its look-up is a perfect hash over (length, first, middle, last letter), found by the compiler,
// followed by one case-blind comparison of eight bytes at a time.
#include "shared/http/names.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "shared/base/text.h"

namespace penstock {

namespace {

constexpr string_view method_names[] = {"OPTIONS", "GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "CONNECT", "PATCH"};

/// As the proxy writes them: lower case, the form that every HTTP version may carry.
constexpr string_view canonical[] = {
    "",
    "accept", "accept-encoding", "age", "authorization", "cache-control", "connection", "content-encoding", "content-length",
    "content-type", "cookie", "date", "etag", "expect", "expires", "forwarded", "host", "if-modified-since", "if-none-match", "keep-alive",
    "last-modified", "location", "pragma", "proxy-authenticate", "proxy-authorization", "proxy-connection", "range", "referer", "sec-websocket-accept",
    "sec-websocket-key", "server", "set-cookie", "te", "trailer", "transfer-encoding", "upgrade", "user-agent", "vary", "via",
    "www-authenticate", "x-forwarded-for", "x-forwarded-proto", "x-original-to",
};
constexpr size_t header_count = static_cast<size_t>(Header::count_);
static_assert(std::size(canonical) == header_count);

constexpr size_t longest_name = [] {
  size_t n = 0;
  for (string_view s : canonical) n = std::max(n, s.size());
  return n;
}();

/// One name to compare with: its lower-case letters, and 0x20 wherever the case may differ.
struct Name {
  std::array<char, 24> lower{};
  std::array<char, 24> fold{};
};
static_assert(longest_name <= 24);

constexpr auto names = [] {
  std::array<Name, header_count> out{};
  for (size_t i = 0; i < header_count; i++)
    for (size_t j = 0; j < canonical[i].size(); j++) {
      out[i].lower[j] = canonical[i][j];
      out[i].fold[j] = is_alpha(canonical[i][j]) ? 0x20 : 0;
    }
  return out;
}();

constexpr size_t slots = 256;

constexpr unsigned slot_of(const char *s, size_t n, unsigned a, unsigned b) {
  unsigned first = static_cast<unsigned char>(s[0]) & 0x1f;
  unsigned middle = static_cast<unsigned char>(s[n / 2]) & 0x1f;
  unsigned last = static_cast<unsigned char>(s[n - 1]) & 0x1f;
  return (static_cast<unsigned>(n) * a + first * b + middle * 5 + last * 27) % slots;
}

struct Hash {
  unsigned a = 0, b = 0;
  std::array<Header, slots> at{};
};

constexpr bool fill(Hash &h) {
  h.at = {};
  for (size_t i = 1; i < header_count; i++) {
    Header &slot = h.at[slot_of(canonical[i].data(), canonical[i].size(), h.a, h.b)];
    if (slot != Header::Other) return false;
    slot = static_cast<Header>(i);
  }
  return true;
}

constexpr Hash hash = [] {
  Hash h;
  for (h.a = 1; h.a < 64; h.a++)
    for (h.b = 1; h.b < 64; h.b++)
      if (fill(h)) return h;
  return Hash{};
}();
static_assert(hash.a != 0, "no collision-free hash for the field names: widen the search");

template <class Word> bool same_word(const char *text, const Name &name, size_t at) {
  Word t, l, f;
  std::memcpy(&t, text + at, sizeof t);
  std::memcpy(&l, name.lower.data() + at, sizeof l);
  std::memcpy(&f, name.fold.data() + at, sizeof f);
  return static_cast<Word>(t | f) == l;
}

/// Both are `n` long. Overlapping words instead of a loop over the rest.
bool same_name(const char *text, size_t n, const Name &name) {
  if (n >= 8) {
    for (size_t at = 0; at + 8 < n; at += 8)
      if (!same_word<u64>(text, name, at)) return false;
    return same_word<u64>(text, name, n - 8);
  }
  if (n >= 4) return same_word<u32>(text, name, 0) && same_word<u32>(text, name, n - 4);
  return same_word<u16>(text, name, 0) && same_word<u16>(text, name, n - 2);
}

struct Reason {
  u16 status;
  string_view phrase;
};
constexpr Reason reasons[] = {
    {100, "Continue"}, {101, "Switching Protocols"}, {102, "Processing"}, {103, "Early Hints"},
    {200, "OK"}, {201, "Created"}, {202, "Accepted"}, {203, "Non-Authoritative Information"}, {204, "No Content"},
    {205, "Reset Content"}, {206, "Partial Content"}, {207, "Multi-Status"}, {208, "Already Reported"}, {226, "IM Used"},
    {300, "Multiple Choices"}, {301, "Moved Permanently"}, {302, "Found"}, {303, "See Other"}, {304, "Not Modified"},
    {305, "Use Proxy"}, {307, "Temporary Redirect"}, {308, "Permanent Redirect"},
    {400, "Bad Request"}, {401, "Unauthorized"}, {402, "Payment Required"}, {403, "Forbidden"}, {404, "Not Found"},
    {405, "Method Not Allowed"}, {406, "Not Acceptable"}, {407, "Proxy Authentication Required"}, {408, "Request Time-out"},
    {409, "Conflict"}, {410, "Gone"}, {411, "Length Required"}, {412, "Precondition Failed"}, {413, "Payload Too Large"},
    {414, "URI Too Long"}, {415, "Unsupported Media Type"}, {416, "Range Not Satisfiable"}, {417, "Expectation Failed"},
    {418, "I'm a teapot"}, {421, "Misdirected Request"}, {422, "Unprocessable Content"}, {423, "Locked"}, {424, "Failed Dependency"},
    {425, "Too Early"}, {426, "Upgrade Required"}, {428, "Precondition Required"}, {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"}, {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"}, {501, "Not Implemented"}, {502, "Bad Gateway"}, {503, "Service Unavailable"},
    {504, "Gateway Time-out"}, {505, "HTTP Version Not Supported"}, {506, "Variant Also Negotiates"}, {507, "Insufficient Storage"},
    {508, "Loop Detected"}, {510, "Not Extended"}, {511, "Network Authentication Required"},
};
static_assert(std::ranges::is_sorted(reasons, {}, &Reason::status));

} // namespace

Method method_of(string_view text) {
  for (size_t i = 0; i < std::size(method_names); i++)
    if (text == method_names[i]) return static_cast<Method>(i);
  return Method::Other;
}

string_view method_name(Method m) { return m == Method::Other ? string_view{} : method_names[static_cast<size_t>(m)]; }

Header header_of(string_view name) {
  if (name.size() < 2 || name.size() > longest_name) return Header::Other;
  Header h = hash.at[slot_of(name.data(), name.size(), hash.a, hash.b)];
  auto i = static_cast<size_t>(h);
  return canonical[i].size() == name.size() && same_name(name.data(), name.size(), names[i]) ? h : Header::Other;
}

string_view header_name(Header id) { return canonical[static_cast<size_t>(id)]; }

string_view reason_phrase(u16 status) {
  auto it = std::ranges::lower_bound(reasons, status, {}, &Reason::status);
  return it != std::end(reasons) && it->status == status ? it->phrase : string_view{};
}

} // namespace penstock
