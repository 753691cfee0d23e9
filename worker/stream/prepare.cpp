// SPDX-License-Identifier: BSD-2-Clause
// See prepare.h.
#include "worker/stream/prepare.h"

#include "worker/stream/forwarding.h"
#include "worker/stream/hop.h"

namespace penstock {

void prepare_request(Stream &s) {
  StreamFlow &f = s.flow();
  HttpMessage &m = s.request();
  add_forwarding_fields(s);
  bool close = f.mode != HttpConnMode::KeepAlive && !s.backend().has(Opt::HttpPretendKeepalive);
  if (s.client().framing().upgrade) close = false;
  frame_request(m, s.client().framing(), close);
}

void prepare_response(Stream &s) {
  StreamFlow &f = s.flow();
  HttpMessage &m = s.response();
  const H1Framing &framing = s.server_side()->framing();
  bool head = s.request().method() == Method::Head;
  bool close = f.must_close_client || runtime->stopping || f.mode == HttpConnMode::Close || !s.client().framing().keep_alive;
  f.response_body = frame_response(m, framing, s.request().version(), head, close);
  f.must_close_client = close;
  say_persistence(m, !close, s.request().version());
  m.set_version(11);
}

bool splice_wanted(Stream &, Opt) { return true; }

} // namespace penstock
