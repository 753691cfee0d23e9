// SPDX-License-Identifier: BSD-2-Clause
#include "worker/lb/persist.h"

#include <algorithm>
#include <cstring>

#include "shared/base/hash.h"
#include "shared/base/text.h"
#include "shared/http/cookie.h"
#include "shared/shm/server_state.h"

namespace penstock {

namespace {

constexpr char prefix_delimiter = '~', date_delimiter = '|';
constexpr i64 future_tolerance_s = 24 * 3600;
constexpr string_view digits64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// "s1|LAST|FIRST" -> "s1" and the dates.
string_view split_dates(string_view value, PersistState &state) {
  size_t bar = value.find(date_delimiter);
  if (bar == string_view::npos) return value;
  string_view dates = value.substr(bar + 1);
  size_t second = dates.find(date_delimiter);
  state.last_date = read_cookie_date(dates.substr(0, second));
  if (second != string_view::npos) state.first_date = read_cookie_date(dates.substr(second + 1));
  return value.substr(0, bar);
}

bool outside(i64 date, i64 now, u32 allowed_s) {
  return allowed_s && date && (now - date > i64{allowed_s} || date - now > future_tolerance_s);
}

string_view value_at(const HttpMessage &m, const CookiePlace &at) { return at.span.value(m.value(at.field)); }

struct Builder {
  char *at;
  void add(string_view s) { at += s.copy(at, s.size()); }
};

} // namespace

Persistence::Persistence(const Service &service, const Proxy &backend) : service_(service), backend_(backend), settings_(backend.cookie.get()) {
  if (settings_) index_servers();
}

void Persistence::index_servers() {
  values_.assign(backend_.servers.size(), {});
  servers_.clear();
  for (const auto &s : backend_.servers) {
    std::string &value = values_[s->index];
    value = s->cookie;
    if (value.empty() && settings_->dynamic) {
      Address address;
      if (!runtime_address(service_.server(s->row), address)) address = s->address;
      value = dynamic_cookie(backend_.dynamic_cookie_key, address);
    }
    if (!value.empty()) servers_.try_emplace(value, s.get());
  }
}

void Persistence::refresh_dynamic() {
  if (!settings_->dynamic) return;
  u64 change = service_.row().change.load(std::memory_order_acquire);
  if (change == change_seen_) return;
  change_seen_ = change;
  index_servers();
}

string_view Persistence::cookie_of(const Server &server) {
  if (!settings_) return {};
  refresh_dynamic();
  return values_[server.index];
}

// -------------------------------------------------------------------------------------------- request

PersistState Persistence::read_request(HttpMessage &request, i64 now, bool force) {
  PersistState state;
  if (!settings_) return state;
  refresh_dynamic();
  const CookiePersistence &c = *settings_;
  bool shows_letters = c.insert || c.prefix || c.rewrite || c.indirect;
  char letter = 'N';
  CookiePlace place;
  while (find_cookie(request, c.name, place)) {
    string_view value = value_at(request, place);
    bool first = letter == 'N';
    size_t tilde = c.prefix ? value.find(prefix_delimiter) : string_view::npos;
    if (first) {
      string_view id = c.prefix ? value.substr(0, tilde) : split_dates(value, state);
      auto found = servers_.find(id);
      letter = 'I';
      if (found != servers_.end()) {
        state.named = found->second;
        bool runs = is_running(service_.server(state.named->row));
        letter = outside(state.first_date, now, c.maxlife_s) ? 'O' : outside(state.last_date, now, c.maxidle_s) ? 'E' : runs ? 'V' : 'D';
        if (letter == 'V' || (letter == 'D' && force)) state.server = state.named, state.forced = !runs;
        if (letter == 'O' || letter == 'E') state.named = nullptr;
      }
    }
    if (tilde != string_view::npos) {
      u32 cut = static_cast<u32>(tilde) + 1;
      request.replace_in_value(place.field, place.span.value_begin, cut, {});
      place.span.end -= cut;
    } else if (c.insert && c.indirect) {
      remove_cookie(request, place);
      place = {}; // places behind it have moved
    }
  }
  if (shows_letters) state.client = letter, state.server_letter = 'N';
  return state;
}

// ------------------------------------------------------------------------------------------- response

bool Persistence::needs_insert(const Server &server, const PersistState &state, Method method, i64 now) const {
  const CookiePersistence &c = *settings_;
  if (!c.insert || (c.postonly && method != Method::Post) || values_[server.index].empty() || state.client == 'U') return false;
  if (state.named != &server) return true;
  return (c.maxidle_s || c.maxlife_s) && (state.last_date == 0 || state.last_date < now);
}

void Persistence::change_response(HttpMessage &response, Method method, const Server &server, PersistState &state, i64 now, Arena &scratch) {
  if (!settings_) return;
  const CookiePersistence &c = *settings_;
  refresh_dynamic();
  bool shows_letters = state.server_letter != '-';
  bool client_has_it = state.named == &server && state.client != 'U';
  auto note = [&](char letter) { if (shows_letters) state.server_letter = letter; };
  string_view id = values_[server.index];
  CookiePlace place;
  while (find_cookie(response, c.name, place)) {
    if (c.preserve && (c.insert || c.indirect)) {
      note('P');
      return;
    }
    bool removes = c.insert || (c.indirect && client_has_it);
    if (removes) {
      remove_cookie(response, place);
      place = {};
      note('D');
    } else if (c.rewrite && !id.empty()) {
      set_cookie_value(response, place, id);
      note('R');
    } else if (c.prefix && !id.empty()) {
      string_view old = value_at(response, place);
      char *text = scratch.chars(id.size() + 1 + old.size());
      Builder b{text};
      b.add(id), b.add({&prefix_delimiter, 1}), b.add(old);
      set_cookie_value(response, place, {text, static_cast<size_t>(b.at - text)});
      note('R');
    } else {
      note('P');
    }
  }
  if (needs_insert(server, state, method, now)) insert(response, method, server, state, now, scratch);
}

/// Set-Cookie: NAME=value[|last[|first]]; path=/[; domain=…][; HttpOnly][; Secure][; attr]
void Persistence::insert(HttpMessage &response, Method method, const Server &server, PersistState &state, i64 now, Arena &scratch) {
  const CookiePersistence &c = *settings_;
  string_view id = values_[server.index];
  size_t room = c.name.size() + id.size() + 64;
  for (const auto &d : c.domains) room += d.size() + 9;
  for (const auto &a : c.attrs) room += a.size() + 2;
  char *text = scratch.chars(room);
  Builder b{text};
  b.add(c.name), b.add("="), b.add(id);
  bool updates = state.named == &server;
  char date[5];
  if (c.maxidle_s || c.maxlife_s) {
    write_cookie_date(now, date);
    b.add({&date_delimiter, 1}), b.add({date, 5});
  }
  if (c.maxlife_s) {
    write_cookie_date(updates && state.first_date ? state.first_date : now, date);
    b.add({&date_delimiter, 1}), b.add({date, 5});
  }
  b.add("; path=/");
  for (const auto &d : c.domains) b.add("; domain="), b.add(d);
  if (c.httponly) b.add("; HttpOnly");
  if (c.secure) b.add("; Secure");
  for (const auto &a : c.attrs) b.add("; "), b.add(a);
  bool tag = c.nocache && is_cacheable(method, response);
  response.add(Header::SetCookie, {text, static_cast<size_t>(b.at - text)});
  if (tag) response.add(Header::CacheControl, "private");
  if (state.server_letter != '-') state.server_letter = updates ? 'U' : 'I';
}

// -------------------------------------------------------------------------------------------- helpers

std::string dynamic_cookie(string_view key, const Address &address) {
  if (!address.is_inet()) return {};
  std::string text(key);
  text.append(reinterpret_cast<const char *>(address.ip.bytes.data()), address.ip.is_v4() ? 4 : 16);
  text += {'\0', '\0', static_cast<char>(address.port >> 8), static_cast<char>(address.port)};
  u64 hash = xxh64(text, 0);
  std::string out(16, '0');
  for (int i = 0; i < 16; i++) out[15 - static_cast<size_t>(i)] = "0123456789abcdef"[hash >> (4 * i) & 15];
  return out;
}

void write_cookie_date(i64 wall_s, char out[5]) {
  u64 units = static_cast<u64>(wall_s + 3) >> 2;
  for (int i = 4; i >= 0; i--, units >>= 6) out[i] = digits64[units & 63];
}

i64 read_cookie_date(string_view text) {
  if (text.size() != 5) return 0;
  i64 units = 0;
  for (char c : text) {
    size_t digit = digits64.find(c);
    if (digit == string_view::npos) return 0;
    units = units << 6 | static_cast<i64>(digit);
  }
  return units << 2;
}

bool is_cacheable(Method method, const HttpMessage &r) {
  constexpr u16 statuses[] = {200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501};
  bool status_ok = false;
  for (u16 s : statuses) status_ok |= r.status() == s;
  if (!status_ok || (method != Method::Get && method != Method::Head)) return false;
  bool fresh = r.find(Header::Expires) != HttpMessage::npos || r.find(Header::ETag) != HttpMessage::npos ||
               r.find(Header::LastModified) != HttpMessage::npos;
  for (size_t i = r.find(Header::CacheControl); i != HttpMessage::npos; i = r.find(Header::CacheControl, i + 1)) {
    for (string_view rest = r.value(i); !rest.empty();) {
      string_view word = trim(rest.substr(0, rest.find(',')));
      rest.remove_prefix(std::min(rest.size(), rest.find(',') == string_view::npos ? rest.size() : rest.find(',') + 1));
      if (iequals(word, "private") || iequals(word, "no-cache") || iequals(word, "no-store") || iequals(word, "max-age=0") ||
          iequals(word, "s-maxage=0"))
        return false;
      fresh |= istarts_with(word, "max-age=") || istarts_with(word, "s-maxage=");
    }
  }
  return fresh;
}

} // namespace penstock
