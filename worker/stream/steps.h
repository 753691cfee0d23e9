// SPDX-License-Identifier: BSD-2-Clause
// The life of a request, said once. A stream runs this list; a step does its part and says what
// comes next. Start reading here.
//
//   Head      wait for the client's request head (mode http), or for nothing (mode tcp)
//   Content   tcp-request content rules of frontend and backend
//   Request   http-request rules, redirects, statistics page; then the request is normalised
//   Route     use_backend / default_backend; then the backend's Content and Request rules
//   Pick      persistence, use-server, balancing: which server
//   Queue     the server has no free slot: wait for one, over all workers, in order
//   Connect   an idle connection or a new one; retries and redispatch come back to Pick
//   Exchange  send the request, wait for the response's head (bodies flow meanwhile)
//   Response  tcp-response content, http-response, http-after-response rules
//   Relay     both pumps until both directions are done
//   Reply     an answer of our own instead of a server's: errors, deny, return, redirect, statistics
//   Finish    count, log, give the server's slot back, decide on keep-alive
#pragma once

#include "shared/base/basic.h"

namespace penstock {

class Stream;

enum class Step : u8 { Head, Content, Request, Route, BackContent, BackRequest, Pick, Queue, Connect, Exchange, Response, Relay, Tarpit, Reply, Finish, Dead, count_ };
string_view step_name(Step s);

/// What a step asks for: another step at once, or to be run again on the next event.
struct Next {
  Step step;
  bool waits;
};
inline Next go(Step s) { return {s, false}; }
inline Next wait(Step here) { return {here, true}; }

using StepFn = Next (*)(Stream &);
/// One function per step, indexed by Step.
extern const StepFn steps[];

/// Hops without any I/O or timer between them; one more aborts the stream and logs its trail.
inline constexpr unsigned max_hops = 64;

} // namespace penstock
