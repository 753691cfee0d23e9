// SPDX-License-Identifier: BSD-2-Clause
// One side of a stream as the stream sees it, whatever carries it: an HTTP/1 connection, one stream
// of a multiplexed connection, or bare bytes (mode tcp, tunnels). The stream never touches sockets.
//
//   codec (bytes <-> events)  ->  session (a client connection)  ->  streams (a request each)
//                                                                     stream <-> two endpoints
//
// Receiving: the endpoint shows what arrived (peek) and the stream takes it (consume).
// Sending: what the endpoint cannot take now stays with the caller; `on_writable` follows.
// All calls may be made at any time; none blocks; none calls back into the stream before returning:
// the endpoint wakes its stream through Wake, which the loop delivers.
#pragma once

#include "shared/base/address.h"
#include "shared/http/message.h"
#include "worker/http/h1_head.h"

namespace penstock {

/// What came in and is not consumed yet.
struct Incoming {
  string_view bytes;    // content only: framing is taken out
  bool end = false;     // after `bytes` the body (or the direction) is complete
  bool broken = false;  // no more can come and it was not complete; see Endpoint::fault()
};

enum class EndpointFault : u8 { None, Aborted /* peer closed early */, Reset, Timeout, BadMessage, TooLarge, ConnectFailed, HandshakeFailed, Internal };

/// How the next head that is sent delimits its body.
struct OutgoingBody {
  BodyKind kind = BodyKind::None;
  u64 length = 0;
};

class Endpoint {
 public:
  virtual ~Endpoint() = default;

  // ------------------------------------------------------------- receiving
  /// A complete head has arrived and is in message() / framing(). Always false for bare bytes.
  virtual bool head_ready() const = 0;
  virtual HttpMessage &message() = 0;
  virtual const H1Framing &framing() const = 0;
  virtual Incoming peek() = 0;
  virtual void consume(size_t bytes) = 0;
  virtual string_view trailers() const { return {}; }
  /// Wants more than is there: reads until `bytes` are there or no more fit. For content inspection.
  virtual void want(size_t bytes) = 0;
  /// Stops and resumes reading from the peer (back-pressure).
  virtual void pause_reading(bool paused) = 0;

  // ------------------------------------------------------------- sending
  virtual bool send_head(const HttpMessage &head, OutgoingBody body) = 0;
  /// Takes up to all of `bytes`, gives how many. `more`: further bytes follow at once (MSG_MORE).
  virtual size_t send(string_view bytes, bool more) = 0;
  /// Sends what send_head() and send(…, more) gathered, without waiting for more.
  virtual void flush() = 0;
  /// The message is complete (last chunk, trailers); of bare bytes: shuts the writing side down.
  virtual bool finish(string_view trailers = {}) = 0;
  /// Nothing is waiting to be written.
  virtual bool flushed() const = 0;
  /// Ends this side at once: reset or close, whatever the carrier needs.
  virtual void abort(bool with_reset) = 0;

  // ------------------------------------------------------------- facts
  virtual EndpointFault fault() const = 0;
  virtual const Address &peer() const = 0;
  virtual const Address &local() const = 0;
  /// The socket when the endpoint's bytes are the wire's bytes right now (no TLS, no framing), for splice; else -1.
  virtual int raw_fd() const { return -1; }
  u64 bytes_in = 0, bytes_out = 0; // wire bytes, for counters and logs
};

} // namespace penstock
