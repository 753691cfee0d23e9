// SPDX-License-Identifier: BSD-2-Clause
// The chunked transfer coding as a decoder without buffers (RFC 9112, section 7.1): it is told what
// bytes are there and answers what the next ones are.
#pragma once

#include <string>

#include "shared/base/basic.h"

namespace penstock {

class ChunkDecoder {
 public:
  enum class What : u8 {
    NeedMore, // nothing decided: come again with more bytes
    Skip,     // `bytes` are framing: consume them
    Data,     // `bytes` are content: forward and consume them
    End,      // the last chunk and its trailers are over; `bytes` (framing) end here
    Bad,
  };
  struct Step {
    What what;
    size_t bytes;
  };
  /// What the next bytes of `in` are; the caller consumes `bytes` (of Data possibly fewer, then tells
  /// with consumed()) and calls again.
  Step next(string_view in);
  /// So many bytes of content were taken out of a Data step.
  void consumed(size_t data_bytes);
  /// Trailer fields seen so far, raw lines ("name: value\r\n"), bounded by `max_trailer_bytes`,
  /// without those that have no place there.
  string_view trailers() const { return trailers_; }
  void reset();

  static constexpr size_t max_trailer_bytes = 8192;
  static constexpr size_t max_line_bytes = 1024; // of a chunk-size line with extensions

 private:
  enum class State : u8 { Size, Data, DataEnd, Trailers, Done, Broken } state_ = State::Size;
  Step size_line(string_view in);
  Step trailer_line(string_view in);
  Step broken();

  u64 left_ = 0; // of the current chunk
  size_t trailer_bytes_ = 0;
  std::string trailers_;
};

} // namespace penstock
