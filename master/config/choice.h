// SPDX-License-Identifier: BSD-2-Clause
// Words out of a closed list ("tcp", "http", …): look-up with a diagnostic that lists what was
// possible and hints at the nearest. Used by all keyword files.
#pragma once

#include <span>

#include "shared/table/words.h"

namespace penstock {

template <class V> struct Choice {
  string_view word;
  V value;
};

/// Alert at the current word: "'SUBJECT' expects WHAT, got 'WORD'".
inline void alert_expected(Words &words, string_view what, std::string hint = {}) {
  std::string text = "'" + std::string(words.subject()) + "' expects " + std::string(what);
  if (!words.at_end()) text += ", got '" + std::string(words.peek()) + "'";
  words.alert(std::move(text), std::move(hint));
}

/// "'a', 'b' or 'c'".
template <class V> std::string list_choices(std::span<const Choice<V>> choices) {
  std::string out;
  for (size_t i = 0; i < choices.size(); i++) {
    if (i > 0) out += i + 1 == choices.size() ? " or " : ", ";
    out += "'" + std::string(choices[i].word) + "'";
  }
  return out;
}

template <class V> const V *find_choice(string_view word, std::span<const Choice<V>> choices) {
  for (const auto &c : choices)
    if (c.word == word) return &c.value;
  return nullptr;
}

/// The current word as one of `choices`, or an alert at it and null. Moves on when it was one.
template <class V, size_t N> const V *need_choice(Words &words, const Choice<V> (&choices)[N]) {
  std::span<const Choice<V>> all(choices);
  if (const V *v = words.at_end() ? nullptr : find_choice(words.peek(), all)) {
    words.next();
    return v;
  }
  NearMiss near(words.peek());
  if (!words.at_end())
    for (const auto &c : all) near.consider(c.word);
  alert_expected(words, list_choices(all), near.hint());
  return nullptr;
}

} // namespace penstock
