// SPDX-License-Identifier: BSD-2-Clause
// See account.h.
#include "worker/stream/account.h"

#include "worker/stream/track.h"

namespace penstock {

template <class Counters> static void count_one(Counters &c, u16 status) {
  static constexpr Counter Counters::*by_class[] = {&Counters::http_other, &Counters::http_1xx, &Counters::http_2xx, &Counters::http_3xx, &Counters::http_4xx, &Counters::http_5xx};
  unsigned k = status / 100;
  (c.*by_class[k <= 5 ? k : 0])++;
}

void count_server_status(Stream &s, u16 status) { count_one(*server_state(s)->counters, status); }

void count_final_status(Stream &s) {
  if (!s.is_http()) return;
  count_one(*front_state(s).front_counters, s.facts.status);
  if (s.backend_chosen()) count_one(*back_state(s).back_counters, s.facts.status);
}

void count_bytes(Stream &s) {
  StreamFlow &f = s.flow();
  u64 in = s.client().bytes_in() - f.counted_in, out = s.client().bytes_out() - f.counted_out;
  f.counted_in += in, f.counted_out += out;
  if (is_tracked(s)) count_tracked_bytes(s, in, out);
  ProxyState &front = front_state(s);
  front.front_counters->bytes_in += in, front.front_counters->bytes_out += out;
  runtime->process->bytes_in += in, runtime->process->bytes_out += out;
  if (ProxyCounters *c = f.session->listener_counters()) c->bytes_in += in, c->bytes_out += out;
  if (!s.backend_chosen()) return;
  ProxyState &back = back_state(s);
  back.back_counters->bytes_in += in, back.back_counters->bytes_out += out;
  if (ServerState *server = server_state(s)) server->counters->bytes_in += in, server->counters->bytes_out += out;
}

} // namespace penstock
