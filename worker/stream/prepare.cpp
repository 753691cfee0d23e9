// SPDX-License-Identifier: BSD-2-Clause
// See prepare.h.
#include "worker/stream/prepare.h"

#include "worker/stream/forwarding.h"
#include "worker/stream/hop.h"

namespace penstock {

void prepare_request(Stream &s) {
  StreamFlow &f = s.flow();
  HttpMessage &m = s.request();
  if (!s.frontend().unique_id_header.empty() && !s.facts.unique_id.empty()) m.set(s.frontend().unique_id_header, s.facts.unique_id);
  add_forwarding_fields(s);
  bool close = f.mode != HttpConnMode::KeepAlive && !s.backend().has(Opt::HttpPretendKeepalive);
  if (s.client().framing().upgrade) close = false;
  frame_request(m, s.client().framing(), close);
}

bool prepare_response(Stream &s) {
  StreamFlow &f = s.flow();
  HttpMessage &m = s.response();
  const H1Framing &framing = s.server_side()->framing();
  Method method = s.request().method();
  if (Persistence *p = back_state(s).persistence.get(); p != nullptr && s.server() != nullptr) {
    runtime->scratch.reset();
    p->change_response(m, method, *s.server(), f.persist, runtime->loop.wall_now_us() / 1'000'000, runtime->scratch);
  }
  if (s.backend().has(Opt::Checkcache) && m.find(Header::SetCookie) != HttpMessage::npos && is_cacheable(method, m)) return false;
  bool head = method == Method::Head;
  bool close = f.must_close_client || runtime->stopping || f.mode == HttpConnMode::Close || !s.client().framing().keep_alive;
  f.response_body = frame_response(m, framing, s.request().version(), head, close);
  f.must_close_client = close;
  say_persistence(m, !close, s.request().version());
  m.set_version(11);
  return true;
}

} // namespace penstock
