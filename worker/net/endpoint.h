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

#include "shared/http/message.h"
#include "worker/http/h1_head.h"

namespace penstock {

class Connection; // worker/net/connection.h

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
  /// Reads what the peer sent, as far as buffers allow, and parses a head that is due.
  virtual void pull() = 0;
  /// A complete head has arrived and is in message() / framing(). Always false for bare bytes.
  virtual bool head_ready() const = 0;
  virtual HttpMessage &message() = 0;
  virtual const H1Framing &framing() const = 0;
  /// Of a server's side: which method the next response answers (RFC 9110, section 6.4.1).
  virtual void expect_response_to(Method) {}
  /// An interim (1xx) head was dealt with: the next head follows.
  virtual void next_head() = 0;
  /// After 101 or a successful CONNECT: both directions are bare bytes from here on.
  virtual void become_bytes() = 0;
  /// The whole message was received and consumed.
  virtual bool receive_done() const = 0;
  virtual Incoming peek() = 0;
  virtual void consume(size_t bytes) = 0;
  /// Another peek() may show more without waiting.
  virtual bool may_have_more() const = 0;
  virtual string_view trailers() const { return {}; }
  /// Why the head could not be understood; null when that is not the case.
  virtual const HeadResult *bad_head() const { return nullptr; }
  /// Any byte of the message came.
  virtual bool anything_received() const = 0;
  /// The peer closed its side, or said that it will; content may still be there to read.
  virtual bool peer_gone() const = 0;
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
  /// What was to be sent cannot be any more; receiving may go on (an early answer).
  virtual bool send_failed() const = 0;
  /// Ends this side at once: reset or close, whatever the carrier needs.
  virtual void abort(bool with_reset) = 0;

  // ------------------------------------------------------------- facts
  virtual EndpointFault fault() const = 0;
  virtual bool is_open() const = 0;
  virtual u64 bytes_in() const = 0; // wire bytes, for counters and logs
  virtual u64 bytes_out() const = 0;

  // ------------------------------------------------------------- splice
  /// The socket when the endpoint's bytes are the wire's bytes right now (no TLS, no framing), for splice; else -1.
  virtual int raw_fd() const { return -1; }
  /// How many bytes that follow in the socket are content and nothing else; 0 when any are buffered.
  virtual u64 unframed_left() const { return 0; }
  /// Bytes that went past the endpoint from or into its socket.
  virtual void spliced_in(u64) {}
  virtual void spliced_out(u64) {}
  virtual Connection *connection() { return nullptr; }
};

} // namespace penstock
