// SPDX-License-Identifier: BSD-2-Clause
// One direction of a stream: takes content from one endpoint and gives it to the other, as fast as the
// slower one allows. What the sink cannot take stays in the source's buffer, and a source that is not
// asked reads nothing: that is the whole back-pressure. Its state is one enum with a table of legal moves.
#pragma once

#include "worker/net/endpoint.h"

namespace penstock {

struct SplicePipe; // worker/net/splice.h

enum class PumpState : u8 {
  Idle,     // not started
  Open,     // bytes may come
  Draining, // the source has ended: what is left goes out
  Shut,     // everything is delivered, the sink's side is complete
  Broken,   // cannot be completed any more
};
enum class PumpEvent : u8 { Start, SourceEnded, Delivered, Failed };
string_view pump_state_name(PumpState s);

/// Keeps a copy of what passes, for a request that may have to be sent again.
struct Replay {
  char *bytes = nullptr;
  u32 size = 0, capacity = 0;
  bool overflowed = false;
  void add(string_view s);
};

/// Whose fault it is that a pump stands still or broke.
enum class PumpBlock : u8 { None, Source, Sink, Budget };

class Pump {
 public:
  /// Begins to move content from one side to the other.
  void start(Endpoint &from, Endpoint &to);
  void reset();
  /// The sink is another one now (a retry); what was delivered before is the caller's business.
  void redirect(Endpoint &to);
  void keep_copy(Replay *into) { replay_ = into; }
  /// Moves what can be moved now. True: something moved.
  bool run();
  /// The event happened; an illegal one is a bug of ours.
  void move(PumpEvent e);

  PumpState state() const { return state_; }
  bool running() const { return state_ == PumpState::Open || state_ == PumpState::Draining; }
  bool over() const { return state_ == PumpState::Shut || state_ == PumpState::Broken; }
  PumpBlock blocked() const { return blocked_; }
  /// Of Broken: which side failed.
  bool source_failed() const { return source_failed_; }
  u64 bytes() const { return bytes_; }
  void allow_splice(bool on) { may_splice_ = on; }
  /// option http-drop-request-trailers / -response-trailers.
  void drop_trailers(bool on) { drops_trailers_ = on; }
  /// Bytes per run, so that one fat transfer does not starve the others.
  static constexpr size_t budget = 1 << 20;

 private:
  bool splice_some(size_t &moved);
  bool deliver();

  Endpoint *from_ = nullptr, *to_ = nullptr;
  SplicePipe *pipe_ = nullptr;
  Replay *replay_ = nullptr;
  u64 bytes_ = 0;
  PumpState state_ = PumpState::Idle;
  PumpBlock blocked_ = PumpBlock::None;
  bool source_failed_ = false, may_splice_ = false, drops_trailers_ = false, source_ended_ = false;
};

} // namespace penstock
