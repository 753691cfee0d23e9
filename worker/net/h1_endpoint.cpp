// SPDX-License-Identifier: BSD-2-Clause
// See h1_endpoint.h. A chunked body is decoded in place: content is moved together at the front of
// the input buffer, so that whoever peeks sees one piece:
//
//   head ->|<- content_ ->|<- gap_ (framing) ->|<- not decoded yet ->|<- tail
#include "worker/net/h1_endpoint.h"

#include <algorithm>
#include <cstring>

#include "worker/http/h1_write.h"

namespace penstock {

void H1Endpoint::reset(Connection &c, Role role) {
  connection_ = &c, role_ = role;
  framing_ = {}, result_ = {};
  chunks_.reset();
  left_ = 0, content_ = gap_ = wanted_ = 0, out_left_ = chunk_left_ = 0, scanned_ = parsed_size_ = 0;
  received_at_start_ = c.received - c.input().size(); // what a pipelining client sent early is this message's
  sent_at_start_ = c.sent;
  out_kind_ = BodyKind::None, fault_ = EndpointFault::None;
  paused_ = chunks_ended_ = out_done_ = chunk_open_ = false;
}

void H1Endpoint::attach(Connection &c, Role role, const H1Limits &limits) {
  reset(c, role);
  limits_ = &limits;
  in_state_ = In::Head;
  message_.clear();
}

void H1Endpoint::attach_bytes(Connection &c, Role role) {
  reset(c, role);
  in_state_ = In::Bytes, out_kind_ = BodyKind::Tunnel;
}

void H1Endpoint::become_bytes() {
  in_state_ = In::Bytes, out_kind_ = BodyKind::Tunnel;
  content_ = gap_ = 0;
}

void H1Endpoint::next_head() {
  in_state_ = In::Head;
  scanned_ = parsed_size_ = 0;
  message_.clear();
}

// ------------------------------------------------------------------------------------------- receiving

void H1Endpoint::lost(Io why) {
  if (fault_ == EndpointFault::None) fault_ = why == Io::Error ? EndpointFault::Reset : EndpointFault::Aborted;
}

void H1Endpoint::parse() {
  string_view in = connection_->input();
  if (in.size() == parsed_size_) return;
  result_ = role_ == Role::Client ? parse_request_head(in, *limits_, scanned_, message_, framing_)
                                  : parse_response_head(in, *limits_, method_, scanned_, message_, framing_);
  parsed_size_ = static_cast<u32>(in.size());
  if (result_.status == HeadStatus::Complete) return take_head();
  if (result_.status == HeadStatus::NeedMore) return;
  in_state_ = In::Bad;
  fault_ = result_.status == HeadStatus::TooLarge ? EndpointFault::TooLarge : EndpointFault::BadMessage;
}

void H1Endpoint::take_head() {
  connection_->consume(result_.consumed);
  left_ = framing_.kind == BodyKind::Length ? framing_.length : 0;
  chunks_.reset();
  content_ = gap_ = 0, chunks_ended_ = false;
  bool empty = framing_.kind == BodyKind::None || (framing_.kind == BodyKind::Length && left_ == 0);
  in_state_ = empty ? In::Done : In::Body;
}

void H1Endpoint::pull() {
  if (in_state_ != In::Head) {
    if (wanted_ > 0) fill_if_wanted();
    return;
  }
  parse();
  while (in_state_ == In::Head) {
    Io r = connection_->fill();
    if (r == Io::Ok) {
      parse();
    } else if (r == Io::Full) {
      in_state_ = In::Bad, fault_ = EndpointFault::TooLarge;
      result_.status = HeadStatus::TooLarge, result_.refuse_with = 431;
    } else {
      if (r != Io::Blocked) lost(r);
      return;
    }
  }
}

void H1Endpoint::fill_if_wanted() {
  while (connection_->input().size() < wanted_ && !paused_ && connection_->fill() == Io::Ok) {}
}

Incoming H1Endpoint::peek() {
  switch (in_state_) {
    case In::Head: return {{}, false, fault_ != EndpointFault::None};
    case In::Bad: return {{}, false, true};
    case In::Done: return {{}, true, false};
    case In::Bytes: return peek_to_end();
    case In::Body: break;
  }
  if (framing_.kind == BodyKind::Length) return peek_length();
  return framing_.kind == BodyKind::Chunked ? peek_chunked() : peek_to_end();
}

Incoming H1Endpoint::peek_length() {
  Io r = Io::Ok;
  if (connection_->input().empty() && !paused_) r = connection_->fill();
  if (wanted_ > 0) fill_if_wanted();
  string_view in = connection_->input();
  if (in.size() >= left_) return {in.substr(0, left_), true, false};
  if (r == Io::Eof || r == Io::Error || (connection_->eof() && in.empty())) lost(r);
  return {in, false, fault_ != EndpointFault::None && in.empty()};
}

Incoming H1Endpoint::peek_to_end() {
  if (connection_->input().empty() && !paused_) connection_->fill();
  if (wanted_ > 0) fill_if_wanted();
  string_view in = connection_->input();
  if (connection_->failed() != 0 && in.empty()) lost(Io::Error);
  return {in, connection_->eof(), fault_ != EndpointFault::None && in.empty()};
}

/// False: the framing is broken.
bool H1Endpoint::decode_chunks() {
  Buffer *in = connection_->in();
  while (in != nullptr && !chunks_ended_) {
    string_view raw = in->content().substr(content_ + gap_);
    if (raw.empty()) break;
    ChunkDecoder::Step step = chunks_.next(raw);
    switch (step.what) {
      case ChunkDecoder::What::NeedMore: return true;
      case ChunkDecoder::What::Bad: return false;
      case ChunkDecoder::What::Skip: gap_ += step.bytes; break;
      case ChunkDecoder::What::End: gap_ += step.bytes, chunks_ended_ = true; break;
      case ChunkDecoder::What::Data: {
        chunks_.consumed(step.bytes);
        if (content_ == 0) in->head += static_cast<u32>(gap_), gap_ = 0;
        else if (gap_ > 0) std::memmove(in->data() + in->head + content_, raw.data(), step.bytes);
        content_ += step.bytes;
        break;
      }
    }
  }
  if (content_ == 0 && gap_ > 0) connection_->consume(gap_), gap_ = 0;
  return true;
}

Incoming H1Endpoint::peek_chunked() {
  bool good = decode_chunks();
  while (good && !chunks_ended_ && (content_ == 0 || content_ < wanted_) && !paused_) {
    Io r = connection_->fill();
    if (r == Io::Eof || r == Io::Error) lost(r);
    if (r != Io::Ok) break;
    good = decode_chunks();
  }
  if (!good) fault_ = EndpointFault::BadMessage;
  bool broken = fault_ != EndpointFault::None && content_ == 0;
  return {connection_->input().substr(0, content_), chunks_ended_ && good, broken};
}

void H1Endpoint::consume(size_t bytes) {
  if (in_state_ == In::Done) return;
  connection_->consume(bytes);
  if (in_state_ == In::Bytes) return;
  if (framing_.kind == BodyKind::Length) {
    left_ -= bytes;
    if (left_ == 0) in_state_ = In::Done;
  } else if (framing_.kind == BodyKind::Chunked) {
    content_ -= bytes;
    if (content_ == 0 && gap_ > 0) connection_->consume(gap_), gap_ = 0;
    if (content_ == 0 && chunks_ended_) in_state_ = In::Done;
  } else if (connection_->eof() && connection_->input().empty()) {
    in_state_ = In::Done;
  }
}

// --------------------------------------------------------------------------------------------- sending

bool H1Endpoint::send_head(const HttpMessage &head, OutgoingBody body) {
  size_t size = head.wire_size();
  Buffer *out = connection_->output(size);
  if (out == nullptr) return false;
  const HeaderCase *spelling = limits_ != nullptr ? limits_->spelling : nullptr;
  size_t n = head.is_request() ? write_request_head(head, out->end(), out->room(), spelling) : write_response_head(head, out->end(), out->room(), spelling);
  if (n == 0) return false;
  out->tail += static_cast<u32>(n);
  out_kind_ = body.kind, out_left_ = body.kind == BodyKind::Length ? body.length : 0;
  chunk_left_ = 0, chunk_open_ = false, out_done_ = false;
  return true;
}

size_t H1Endpoint::send(string_view bytes, bool more) {
  if (out_kind_ == BodyKind::Length) {
    size_t n = connection_->put(bytes.substr(0, out_left_), more);
    out_left_ -= n;
    return n;
  }
  if (out_kind_ != BodyKind::Chunked) return connection_->put(bytes, more);
  if (chunk_left_ == 0) {
    Buffer *out = connection_->output(24);
    if (out == nullptr) return 0;
    if (chunk_open_) out->append("\r\n");
    out->tail += static_cast<u32>(write_chunk_size(bytes.size(), out->end()));
    chunk_left_ = bytes.size(), chunk_open_ = true;
  }
  size_t n = connection_->put(bytes.substr(0, chunk_left_), true);
  chunk_left_ -= n;
  if (chunk_left_ > 0) return n;
  Buffer *out = connection_->output(2);
  if (out == nullptr) return n; // its end goes out with the next chunk's size or the last chunk
  out->append("\r\n");
  chunk_open_ = false;
  if (!more) connection_->flush();
  return n;
}

bool H1Endpoint::finish(string_view trailers) {
  if (out_kind_ == BodyKind::Chunked && !out_done_) {
    Buffer *out = connection_->output(trailers.size() + 8);
    if (out == nullptr) return false;
    if (chunk_open_) out->append("\r\n"), chunk_open_ = false;
    out->append("0\r\n");
    if (!trailers.empty()) out->append(trailers);
    out->append("\r\n");
  }
  out_done_ = true;
  if (connection_->flush() == Io::Blocked) return true;
  if (out_kind_ == BodyKind::Tunnel) connection_->shut_write();
  return true;
}

void H1Endpoint::abort(bool with_reset) {
  if (connection_ == nullptr) return;
  with_reset ? connection_->reset() : connection_->close();
}

// ---------------------------------------------------------------------------------------------- splice

int H1Endpoint::raw_fd() const {
  return connection_ != nullptr && connection_->is_open() && connection_->transport->raw ? connection_->fd() : -1;
}

u64 H1Endpoint::unframed_left() const {
  if (paused_ || !connection_->input().empty()) return 0;
  if (in_state_ == In::Bytes || (in_state_ == In::Body && framing_.kind == BodyKind::UntilClose)) return ~u64{0};
  return in_state_ == In::Body && framing_.kind == BodyKind::Length ? left_ : 0;
}

void H1Endpoint::spliced_in(u64 bytes) {
  connection_->read_activity(bytes);
  if (in_state_ != In::Body || framing_.kind != BodyKind::Length) return;
  left_ -= bytes;
  if (left_ == 0) in_state_ = In::Done;
}

void H1Endpoint::spliced_out(u64 bytes) {
  connection_->sent += bytes;
  if (out_kind_ == BodyKind::Length) out_left_ -= bytes;
}

} // namespace penstock
