// SPDX-License-Identifier: BSD-2-Clause
// The body of an answer that is made in pieces of any size while it is sent.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include "worker/stream/answer.h"

namespace penstock {

class PieceSource : public AnswerSource {
 public:
  size_t next(char *out, size_t capacity) final {
    while (at_ == text_.size()) {
      text_.clear();
      at_ = 0;
      if (!make(text_)) {
        if (text_.empty()) return 0;
        break;
      }
    }
    // Small pieces are gathered, so that a buffer goes out full.
    while (text_.size() - at_ < capacity && make(text_)) {
    }
    size_t n = std::min(capacity, text_.size() - at_);
    std::memcpy(out, text_.data() + at_, n);
    at_ += n;
    return n;
  }

 protected:
  /// Appends the next piece; false after the last one.
  virtual bool make(std::string &out) = 0;

 private:
  std::string text_;
  size_t at_ = 0; // of it are sent
};

} // namespace penstock
