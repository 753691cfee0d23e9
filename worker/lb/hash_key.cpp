// SPDX-License-Identifier: BSD-2-Clause
#include "worker/lb/hash_key.h"

#include <cstring>

#include "shared/base/hash.h"
#include "shared/base/text.h"
#include "shared/expr/run.h"
#include "worker/lb/farm.h"

namespace penstock {

namespace {

/// Text through the configured function.
u32 hash_text(const Balance &b, string_view text) {
  u32 h = 0;
  switch (b.function) {
    case HashFunction::Sdbm: h = sdbm(text); break;
    case HashFunction::Djb2: h = djb2(text); break;
    case HashFunction::Wt6: h = wt6(text); break;
    case HashFunction::Crc32: h = crc32(text); break;
    case HashFunction::None: h = leading_number(text); break;
  }
  return b.avalanche ? avalanche(h) : h;
}

/// An address is a number already: its words are combined, and mixed only by `avalanche`.
u32 hash_address(const Balance &b, const Ip &ip) {
  u32 h = 0;
  for (size_t i = 0, n = ip.is_v4() ? 4 : 16; i < n; i += 4) {
    const u8 *p = ip.bytes.data() + i;
    h ^= u32{p[0]} << 24 | u32{p[1]} << 16 | u32{p[2]} << 8 | p[3];
  }
  return b.avalanche ? avalanche(h) : h;
}

bool source_key(const Balance &b, const PickRequest &r, u32 &hash) {
  if (!r.client || !r.client->is_inet()) return false;
  hash = hash_address(b, r.client->ip);
  return true;
}

bool uri_hash(const Balance &b, const PickRequest &r, u32 &hash) {
  if (!r.request) return false;
  hash = hash_text(b, uri_key(r.request->target(), b));
  return true;
}

bool url_param_hash(const Balance &b, const PickRequest &r, u32 &hash) {
  if (!r.request) return false;
  string_view target = r.request->target(), value;
  size_t mark = target.find('?');
  bool found = mark != string_view::npos && query_parameter(target.substr(mark + 1), b.name, '&', value);
  if (!found && b.check_post && r.request->method() == Method::Post) found = query_parameter(r.body, b.name, '&', value);
  if (found) hash = hash_text(b, value);
  return found;
}

bool header_hash(const Balance &b, const PickRequest &r, u32 &hash) {
  if (!r.request) return false;
  size_t at = r.request->find(string_view(b.name));
  if (at == HttpMessage::npos) return false;
  string_view value = r.request->value(at);
  if (value.empty()) return false;
  hash = hash_text(b, b.domain_only ? main_domain(value) : value);
  return true;
}

bool rdp_hash(const Balance &b, const PickRequest &r, u32 &hash) {
  string_view value;
  if (!rdp_cookie(r.body, b.name.empty() ? "mstshash" : string_view(b.name), value)) return false;
  hash = hash_text(b, value);
  return true;
}

bool expression_hash(const Balance &b, const PickRequest &r, u32 &hash) {
  Sample sample;
  if (!r.context || !b.expr) return false;
  if (b.function == HashFunction::None) {
    if (!evaluate_as(*r.context, *b.expr, Type::Str, sample)) return false;
  } else if (!evaluate_as(*r.context, *b.expr, Type::Bin, sample)) {
    return false;
  }
  hash = hash_text(b, sample.str);
  return true;
}

struct KeyRow {
  BalanceAlgorithm algorithm;
  bool (*key)(const Balance &, const PickRequest &, u32 &);
};
constexpr KeyRow keys[] = {
    {BalanceAlgorithm::Source, source_key}, {BalanceAlgorithm::Uri, uri_hash}, {BalanceAlgorithm::UrlParam, url_param_hash},
    {BalanceAlgorithm::Hdr, header_hash},   {BalanceAlgorithm::RdpCookie, rdp_hash}, {BalanceAlgorithm::Hash, expression_hash},
};

} // namespace

bool hash_key(const Balance &balance, const PickRequest &request, u32 &hash) {
  for (const KeyRow &row : keys)
    if (row.algorithm == balance.algorithm) return row.key(balance, request, hash);
  return false;
}

string_view uri_key(string_view target, const Balance &b) {
  if (b.path_only) {
    // The path of an absolute form begins at the first slash behind its authority.
    size_t scheme = target.find("://");
    if (!target.starts_with('/') && scheme != string_view::npos) {
      size_t path = target.find('/', scheme + 3);
      target = path == string_view::npos ? string_view() : target.substr(path);
    }
  }
  size_t end = 0;
  for (u32 slashes = 0; end < target.size(); end++) {
    if (b.len && end >= b.len) break;
    char c = target[end];
    if (c == '/' && b.depth && ++slashes > b.depth) break;
    if (c == '?' && !b.whole) break;
  }
  return target.substr(0, end);
}

bool query_parameter(string_view query, string_view name, char separator, string_view &value) {
  while (!query.empty()) {
    string_view pair = query.substr(0, query.find(separator));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (pair.size() <= name.size() || pair[name.size()] != '=' || pair.substr(0, name.size()) != name) continue;
    value = pair.substr(name.size() + 1); // may be empty: a key like any other
    return true;
  }
  return false;
}

string_view main_domain(string_view host) {
  size_t end = host.rfind('.');
  if (end == string_view::npos || end == 0) return host;
  size_t begin = end - 1; // at least one character, be it a dot
  while (begin > 0 && host[begin - 1] != '.') begin--;
  return host.substr(begin, end - begin);
}

bool rdp_cookie(string_view bytes, string_view name, string_view &value) {
  constexpr size_t head = 11; // TPKT 4, X.224 connection request 7
  if (bytes.size() <= head || bytes[0] != 3 || static_cast<u8>(bytes[5]) != 0xe0) return false;
  string_view text = bytes.substr(head);
  if (!istarts_with(text, "Cookie:")) return false;
  text = trim(text.substr(7, text.find("\r\n") == string_view::npos ? string_view::npos : text.find("\r\n") - 7));
  if (text.size() <= name.size() || !iequals(text.substr(0, name.size()), name) || text[name.size()] != '=') return false;
  value = text.substr(name.size() + 1);
  return true;
}

} // namespace penstock
