// SPDX-License-Identifier: BSD-2-Clause
// A request (mode http) or a connection (mode tcp) on its way through the steps of steps.h. This header
// is what rules, logs, balancing and the runtime socket see of it; the moving parts (pumps, retries,
// deadlines) are the steps' and stay in worker/stream/*.cpp. Streams come from a pool and are reused:
// no allocation per request.
#pragma once

#include <vector>

#include "shared/expr/eval.h"
#include "shared/expr/var_name.h"
#include "shared/model/proxy.h"
#include "worker/event/loop.h"
#include "worker/net/endpoint.h"
#include "worker/stream/answer.h"
#include "worker/stream/facts.h"
#include "worker/stream/session.h"
#include "worker/stream/steps.h"

namespace penstock {

struct StreamFlow; // worker/stream/flow.h: the steps' own state

class Stream : Pinned {
 public:
  // ------------------------------------------------------------------ where it came from and goes
  Session &session() { return *session_; }
  const Session &session() const { return *session_; }
  const Proxy &frontend() const { return *frontend_; }
  /// The frontend itself until Route has chosen.
  const Proxy &backend() const { return *backend_; }
  bool backend_chosen() const { return backend_chosen_; }
  /// Null: none yet, or none needed.
  const Server *server() const { return server_; }
  bool is_http() const { return is_http_; }
  u64 id() const { return id_; } // unique in this worker

  // ------------------------------------------------------------------ its two sides
  Endpoint &client() { return *client_; }
  Endpoint *server_side() { return server_side_; } // null when not connected
  bool has_request() const { return client_ != nullptr && request_seen_; } // the request's head is (still) there
  bool has_response() const { return response_seen_; }
  HttpMessage &request() { return client_->message(); }
  /// The server's response, or the answer in preparation.
  HttpMessage &response() { return *response_; }
  void begin_own_response() { response_ = &own_response_, response_seen_ = true; own_response_.clear(); }
  /// The server's connection: local address (bc_src) and peer; empty addresses when not connected.
  const Address &server_local() const;
  const Address &server_peer() const;

  // ------------------------------------------------------------------ what is remembered
  StreamFacts facts;
  /// Lives until the stream ends; text that rules keep (captures, variables, set values) goes here.
  Arena &arena() { return arena_; }

  VarNode *txn_vars = nullptr, *req_vars = nullptr, *res_vars = nullptr; // nodes in arena()
  u64 vars_bytes = 0; // of the three scopes
  TrackSet *tracked = nullptr; // entries of stick tables that rules of this stream track; null: none

  /// Captured headers by slot of the frontend (`capture request header`, declare capture); "" when none.
  string_view request_capture(u32 slot) const { return slot < request_captures_.size() ? request_captures_[slot] : string_view(); }
  string_view response_capture(u32 slot) const { return slot < response_captures_.size() ? response_captures_[slot] : string_view(); }
  void capture_request(u32 slot, string_view value);
  void capture_response(u32 slot, string_view value);
  u32 request_capture_count() const { return static_cast<u32>(request_captures_.size()); }
  u32 response_capture_count() const { return static_cast<u32>(response_captures_.size()); }

  // ------------------------------------------------------------------ what rules may change
  /// The answer in preparation: a rule that gives Verdict::Deny or Done has filled it.
  Answer answer;
  /// Set by the tarpit action together with answer.status: the answer comes after timeout tarpit.
  bool tarpit = false;
  /// http-request set-timeout: override the backend's and frontend's. `eternity` is a value, 0 "not set".
  Millis timeout_server = 0, timeout_tunnel = 0, timeout_client = 0, timeout_connect = 0, timeout_queue = 0;
  /// A rule that yields may ask to be run again at this time; the step forgets it when the list goes on.
  Tick rule_wakeup = never;
  i32 log_level = -2;      // -2 not set, -1 silent, 0-7
  i32 priority_class = 0; // set-priority-*: before arrival in the queue
  i32 priority_offset_ms = 0;
  i32 retries_allowed = -1; // set-retries; -1: the backend's
  Address server_address;   // do-resolve/set-dst: overrides where `option transparent` or 0.0.0.0 servers connect
  u16 server_port = 0;
  i32 bc_mark = -1, bc_tos = -1;
  bool pause_counting = false;
  bool disable_l7_retry = false;
  bool logged = false;      // log_stream() ran (option logasap)

  // ------------------------------------------------------------------ evaluation
  /// A context for this stream at `phase`; `proxy` is whose rules run.
  EvalContext context(Phase phase, const Proxy &proxy, bool final);

  // ------------------------------------------------------------------ for observers (show sess) and others
  Step step() const { return step_; }
  /// The last steps, a ring: trail_length() of them from trail_end() on.
  const Step *trail() const { return trail_; }
  u32 trail_length() const { return hops_ < trail_size ? hops_ : trail_size; }
  /// Index of the oldest entry.
  u32 trail_end() const { return hops_ < trail_size ? 0 : hops_ % trail_size; }
  /// Ends it from outside (`shutdown session`, on-marked-down): delivered by the loop.
  void kill(FaultKind why);
  /// Makes the loop run the current step again this turn.
  void wake();

  static constexpr u32 trail_size = 16;

  // ------------------------------------------------------------------ for the steps only
  StreamFlow &flow() { return *flow_; }
  void set_backend(const Proxy &p) { backend_ = &p, backend_chosen_ = true; }
  void set_server(const Server *s) { server_ = s; }
  void set_server_side(Endpoint *e) { server_side_ = e; }
  void set_request_seen() { request_seen_ = true; }
  void show_own_response() { response_ = &own_response_, response_seen_ = true; }
  void set_response(HttpMessage *m) { response_ = m != nullptr ? m : &own_response_, response_seen_ = m != nullptr; }

  Stream *next = nullptr, *prev = nullptr; // all streams of the worker: see Worker::streams

 protected:
  Stream() = default;
  ~Stream() = default;

  Session *session_ = nullptr;
  const Proxy *frontend_ = nullptr, *backend_ = nullptr;
  const Server *server_ = nullptr;
  Endpoint *client_ = nullptr, *server_side_ = nullptr;
  HttpMessage *response_ = &own_response_;
  HttpMessage own_response_;
  StreamFlow *flow_ = nullptr;
  Arena arena_{2048};
  std::vector<string_view> request_captures_, response_captures_;
  u64 id_ = 0;
  bool backend_chosen_ = false, is_http_ = false, request_seen_ = false, response_seen_ = false;
  Step step_ = Step::Head;
  u32 hops_ = 0;
  Step trail_[trail_size] = {};
};

} // namespace penstock
