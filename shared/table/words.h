// SPDX-License-Identifier: BSD-2-Clause
// One line of the configuration after quoting and expansion: a cursor over its words that knows
// each word's place and reports what was expected there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shared/base/diagnostics.h"
#include "shared/base/time.h"

namespace penstock {

struct Word {
  std::string text;
  u16 column = 0; // of its first character in the file's line
};

class Words {
 public:
  Words(std::vector<Word> words, Place line, Diagnostics &diags)
      : words_(std::move(words)), line_(line), diags_(&diags) {}

  bool at_end() const { return at_ >= words_.size(); }
  size_t left() const { return words_.size() - at_; }
  size_t position() const { return at_; }
  void rewind(size_t position) { at_ = position; }
  /// The current word, or "" at the end.
  string_view peek(size_t ahead = 0) const {
    return at_ + ahead < words_.size() ? string_view(words_[at_ + ahead].text) : string_view();
  }
  /// The current word; moves on. "" at the end. The view lives as long as this object.
  string_view next() { return at_end() ? string_view() : string_view(words_[at_++].text); }
  /// Moves on if the current word is `w`.
  bool take(string_view w) {
    if (at_end() || words_[at_].text != w) return false;
    at_++;
    return true;
  }
  /// The next word, or an alert "'maxconn' expects WHAT" and nothing.
  std::optional<string_view> need(string_view what);
  /// The next word as a number within [min, max], a delay (default unit ms, manual 2.5), a size
  /// (default unit bytes). On anything else: alert and nothing.
  std::optional<i64> need_int(string_view what, i64 min, i64 max);
  std::optional<Millis> need_delay(string_view what);
  std::optional<u64> need_size(string_view what);
  /// Alert about every word that is left ("unexpected word 'x' after …"). True if none was.
  bool end();

  Place place() const;                  // of the current word (of the line's end when past it)
  Place place_of(size_t index) const;   // of word number `index`
  Place line_place() const { return line_; }
  const std::vector<Word> &all() const { return words_; }
  /// Gives the words back to who made this object, to be reused for the next line.
  std::vector<Word> release() { return std::move(words_); }
  /// What the line is about, for messages: the keyword as the parser matched it.
  void set_subject(string_view s) { subject_ = s; }
  string_view subject() const { return subject_; }

  Diagnostics &diags() { return *diags_; }
  /// An alert at the current word / at the word before the current one.
  void alert(std::string text, std::string hint = {}) { diags_->alert(place(), std::move(text), std::move(hint)); }
  void alert_last(std::string text, std::string hint = {});
  void warning(std::string text, std::string hint = {}) { diags_->warning(place(), std::move(text), std::move(hint)); }

 private:
  std::vector<Word> words_;
  Place line_;
  Diagnostics *diags_;
  size_t at_ = 0;
  string_view subject_;
};

/// "30", "30s", "5m", "1h", "2d", "100us": milliseconds, rounded up (manual 2.5). The error says the cure.
struct DelayResult { std::optional<Millis> value; std::string error; };
DelayResult parse_delay(string_view text);
/// The same in microseconds for the places that the manual gives that unit.
std::optional<i64> parse_delay_us(string_view text);
/// "16384", "16k", "1m", "1g": bytes (manual 2.6).
std::optional<u64> parse_size(string_view text);

/// The candidate nearest to `word`, or "" when none is near; for "did you mean 'x'?" hints.
class NearMiss {
 public:
  explicit NearMiss(string_view word) : word_(word) {}
  void consider(string_view candidate);
  std::string hint() const; // "did you mean 'x'?" (up to three names), or ""
 private:
  string_view word_;
  struct Found { string_view name; unsigned distance; };
  std::vector<Found> best_;
};

} // namespace penstock
