// SPDX-License-Identifier: BSD-2-Clause
// Cookie persistence (manual, "cookie"): which server a request's cookie names, and what the response
// tells the client. Reads and changes messages, knows nothing of streams; its results are the server and
// the third and fourth letter of the log's termination state (manual 8.5).
#pragma once

#include <string>
#include <unordered_map>

#include "shared/base/arena.h"
#include "shared/http/message.h"
#include "shared/model/proxy.h"
#include "shared/shm/service.h"

namespace penstock {

/// What persistence remembers of a request until its response.
struct PersistState {
  const Server *server = nullptr; // to go to; null: balance
  const Server *named = nullptr;  // whose cookie it is, usable or not
  bool forced = false;            // it is down, but force-persist or option persist want it
  char client = '-', server_letter = '-';
  i64 last_date = 0, first_date = 0; // wall seconds; 0: the cookie has none

  /// use-server or ignore-persist decided instead of the cookie.
  void overruled() {
    if (named) client = 'U';
    server = nullptr;
  }
};

class Persistence : Pinned {
 public:
  Persistence(const Service &service, const Proxy &backend);
  bool active() const { return settings_ != nullptr; }

  /// Finds the cookie, and takes it or its prefix out of the request where the mode says so.
  /// `force`: a force-persist rule matched, or `option persist` is set.
  PersistState read_request(HttpMessage &request, i64 wall_s, bool force);
  /// Sets, rewrites or removes the cookie in the response of `server`.
  void change_response(HttpMessage &response, Method request_method, const Server &server, PersistState &state, i64 wall_s, Arena &scratch);
  /// The cookie's value for a server; "" when it has none.
  string_view cookie_of(const Server &server);

 private:
  void index_servers();
  void refresh_dynamic();
  bool needs_insert(const Server &server, const PersistState &state, Method method, i64 wall_s) const;
  void insert(HttpMessage &response, Method method, const Server &server, PersistState &state, i64 wall_s, Arena &scratch);

  const Service &service_;
  const Proxy &backend_;
  const CookiePersistence *settings_;
  std::vector<std::string> values_; // by index of the server
  std::unordered_map<string_view, const Server *> servers_;
  u64 change_seen_ = ~u64{0};       // dynamic cookies follow addresses
};

/// The dynamic cookie of an address: sixteen hexadecimal digits. "" for other families.
std::string dynamic_cookie(string_view key, const Address &address);
/// Dates in cookies: five characters of six bits, in units of four seconds.
void write_cookie_date(i64 wall_s, char out[5]);
i64 read_cookie_date(string_view text); // 0 when it is none
/// Whether a cache may keep the response (RFC 9111, section 3) as far as `nocache` and `checkcache` care.
bool is_cacheable(Method request_method, const HttpMessage &response);

} // namespace penstock
