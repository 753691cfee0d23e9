// SPDX-License-Identifier: BSD-2-Clause
// See deadlines.h.
#include "worker/stream/deadlines.h"

namespace penstock {

namespace {

Millis first_set(Millis a, Millis b) { return a != eternity ? a : b; }

Millis client_timeout(Stream &s) {
  StreamFlow &f = s.flow();
  const Timeouts &t = s.frontend().timeout;
  Millis base = s.timeout_client != 0 ? s.timeout_client : t.client;
  if (!f.tunnel) return base;
  bool half_closed = f.up.over() || f.down.over();
  if (half_closed && t.client_fin != eternity) return t.client_fin;
  Millis tunnel = s.timeout_tunnel != 0 ? s.timeout_tunnel : s.backend().timeout.tunnel;
  return first_set(tunnel, base);
}

Millis server_timeout(Stream &s) {
  StreamFlow &f = s.flow();
  const Timeouts &t = s.backend().timeout;
  Millis base = s.timeout_server != 0 ? s.timeout_server : t.server;
  if (!f.tunnel) return base;
  bool half_closed = f.up.over() || f.down.over();
  if (half_closed && t.server_fin != eternity) return t.server_fin;
  Millis tunnel = s.timeout_tunnel != 0 ? s.timeout_tunnel : t.tunnel;
  return first_set(tunnel, base);
}

bool waits(const Pump &p, PumpBlock on) { return p.running() && p.blocked() == on; }

void set(Tick &deadline, bool wanted, bool activity, Millis timeout) {
  if (!wanted) deadline = never;
  else if (activity || deadline == never) deadline = after(now(), timeout);
}

/// Whether something happened on a side. With `option independent-streams` what is sent there proves nothing while
/// its peer is to say something.
bool alive(const ProxySettings &p, bool to_read, bool received, bool sent) {
  return received || (sent && !(to_read && p.has(Opt::IndependentStreams)));
}

} // namespace

void update_deadlines(Stream &s, bool up, bool down) {
  StreamFlow &f = s.flow();
  bool client = waits(f.up, PumpBlock::Source) || waits(f.down, PumpBlock::Sink);
  bool server = waits(f.up, PumpBlock::Sink) || waits(f.down, PumpBlock::Source);
  // No response yet: the server's time runs once it has the whole request.
  if (f.down.state() == PumpState::Idle && !waits(f.up, PumpBlock::Source)) server = true;
  set(f.client_deadline, client, alive(s.frontend(), waits(f.up, PumpBlock::Source), up, down), client_timeout(s));
  set(f.server_deadline, server, alive(s.backend(), waits(f.down, PumpBlock::Source), down, up), server_timeout(s));
}

} // namespace penstock
