// SPDX-License-Identifier: BSD-2-Clause
// What an evaluation runs in. The engine (shared/expr) knows only this; fetches, actions and log
// tags (worker/rules) reach the stream through the pointers.
#pragma once

#include "shared/base/arena.h"
#include "shared/base/time.h"

namespace penstock {

class Session; // worker/stream/session.h
class Stream;  // worker/stream/stream.h
struct CheckRun; // worker/check/checker.h
struct Proxy;  // shared/model/proxy.h
struct VarNode; // worker/stream/vars.h

/// Where in a stream's life an evaluation happens: what it may look at (manual 7.3.x).
enum class Phase : u8 {
  None,          // no traffic: configuration time, CLI
  Connection,    // tcp-request connection: L4 of the client
  SessionStart,  // tcp-request session: after handshakes
  RequestContent, // tcp-request content: bytes of the request
  Request,       // http-request: head of the request
  Response,      // http-response, tcp-response content
  AfterResponse, // http-after-response
  Log,           // after the end
  Check,         // health check
};

struct EvalContext {
  Arena &scratch;             // results live here; whoever starts evaluating resets it
  Session *session = nullptr; // null outside traffic
  Stream *stream = nullptr;   // null before there is one
  CheckRun *check = nullptr;
  VarNode **check_vars = nullptr; // scope check, and the memory for it
  Arena *check_arena = nullptr;
  u64 *check_vars_bytes = nullptr;
  u64 check_vars_limit = 0; // 0: none
  const Proxy *proxy = nullptr; // the proxy whose rules run (frontend, then backend)
  Phase phase = Phase::None;
  bool final = true;         // no more bytes will come: a fetch must not ask for more
  bool need_more = false;    // set by a fetch that cannot answer before more bytes came
  bool response_side = false; // evaluates on the server-to-client direction
};

} // namespace penstock
