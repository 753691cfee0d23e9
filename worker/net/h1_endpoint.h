// SPDX-License-Identifier: BSD-2-Clause
// The endpoint over one connection: HTTP/1 messages, or bare bytes (mode tcp, tunnels, whatever follows
// an upgrade). It joins the codecs of worker/http, which know no sockets, to a Connection. Endpoints are
// pooled and attached to a connection while a stream uses it; an idle connection has none.
#pragma once

#include "worker/http/h1_body.h"
#include "worker/net/connection.h"
#include "worker/net/endpoint.h"

namespace penstock {

class H1Endpoint final : public Endpoint {
 public:
  enum class Role : u8 { Client /* reads requests */, Server /* reads responses */ };

  /// Begins a message on `c`. `limits` must outlive the use.
  void attach(Connection &c, Role role, const H1Limits &limits);
  /// The same in bare bytes.
  void attach_bytes(Connection &c, Role role);
  void detach() { connection_ = nullptr; }
  Connection *connection() override { return connection_; }

  void expect_response_to(Method m) override { method_ = m; }
  void become_bytes() override;
  void next_head() override;

  // ------------------------------------------------------------- Endpoint
  void pull() override;
  bool head_ready() const override { return in_state_ != In::Head && in_state_ != In::Bytes && in_state_ != In::Bad; }
  HttpMessage &message() override { return message_; }
  const H1Framing &framing() const override { return framing_; }
  bool receive_done() const override { return in_state_ == In::Done; }
  Incoming peek() override;
  void consume(size_t bytes) override;
  bool may_have_more() const override { return connection_->may_fill() || !connection_->input().empty() || connection_->eof() || connection_->failed() != 0; }
  string_view trailers() const override { return chunks_.trailers(); }
  void want(size_t bytes) override { wanted_ = bytes; }
  void pause_reading(bool paused) override { paused_ = paused; }

  bool send_head(const HttpMessage &head, OutgoingBody body) override;
  size_t send(string_view bytes, bool more) override;
  void flush() override { connection_->flush(); }
  bool finish(string_view trailers) override;
  bool flushed() const override { return connection_->flushed(); }
  bool send_failed() const override { return connection_->write_failed(); }
  void abort(bool with_reset) override;
  bool is_open() const override { return connection_ != nullptr && connection_->is_open(); }
  bool peer_gone() const override { return connection_->hung_up() || connection_->eof(); }

  EndpointFault fault() const override { return fault_; }
  const HeadResult *bad_head() const override { return in_state_ == In::Bad ? &result_ : nullptr; }
  int raw_fd() const override;
  u64 unframed_left() const override;
  void spliced_in(u64 bytes) override;
  void spliced_out(u64 bytes) override;
  bool anything_received() const override { return connection_->received != received_at_start_; }
  u64 bytes_in() const override { return connection_ ? connection_->received - received_at_start_ - early() : 0; }
  u64 bytes_out() const override { return connection_ ? connection_->sent - sent_at_start_ : 0; }


 private:
  enum class In : u8 { Head, Body, Done, Bytes, Bad };
  void reset(Connection &c, Role role);
  void parse();
  void take_head();
  Incoming peek_length();
  Incoming peek_chunked();
  Incoming peek_to_end();
  bool decode_chunks();
  void fill_if_wanted();
  void lost(Io why);
  /// Bytes of the next message that came with this one.
  u64 early() const { return in_state_ == In::Done ? connection_->input().size() : 0; }

  Connection *connection_ = nullptr;
  const H1Limits *limits_ = nullptr;
  HttpMessage message_;
  H1Framing framing_;
  ChunkDecoder chunks_;
  HeadResult result_;
  u64 left_ = 0;      // of a Length body: bytes not consumed yet
  size_t content_ = 0; // Chunked: decoded bytes at the front of the input
  size_t gap_ = 0;    // Chunked: framing between decoded and undecoded bytes
  size_t wanted_ = 0;
  u64 out_left_ = 0;  // Length: bytes still to send
  u64 chunk_left_ = 0; // Chunked: of the chunk announced last
  u64 received_at_start_ = 0, sent_at_start_ = 0;
  u32 scanned_ = 0, parsed_size_ = 0;
  Role role_ = Role::Client;
  In in_state_ = In::Head;
  BodyKind out_kind_ = BodyKind::None;
  Method method_ = Method::Get;
  EndpointFault fault_ = EndpointFault::None;
  bool paused_ = false, chunks_ended_ = false, out_done_ = false, chunk_open_ = false;
};

} // namespace penstock
