// SPDX-License-Identifier: BSD-2-Clause
#include "worker/http/h1_fields.h"

#include <string>

#include "shared/base/text.h"
#include "shared/http/uri.h"

namespace penstock::h1 {

bool next_element(string_view &rest, string_view &element) {
  if (rest.data() == nullptr) return false;
  size_t comma = rest.find(',');
  element = rest.substr(0, comma);
  rest = comma == string_view::npos ? string_view{} : rest.substr(comma + 1);
  while (!element.empty() && (element.front() == ' ' || element.front() == '\t')) element.remove_prefix(1);
  while (!element.empty() && (element.back() == ' ' || element.back() == '\t')) element.remove_suffix(1);
  return true;
}

namespace {

bool decimal_length(string_view s, u64 &out) {
  constexpr u64 most = ~u64{0} >> 1;
  if (s.empty()) return false;
  u64 v = 0;
  for (char c : s) {
    if (!is_digit(c)) return false;
    u64 d = static_cast<u64>(c - '0');
    if (v > (most - d) / 10) return false;
    v = v * 10 + d;
  }
  out = v;
  return true;
}

} // namespace

const char *FieldFacts::content_length(string_view value, Field &f, bool &drop) {
  string_view first = value;
  for (string_view rest = value, element; next_element(rest, element);) {
    u64 v;
    if (!decimal_length(element, v)) return "malformed Content-Length";
    if (cl_seen && v != length) return "several different Content-Length values";
    if (cl_seen) drop = true;
    else first = element;
    length = v;
    cl_seen = true;
  }
  if (first.data() != value.data() || first.size() != value.size()) drop = false; // a list: keep its first element
  while (first.size() > 1 && first[0] == '0') first.remove_prefix(1);
  f.value_at += static_cast<u32>(first.data() - value.data());
  f.value_len = static_cast<u32>(first.size());
  return nullptr;
}

const char *FieldFacts::transfer_encoding(string_view value, bool is_request, bool relaxed) {
  te_seen = true;
  for (string_view rest = value, element; next_element(rest, element);) {
    bool is_chunked = iequals(element, "chunked");
    bool forgiven = relaxed && !is_request;
    if (element.empty()) {
      if (!forgiven) return "empty transfer coding";
    } else if (chunked) {
      if (!is_chunked || !forgiven) return is_chunked ? "'chunked' twice" : "'chunked' is not the last transfer coding";
    } else {
      chunked = is_chunked;
      other_coding |= !is_chunked;
    }
  }
  return nullptr;
}

void FieldFacts::connection(string_view value) {
  for (string_view rest = value, element; next_element(rest, element);) {
    if (iequals(element, "close")) close = true;
    else if (iequals(element, "keep-alive")) keep_alive = true;
    else if (iequals(element, "upgrade")) upgrade_option = true;
    else if (!iequals(element, "te")) nominates = true;
  }
}

void drop_nominated(HttpMessage &msg) {
  for (size_t i = msg.find(Header::Connection); i != HttpMessage::npos; i = msg.find(Header::Connection, i + 1))
    for (string_view rest = msg.value(i), element; next_element(rest, element);) {
      if (element.empty() || header_of(element) != Header::Other) continue;
      size_t before = 0;
      for (size_t at = msg.find(Header::Other, element, 0); at != HttpMessage::npos; at = msg.find(Header::Other, element, at)) {
        msg.remove(at);
        before += at < i;
      }
      i -= before;
    }
}

void reduce_te(HttpMessage &msg) {
  bool trailers = false;
  for (size_t i = msg.find(Header::TE); i != HttpMessage::npos; i = msg.find(Header::TE, i + 1))
    for (string_view rest = msg.value(i), element; next_element(rest, element);) trailers |= iequals(element, "trailers");
  if (trailers) msg.set("te", "trailers");
  else msg.remove_all(Header::TE);
}

void FieldFacts::upgrade(string_view value) {
  upgrade_seen = true;
  for (string_view rest = value, element; next_element(rest, element);) websocket |= iequals(element, "websocket");
}

void normalise_absolute_target(HttpMessage &msg) {
  Uri uri;
  string_view target = msg.target();
  bool connect = msg.method() == Method::Connect;
  if (!connect && (!split_uri(target, uri) || uri.scheme.empty())) return;
  string_view authority = connect ? target : uri.authority;
  string_view port = connect ? "443" : default_port_of(uri.scheme);
  Authority a;
  if (!port.empty()) {
    size_t host = msg.find(Header::Host);
    if (host != HttpMessage::npos && split_authority(msg.value(host), a) && a.port == port)
      msg.set_value(host, msg.value(host).substr(0, msg.value(host).size() - port.size() - 1));
  }
  if (connect) return;
  target = msg.target(); // set_value() may have moved the text
  split_uri(target, uri);
  authority = uri.authority;
  bool cut = !port.empty() && split_authority(authority, a) && a.port == port;
  if (!cut && !uri.path.empty()) return;
  size_t keep = uri.scheme.size() + 3 + authority.size();
  std::string out(target.substr(0, keep - (cut ? port.size() + 1 : 0)));
  if (uri.path.empty()) out += '/';
  out += target.substr(keep);
  msg.set_target(out);
}

} // namespace penstock::h1
