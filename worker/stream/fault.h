// SPDX-License-Identifier: BSD-2-Clause
// How a stream failed: a value, set once, from which the status code, the two termination letters of
// the log (manual 8.5) and the decision to retry follow.
#pragma once

#include "shared/base/basic.h"

namespace penstock {

enum class Side : u8 { None, Client, Server, Proxy, Resource };

enum class FaultKind : u8 {
  None, ClientAbort, ClientTimeout, ServerAbort, ServerTimeout, ConnectRefused, ConnectTimeout, QueueTimeout, QueueFull,
  NoServer, BadRequest, BadResponse, Denied, Redirected, Local /* answered by the proxy: stats, return */, Internal,
  ResourceExhausted, Killed /* shutdown session */, ServerDown /* on-marked-down shutdown-sessions */, Tarpit, Intercepted
};

/// How far the stream was: second letter of the termination state.
enum class At : u8 { None, Request /* R */, Queue /* Q */, Connect /* C */, Headers /* H */, Data /* D */, Last /* L */, Tarpit /* T */ };

struct Fault {
  FaultKind kind = FaultKind::None;
  Side side = Side::None;
  At at = At::None;
  bool may_retry = false;
  u16 status = 0; // to answer with; 0: close without one
  explicit operator bool() const { return kind != FaultKind::None; }
};
/// First and second letter of the termination state.
char cause_letter(const Fault &f);
char phase_letter(const Fault &f);

} // namespace penstock
