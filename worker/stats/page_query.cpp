// SPDX-License-Identifier: BSD-2-Clause
#include "worker/stats/page_query.h"

#include "shared/base/text.h"

namespace penstock {

namespace {

constexpr string_view outcome_words[] = {"", "DONE", "NONE", "PART", "ERRP", "EXCD", "DENY"};
static_assert(sizeof outcome_words / sizeof *outcome_words == static_cast<size_t>(PageOutcome::count_));

std::string url_decoded(string_view s) {
  std::string out;
  for (size_t i = 0; i < s.size(); i++) {
    if (s[i] == '%' && i + 2 < s.size() && hex_digit(s[i + 1]) >= 0 && hex_digit(s[i + 2]) >= 0) {
      out += static_cast<char>(hex_digit(s[i + 1]) * 16 + hex_digit(s[i + 2]));
      i += 2;
    } else {
      out += s[i] == '+' ? ' ' : s[i];
    }
  }
  return out;
}

/// Only what can be part of a proxy's name goes into our links.
std::string name_part(string_view value) {
  std::string out;
  for (char c : url_decoded(value))
    if (is_alpha(c) || is_digit(c) || c == '-' || c == '_' || c == '.' || c == ':') out += c;
  return out.substr(0, 64);
}

void take_option(PageQuery &q, string_view option) {
  string_view value;
  if (size_t at = option.find('='); at != string_view::npos) value = option.substr(at + 1), option = option.substr(0, at);
  if (option == "csv") q.form = PageQuery::Csv;
  else if (option == "json") q.form = PageQuery::Json;
  else if (option == "typed") q.form = PageQuery::Typed;
  else if (option == "norefresh") q.no_refresh = true;
  else if (option == "up") q.up_only = true;
  else if (option == "no-maint") q.no_maint = true;
  else if (option == "scope") q.scope = name_part(value);
  else if (option == "st")
    for (size_t i = 1; i < static_cast<size_t>(PageOutcome::count_); i++)
      if (value == outcome_words[i]) q.outcome = static_cast<PageOutcome>(i);
}

bool decode_base64(string_view text, std::string &out) {
  u32 bits = 0, have = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (char c : text) {
    int v = c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : is_digit(c) ? c - '0' + 52 : c == '+' ? 62 : c == '/' ? 63 : -1;
    if (v < 0) return false;
    bits = bits << 6 | static_cast<u32>(v);
    if ((have += 6) >= 8) out += static_cast<char>(bits >> (have -= 8) & 0xff);
  }
  return true;
}

bool same_text(string_view a, string_view b) {
  unsigned different = a.size() != b.size();
  for (size_t i = 0; i < b.size(); i++) different |= static_cast<unsigned>(static_cast<u8>(a.size() > i ? a[i] : 0) ^ static_cast<u8>(b[i]));
  return different == 0;
}

} // namespace

string_view outcome_word(PageOutcome o) { return outcome_words[static_cast<u8>(o)]; }

bool is_page_target(string_view target, string_view uri) { return !uri.empty() && target.starts_with(uri); }

PageQuery parse_page_query(string_view target, string_view uri) {
  PageQuery q;
  string_view rest = target.substr(uri.size());
  // The search field's form sends its scope as a query.
  size_t question = rest.find('?');
  string_view query = question == string_view::npos ? string_view() : rest.substr(question + 1);
  rest = rest.substr(0, question);
  if (size_t at = rest.find(';'); at != string_view::npos)
    for (string_view option : split(rest.substr(at + 1), ';')) take_option(q, option);
  for (string_view option : split(query, '&')) take_option(q, option);
  return q;
}

std::string page_options(const PageQuery &q) {
  std::string out;
  if (q.up_only) out += ";up";
  if (q.no_maint) out += ";no-maint";
  if (q.no_refresh) out += ";norefresh";
  if (!q.scope.empty()) out += ";scope=" + q.scope;
  return out;
}

bool parse_page_order(string_view body, PageOrder &out) {
  for (string_view pair : split(body, '&')) {
    size_t at = pair.find('=');
    if (at == string_view::npos) continue;
    string_view name = pair.substr(0, at);
    std::string value = url_decoded(pair.substr(at + 1));
    if (name == "b") out.backend = std::move(value);
    else if (name == "action") out.action = std::move(value);
    else if (name == "s" && !value.empty()) out.servers.push_back(std::move(value));
  }
  return !out.backend.empty() && !out.action.empty();
}

bool basic_auth_matches(string_view authorization, const std::vector<std::string> &users) {
  authorization = trim(authorization);
  if (!istarts_with(authorization, "Basic ")) return false;
  std::string given;
  if (!decode_base64(trim(authorization.substr(6)), given)) return false;
  bool found = false;
  for (const std::string &user : users) found |= same_text(given, user);
  return found;
}

} // namespace penstock
