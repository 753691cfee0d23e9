// SPDX-License-Identifier: BSD-2-Clause
#include "worker/rules/traffic.h"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "worker/worker.h"

namespace penstock {

Timers timers_of(const Stream &s) {
  const StreamTimes &t = s.facts.times;
  auto ms = [](i64 from, i64 to) { return to && from && to >= from ? (to - from) / 1000 : i64{-1}; };
  i64 end = t.end_us ? t.end_us : this_worker() ? this_worker()->loop.now_us() : monotonic_us();
  i64 ready = t.handshake_us ? t.handshake_us : t.accept_us;        // the connection can carry a request
  i64 begun = t.first_byte_us ? t.first_byte_us : ready;            // the request began
  i64 asked = s.is_http() ? t.request_us : begun;                   // it is known what is wanted
  Timers r;
  r.handshake = std::max<i64>(0, ms(t.accept_us, ready));
  r.idle = std::max<i64>(0, ms(ready, begun));
  r.request = s.is_http() ? ms(begun, t.request_us) : 0;
  r.queue = ms(asked, t.slot_us);
  r.connect = ms(t.slot_us, t.connected_us);
  r.response = ms(t.connected_us, t.response_us);
  r.data = s.is_http() ? ms(t.response_us, end) : ms(t.connected_us, end);
  r.total = std::max<i64>(0, ms(t.accept_us, end));
  r.active = std::max<i64>(0, ms(begun, end));
  r.user = std::max<i64>(0, r.total - r.idle);
  return r;
}

i64 request_date_us(const Stream &s) {
  const StreamTimes &t = s.facts.times;
  return t.first_byte_us > t.accept_us ? t.accept_wall_us + (t.first_byte_us - t.accept_us) : t.accept_wall_us;
}

i64 accept_date_us(const EvalContext &ctx) {
  if (ctx.stream) return ctx.stream->facts.times.accept_wall_us;
  return ctx.session ? ctx.session->accept_wall_us() : wall_us();
}

namespace {

/// The text of a second, made once and used by all lines of that second.
struct DateCache {
  time_t second = -1;
  char text[32];   // "10/Jul/2014:16:23:50 +0000"
  const char *make(time_t at, bool utc) {
    if (at == second) return text;
    second = at;
    tm parts;
    if (utc) gmtime_r(&at, &parts);
    else localtime_r(&at, &parts);
    constexpr char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    int offset = static_cast<int>(parts.tm_gmtoff / 60);
    char sign = offset < 0 ? '-' : '+';
    offset = offset < 0 ? -offset : offset;
    std::snprintf(text, sizeof text, "%02d/%s/%04d:%02d:%02d:%02d %c%02d%02d", parts.tm_mday % 100, months[parts.tm_mon % 12],
                  (parts.tm_year + 1900) % 10000, parts.tm_hour % 100, parts.tm_min % 100, parts.tm_sec % 100, sign, offset / 60 % 100, offset % 60);
    return text;
  }
};

} // namespace

size_t write_date(char *out, i64 wall, DateForm form) {
  static DateCache utc, local;
  auto second = static_cast<time_t>(wall / 1'000'000);
  const char *text = form == DateForm::UtcZone ? utc.make(second, true) : local.make(second, false);
  if (form != DateForm::LocalMillis) {
    std::memcpy(out, text, 26);
    return 26;
  }
  std::memcpy(out, text, 20);
  auto ms = static_cast<unsigned>(wall / 1000 % 1000);
  out[20] = '.';
  out[21] = static_cast<char>('0' + ms / 100);
  out[22] = static_cast<char>('0' + ms / 10 % 10);
  out[23] = static_cast<char>('0' + ms % 10);
  return 24;
}

const Service *service_here() { return this_worker() ? this_worker()->service : nullptr; }
ProxyRow *front_row(const Proxy &p) {
  const Service *s = service_here();
  return s && p.front_row != no_row ? &s->proxy(p.front_row) : nullptr;
}
ProxyRow *back_row(const Proxy &p) {
  const Service *s = service_here();
  return s && p.back_row != no_row ? &s->proxy(p.back_row) : nullptr;
}
ServerRow *server_row(const Server &server) {
  const Service *s = service_here();
  return s && server.row != no_row ? &s->server(server.row) : nullptr;
}
u32 connections_here() {
  const Service *s = service_here();
  return s ? s->row().conns.count() : 0;
}

} // namespace penstock
