// SPDX-License-Identifier: BSD-2-Clause
// What the steps know of a stream and nobody else needs: pumps, deadlines, the attempt at a server.
// One per stream, pooled with it. Also the few verbs that steps share.
#pragma once

#include "shared/shm/rows.h"
#include "worker/net/idle_pool.h"
#include "worker/runtime.h"
#include "worker/stream/carrier.h"
#include "worker/stream/pump.h"
#include "worker/stream/stream.h"

namespace penstock {

struct StickKeys; // worker/stream/stick.h

struct StreamFlow {
  struct StreamTimer : Timer { PooledStream *stream; } timer;
  struct Wake : Deferred { PooledStream *stream; } wake;
  CarrierSession *session = nullptr;
  bool alive = false;
  bool running = false; // run_stream() is at work: a wake-up needs no turn of its own

  Pump up, down; // client to server, server to client

  // Deadlines; the stream's timer is the earliest of them.
  Tick step_deadline = never;   // of the step: http-request, inspect-delay, connect, queue, tarpit, turn-around
  Tick client_deadline = never; // inactivity of the sides
  Tick server_deadline = never;

  // Rules under way.
  size_t rule_index = 0;
  u8 rule_stage = 0;
  Tick inspect_until = never;
  bool request_counted = false; // by what the session and the stream track

  // The attempt at a server.
  ServerConnection *link = nullptr;
  PooledEndpoint *server_endpoint = nullptr;
  bool prepared = false; // the request is as servers get it
  const Server *slot_server = nullptr; // a slot is held there
  const Server *wanted = nullptr;      // by persistence or use-server
  const Server *avoid = nullptr;       // has just failed
  bool wanted_forced = false;
  PersistState persist;                // what the cookie said
  StickKeys *stick = nullptr;          // keys to be stored once a server is connected; in the stream's arena
  u32 waiter = no_row;
  i32 retries_left = 0;
  i32 attempts = 0;
  bool reused = false;        // the link carried requests before
  bool link_private = false;
  bool fresh_only = false;    // a reused connection failed: the next one is to be new
  bool request_sent = false;  // head went out on this attempt
  bool response_started = false; // head went to the client
  bool must_close_client = false; // no keep-alive after this response
  bool entered_backend = false;
  bool server_counted = false;
  bool tunnel = false;
  u64 link_key = 0;
  HttpConnMode mode = HttpConnMode::KeepAlive;
  OutgoingBody response_body;

  Replay replay;         // retry-on: the body as far as it was sent, in the stream's arena
  u32 replayed = 0;      // of it, on this attempt
  bool replay_on = false;
  bool retrying = false; // an earlier attempt had sent the request

  FaultKind killed = FaultKind::None;
  u64 counted_in = 0, counted_out = 0; // bytes already in the counters (option contstats)
  size_t answer_sent = 0;        // of answer.body
  Buffer *answer_buffer = nullptr; // what answer.source gave and the client has not taken
};

struct PooledStream : Stream {
  u32 pool_index = 0, pool_generation = 0;
  StreamFlow own;
  void init(CarrierSession &session, Endpoint &client);
  void release();
  void run();

 private:
  void note(Step s) {
    trail_[hops_ % trail_size] = s;
    hops_++;
  }
  void arm_timer();
  friend struct StreamFlow;
};

/// A stream for the session's next request, in its first step.
PooledStream &begin_stream(CarrierSession &session, Endpoint &client);
/// Gives it back to its pool and its session on to what follows.
void end_stream(PooledStream &s);
/// Tells the trail of a stream that hopped without end.
void report_endless_stream(Stream &s);
/// 100 Continue to the client, when we want the body before a server is asked.
void send_continue(Stream &s);
/// Runs its steps until one waits. The stream may be over when this returns.
void run_stream(PooledStream &s);
/// The client's time for a first request is over before a byte of it came.
void stream_request_timeout(PooledStream &s);

// ---------------------------------------------------------------------- verbs of the steps

/// Notes the failure (the first one counts) and gives the step that follows: Reply when there is somebody to
/// answer, else Finish.
Next fail(Stream &s, FaultKind kind, Side side, At at, u16 status);
/// An answer of ours that is no failure.
Next answer_with(Stream &s, u16 status);

inline Tick now() { return runtime->loop.now(); }
inline i64 now_us() { return runtime->loop.now_us(); }
/// Runs the stream again next turn: there is more to do, but others shall have theirs.
inline void again(Stream &s) { runtime->loop.defer(s.flow().wake); }
inline bool expired(Tick deadline) { return deadline <= runtime->loop.now(); }

/// The server side's socket is given up: back to its pool, or closed.
void drop_link(Stream &s, bool with_reset);
/// Gives the server's slot back and undoes what the attempt counted.
void end_attempt(Stream &s);

/// Rules of one set: where the list stands is kept over waits.
enum class RulesSay : u8 { Go, Wait, Stop };
RulesSay run_rule_list(Stream &s, const RuleList &rules, Phase phase, const Proxy &proxy, bool final, Next &next);

ProxyState &front_state(Stream &s);
ProxyState &back_state(Stream &s);
ServerState *server_state(Stream &s);

} // namespace penstock
