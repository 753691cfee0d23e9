// SPDX-License-Identifier: BSD-2-Clause
#include "shared/http/uri.h"

#include <array>

#include "shared/base/text.h"

namespace penstock {

namespace {

constexpr auto host_chars = [] { // RFC 3986 reg-name and IP literal; no ',' (a list) and no '@'
  std::array<bool, 256> t{};
  for (char c : string_view{"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-._~!$&'()*+;=%:[]"}) t[static_cast<u8>(c)] = true;
  return t;
}();

constexpr bool is_scheme_char(char c) { return is_alpha(c) || is_digit(c) || c == '+' || c == '-' || c == '.'; }

/// Length of "scheme" when `s` begins with "scheme:", else 0.
size_t scheme_length(string_view s) {
  if (s.empty() || !is_alpha(s[0])) return 0;
  size_t i = 1;
  while (i < s.size() && is_scheme_char(s[i])) i++;
  return i < s.size() && s[i] == ':' ? i : 0;
}

/// What is left of a target behind scheme and authority: "/path?query#fragment".
string_view behind_authority(string_view target, string_view *scheme = nullptr, string_view *authority = nullptr) {
  if (target.empty() || target[0] == '/' || target[0] == '*') return target;
  size_t n = scheme_length(target);
  if (n == 0 || target.substr(n + 1, 2) != "//") {
    if (authority) *authority = target; // CONNECT
    return {};
  }
  if (scheme) *scheme = target.substr(0, n);
  string_view rest = target.substr(n + 3);
  size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  if (authority) *authority = rest.substr(0, end);
  return rest.substr(end);
}

} // namespace

bool split_uri(string_view target, Uri &out) {
  out = {};
  if (target.empty()) return false;
  if (target == "*") return true;
  string_view rest = target;
  if (target[0] != '/') {
    size_t n = scheme_length(target);
    if (n == 0 || target.substr(n + 1, 2) != "//") return false;
    rest = behind_authority(target, &out.scheme, &out.authority);
    if (out.authority.empty()) return false;
  }
  size_t hash = rest.find('#');
  if (hash != string_view::npos) {
    out.fragment = rest.substr(hash + 1);
    rest = rest.substr(0, hash);
  }
  size_t mark = rest.find('?');
  if (mark != string_view::npos) {
    out.has_query = true;
    out.query = rest.substr(mark + 1);
    rest = rest.substr(0, mark);
  }
  out.path = rest;
  return true;
}

bool split_authority(string_view text, Authority &out) {
  out = {};
  size_t at = text.rfind('@');
  if (at != string_view::npos) {
    out.userinfo = text.substr(0, at);
    text.remove_prefix(at + 1);
  }
  if (text.empty()) return false;
  size_t colon;
  if (text[0] == '[') {
    size_t close = text.find(']');
    if (close == string_view::npos) return false;
    if (close + 1 != text.size() && text[close + 1] != ':') return false;
    colon = close + 1 < text.size() ? close + 1 : string_view::npos;
  } else {
    colon = text.find(':');
  }
  out.host = text.substr(0, colon);
  if (out.host.empty()) return false;
  if (colon == string_view::npos) return true;
  out.port = text.substr(colon + 1);
  if (out.port.size() > 5) return false;
  unsigned v = 0;
  for (char c : out.port) {
    if (!is_digit(c)) return false;
    v = v * 10 + static_cast<unsigned>(c - '0');
  }
  return v <= 65535;
}

bool same_authority(string_view a, string_view b, string_view default_port) {
  if (a == b) return true;
  Authority x, y;
  if (!split_authority(a, x) || !split_authority(b, y)) return false;
  return iequals(x.host, y.host) && (x.port.empty() ? default_port : x.port) == (y.port.empty() ? default_port : y.port);
}

bool valid_host(string_view value) {
  if (value.empty()) return true;
  bool port = false; // the usual name, with nothing to look at twice
  for (char c : value) {
    if (!host_chars[static_cast<u8>(c)]) return false;
    port |= c == ':' || c == '[' || c == ']';
  }
  Authority a;
  return !port || split_authority(value, a);
}

string_view default_port_of(string_view scheme) {
  return iequals(scheme, "http") || iequals(scheme, "ws") ? "80" : iequals(scheme, "https") || iequals(scheme, "wss") ? "443" : "";
}

string_view path_of(string_view target) {
  string_view rest = behind_authority(target);
  return rest.empty() || rest[0] != '/' ? string_view{} : rest.substr(0, rest.find_first_of("?#"));
}

string_view path_and_query_of(string_view target) {
  string_view rest = behind_authority(target);
  return rest.empty() || rest[0] != '/' ? string_view{} : rest.substr(0, rest.find('#'));
}

string_view query_of(string_view target) {
  size_t mark = target.find('?');
  if (mark == string_view::npos) return {};
  string_view q = target.substr(mark + 1);
  return q.substr(0, q.find('#'));
}

string_view authority_of(string_view target) {
  string_view authority;
  behind_authority(target, nullptr, &authority);
  return authority;
}

bool UrlParams::next(UrlParam &out) {
  while (!rest_.empty()) {
    size_t end = std::min(rest_.find(delimiter_), rest_.size());
    string_view pair = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (pair.empty()) continue;
    size_t eq = pair.find('=');
    out.name = pair.substr(0, eq);
    out.value = eq == string_view::npos ? string_view{} : pair.substr(eq + 1);
    return true;
  }
  return false;
}

bool find_url_param(string_view query, string_view name, string_view &value, char delimiter, bool fold_case) {
  UrlParams params(query, delimiter);
  for (UrlParam p; params.next(p);)
    if (p.name == name || (fold_case && iequals(p.name, name))) {
      value = p.value;
      return true;
    }
  return false;
}

size_t percent_decode(string_view in, char *out, bool plus) {
  char *p = out;
  for (size_t i = 0; i < in.size(); i++) {
    char c = in[i];
    if (c == '%') {
      if (in.size() - i < 3) return ~size_t{0};
      int hi = hex_digit(in[i + 1]), lo = hex_digit(in[i + 2]);
      if (hi < 0 || lo < 0) return ~size_t{0};
      c = static_cast<char>(hi << 4 | lo);
      i += 2;
    } else if (c == '+' && plus) {
      c = ' ';
    }
    *p++ = c;
  }
  return static_cast<size_t>(p - out);
}

} // namespace penstock
