// SPDX-License-Identifier: BSD-2-Clause
// A line of framing is looked at when all of it is there, so the caller keeps what NeedMore was said of.
#include "worker/http/h1_body.h"

#include <algorithm>
#include <cstring>

#include "shared/base/text.h"
#include "shared/http/names.h"
#include "worker/http/h1_chars.h"

namespace penstock {

using What = ChunkDecoder::What;

namespace {

constexpr u64 largest_chunk = ~u64{0} >> 1;

/// The line at the start of `in` without its CRLF; its length with it, or 0 when it is not complete, or ~0 when it is malformed.
size_t whole_line(string_view in, size_t most, string_view &line) {
  size_t look = std::min(in.size(), most);
  auto *lf = static_cast<const char *>(std::memchr(in.data(), '\n', look));
  if (lf == nullptr) return in.size() >= most ? ~size_t{0} : 0;
  size_t n = static_cast<size_t>(lf - in.data());
  if (n == 0 || in[n - 1] != '\r') return ~size_t{0};
  line = in.substr(0, n - 1);
  return n + 1;
}

/// "1a;name=value": hex digits, then blanks and extensions that nobody reads.
bool parse_size_line(string_view line, u64 &size) {
  u64 v = 0;
  size_t i = 0;
  for (; i < line.size(); i++) {
    int d = hex_digit(line[i]);
    if (d < 0) break;
    if (v > (largest_chunk - static_cast<u64>(d)) / 16) return false;
    v = v * 16 + static_cast<u64>(d);
  }
  if (i == 0) return false;
  size = v;
  while (i < line.size() && (line[i] == ' ' || line[i] == '\t')) i++;
  if (i == line.size()) return true;
  if (line[i] != ';') return false;
  return std::none_of(line.begin() + static_cast<std::ptrdiff_t>(i), line.end(),
                      [](char c) { return (static_cast<u8>(c) < 0x20 && c != '\t') || c == 0x7f; });
}

/// Fields that would change how the message is framed or routed have no place behind it (RFC 9110, section 6.5.1).
bool allowed_in_trailers(Header id) {
  switch (id) {
    case Header::ContentLength: case Header::TransferEncoding: case Header::Host: case Header::Connection: case Header::Trailer:
    case Header::TE: case Header::Upgrade: case Header::ContentEncoding: case Header::ContentType: case Header::Authorization:
    case Header::ProxyAuthorization: case Header::Cookie: case Header::SetCookie: case Header::Expect: case Header::CacheControl:
    case Header::Range: return false;
    default: return true;
  }
}

bool field_line(string_view line, string_view &name) {
  size_t i = 0;
  while (i < line.size() && h1::is(line[i], h1::char_token)) i++;
  if (i == 0 || i == line.size() || line[i] != ':') return false;
  name = line.substr(0, i);
  return h1::find_line_stop(line.data(), line.data() + line.size()) == line.data() + line.size();
}

} // namespace

ChunkDecoder::Step ChunkDecoder::size_line(string_view in) {
  string_view line;
  size_t n = whole_line(in, max_line_bytes, line);
  if (n == 0) return {What::NeedMore, 0};
  if (n == ~size_t{0} || !parse_size_line(line, left_)) return broken();
  state_ = left_ ? State::Data : State::Trailers;
  return {What::Skip, n};
}

ChunkDecoder::Step ChunkDecoder::trailer_line(string_view in) {
  string_view line, name;
  size_t n = whole_line(in, max_trailer_bytes, line);
  if (n == 0) return {What::NeedMore, 0};
  if (n == ~size_t{0}) return broken();
  if (line.empty()) {
    state_ = State::Done;
    return {What::End, n};
  }
  if (!field_line(line, name) || (trailer_bytes_ += n) > max_trailer_bytes) return broken();
  if (allowed_in_trailers(header_of(name))) trailers_.append(in.data(), n);
  return {What::Skip, n};
}

ChunkDecoder::Step ChunkDecoder::broken() {
  state_ = State::Broken;
  return {What::Bad, 0};
}

ChunkDecoder::Step ChunkDecoder::next(string_view in) {
  if (state_ == State::Done) return {What::End, 0};
  if (state_ == State::Broken) return {What::Bad, 0};
  if (in.empty()) return {What::NeedMore, 0};
  switch (state_) {
    case State::Size: return size_line(in);
    case State::Data: return {What::Data, static_cast<size_t>(std::min<u64>(left_, in.size()))};
    case State::DataEnd:
      if (in[0] != '\r' || (in.size() > 1 && in[1] != '\n')) return broken();
      if (in.size() < 2) return {What::NeedMore, 0};
      state_ = State::Size;
      return {What::Skip, 2};
    default: return trailer_line(in);
  }
}

void ChunkDecoder::consumed(size_t data_bytes) {
  PENSTOCK_ENSURE(data_bytes <= left_);
  left_ -= data_bytes;
  if (left_ == 0 && state_ == State::Data) state_ = State::DataEnd;
}

void ChunkDecoder::reset() {
  state_ = State::Size;
  left_ = trailer_bytes_ = 0;
  trailers_.clear();
}

} // namespace penstock
