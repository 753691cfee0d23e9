// SPDX-License-Identifier: BSD-2-Clause
// Step::Relay: both pumps run until both directions are done or one of them cannot go on.
#include "worker/stream/account.h"
#include "worker/stream/deadlines.h"
#include "worker/stream/flow.h"
#include "worker/stream/track.h"

namespace penstock {

namespace {

At phase_of_data(Stream &s) { return s.flow().down.state() == PumpState::Draining ? At::Last : At::Data; }

Next ends_with(Stream &s, FaultKind kind, Side side) {
  StreamFlow &f = s.flow();
  f.must_close_client = true;
  bool client = side == Side::Client;
  ProxyState &back = back_state(s);
  if (client) front_state(s).front_counters->client_aborts++, back.back_counters->client_aborts++;
  else back.back_counters->server_aborts++;
  if (!client && !f.tunnel) {
    if (s.is_http()) count_tracked_failure(s);
    back.back_counters->err_resp++;
    if (ServerState *server = server_state(s)) server->counters->err_resp++;
  }
  if (ServerState *server = server_state(s)) (client ? server->counters->client_aborts : server->counters->server_aborts)++;
  if (!s.facts.fault) s.facts.fault = {kind, side, phase_of_data(s)};
  // The client must notice that the message is not whole: nothing but the end of the connection says so.
  if (!client) s.client().flush();
  return go(Step::Finish);
}

/// Bare bytes: each direction on its own.
Next tunnel_state(Stream &s) {
  StreamFlow &f = s.flow();
  if (f.down.over() && f.up.over()) {
    if (f.down.state() == PumpState::Broken)
      return f.down.source_failed() ? ends_with(s, FaultKind::ServerAbort, Side::Server) : ends_with(s, FaultKind::ClientAbort, Side::Client);
    if (f.up.state() == PumpState::Broken)
      return f.up.source_failed() ? ends_with(s, FaultKind::ClientAbort, Side::Client) : ends_with(s, FaultKind::ServerAbort, Side::Server);
    return go(Step::Finish);
  }
  if (f.down.state() == PumpState::Broken)
    return f.down.source_failed() ? ends_with(s, FaultKind::ServerAbort, Side::Server) : ends_with(s, FaultKind::ClientAbort, Side::Client);
  if (f.up.state() == PumpState::Broken && f.up.source_failed()) return ends_with(s, FaultKind::ClientAbort, Side::Client);
  return wait(Step::Relay);
}

Next message_state(Stream &s) {
  StreamFlow &f = s.flow();
  if (f.down.state() == PumpState::Shut) {
    // A server that answers before it has the whole request: the rest of it has no taker.
    if (f.up.state() != PumpState::Shut) f.must_close_client = true;
    return go(Step::Finish);
  }
  if (f.down.state() == PumpState::Broken) {
    if (!f.down.source_failed()) return ends_with(s, FaultKind::ClientAbort, Side::Client);
    return ends_with(s, FaultKind::ServerAbort, Side::Server);
  }
  if (f.up.state() == PumpState::Broken && f.up.source_failed()) return ends_with(s, FaultKind::ClientAbort, Side::Client);
  return wait(Step::Relay);
}

} // namespace

Next step_relay(Stream &s) {
  StreamFlow &f = s.flow();
  bool up = f.up.run(), down = f.down.run();
  Next n = f.tunnel ? tunnel_state(s) : message_state(s);
  if (!n.waits) return n;
  if (s.client().fault() == EndpointFault::Reset) return ends_with(s, FaultKind::ClientAbort, Side::Client);
  if ((up || down) && s.frontend().has(Opt::Contstats)) count_bytes(s);
  update_deadlines(s, up, down);
  if (expired(f.client_deadline)) return ends_with(s, FaultKind::ClientTimeout, Side::Client);
  if (expired(f.server_deadline)) return ends_with(s, FaultKind::ServerTimeout, Side::Server);
  if (f.up.blocked() == PumpBlock::Budget || f.down.blocked() == PumpBlock::Budget) again(s);
  return wait(Step::Relay);
}

} // namespace penstock
