// SPDX-License-Identifier: BSD-2-Clause
// The cursor over a line's words, the units of time and size (manual 2.5, 2.6), near-miss hints.
#include "shared/table/words.h"

#include <algorithm>

#include "shared/base/text.h"

namespace penstock {

namespace {

struct Unit {
  string_view name;
  i64 factor; // of time: microseconds; of size: bytes
};
constexpr Unit time_units[] = {{"us", 1}, {"ms", 1000}, {"s", 1'000'000}, {"m", 60'000'000}, {"h", 3'600'000'000}, {"d", 86'400'000'000}};
constexpr Unit size_units[] = {{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}};
constexpr i64 max_delay_us = INT64_MAX / 2;

/// Leading digits of `text` as a number, saturating at INT64_MAX; the rest is left in `text`.
i64 take_number(string_view &text) {
  i64 n = 0;
  while (!text.empty() && is_digit(text.front())) {
    int d = text.front() - '0';
    n = n > (INT64_MAX - d) / 10 ? INT64_MAX : n * 10 + d;
    text.remove_prefix(1);
  }
  return n;
}

struct ScaledResult {
  std::optional<i64> value;
  std::string error;
};

ScaledResult parse_time(string_view text, i64 default_factor) {
  if (text.empty()) return {{}, "a number with an optional unit (us, ms, s, m, h, d) is missing"};
  string_view rest = text;
  if (!is_digit(rest.front()))
    return {{}, rest.front() == '-' ? "a delay cannot be negative" : "it must start with a digit; units are us, ms, s, m, h, d"};
  i64 n = take_number(rest);
  i64 factor = default_factor;
  if (!rest.empty()) {
    auto unit = std::find_if(std::begin(time_units), std::end(time_units), [&](const Unit &u) { return u.name == rest; });
    if (unit == std::end(time_units)) {
      if (rest.front() == '.') return {{}, "fractions are not allowed: use a smaller unit (us, ms, s, m, h, d)"};
      return {{}, "'" + std::string(rest) + "' is not a unit of time; units are us, ms, s, m, h, d"};
    }
    factor = unit->factor;
  }
  if (n > max_delay_us / factor) return {{}, "it is too long"};
  return {n * factor, {}};
}

} // namespace

DelayResult parse_delay(string_view text) {
  ScaledResult us = parse_time(text, 1000);
  if (!us.value) return {{}, std::move(us.error)};
  i64 ms = (*us.value + 999) / 1000;
  if (ms > INT32_MAX) return {{}, "it is longer than 2147483647 ms (about 24.8 days)"};
  return {ms, {}};
}

std::optional<i64> parse_delay_us(string_view text) { return parse_time(text, 1).value; }

std::optional<u64> parse_size(string_view text) {
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  i64 n = take_number(text);
  if (n == INT64_MAX) return std::nullopt;
  if (text.empty()) return static_cast<u64>(n);
  for (const Unit &u : size_units)
    if (iequals(u.name, text)) return n > INT64_MAX / u.factor ? std::nullopt : std::optional<u64>(n * u.factor);
  return std::nullopt;
}

// ------------------------------------------------------------------------------------------- Words

Place Words::place_of(size_t index) const {
  Place p = line_;
  if (index < words_.size()) p.column = words_[index].column;
  else if (!words_.empty()) p.column = static_cast<u16>(std::min<size_t>(words_.back().column + words_.back().text.size(), 65535));
  return p;
}
Place Words::place() const { return place_of(at_); }

void Words::alert_last(std::string text, std::string hint) {
  diags_->alert(place_of(at_ > 0 ? at_ - 1 : 0), std::move(text), std::move(hint));
}

static std::string expects(string_view subject, string_view what) {
  return "'" + std::string(subject) + "' expects " + std::string(what);
}

std::optional<string_view> Words::need(string_view what) {
  if (!at_end()) return next();
  alert(expects(subject_, what) + ", but the line ends here");
  return std::nullopt;
}

std::optional<i64> Words::need_int(string_view what, i64 min, i64 max) {
  auto word = need(what);
  if (!word) return std::nullopt;
  auto value = parse_i64(*word);
  if (!value) {
    alert_last(expects(subject_, what) + ", got '" + std::string(*word) + "'");
    return std::nullopt;
  }
  if (*value < min || *value > max) {
    std::string range = max == INT64_MAX ? "at least " + std::to_string(min) : "from " + std::to_string(min) + " to " + std::to_string(max);
    alert_last(expects(subject_, what) + ' ' + range + ", got '" + std::string(*word) + "'");
    return std::nullopt;
  }
  return value;
}

std::optional<Millis> Words::need_delay(string_view what) {
  auto word = need(what);
  if (!word) return std::nullopt;
  DelayResult r = parse_delay(*word);
  if (!r.value) {
    alert_last(expects(subject_, what) + " such as 30s, got '" + std::string(*word) + "'", r.error);
    return std::nullopt;
  }
  constexpr string_view units[] = {"us", "ms", "s", "m", "h", "d"};
  if (is_digit(word->back()) && std::find(std::begin(units), std::end(units), peek()) != std::end(units)) {
    alert(expects(subject_, what) + ", got '" + std::string(*word) + " " + std::string(peek()) + "'",
          "write " + std::string(*word) + std::string(peek()));
    next();
    return std::nullopt;
  }
  return r.value;
}

std::optional<u64> Words::need_size(string_view what) {
  auto word = need(what);
  if (!word) return std::nullopt;
  auto value = parse_size(*word);
  if (!value) alert_last(expects(subject_, what) + " such as 16k (units are k, m, g), got '" + std::string(*word) + "'");
  return value;
}

bool Words::end() {
  if (at_end()) return true;
  std::string text = "unexpected word '" + std::string(peek()) + "'";
  if (!subject_.empty()) text += " after '" + std::string(subject_) + "'";
  alert(std::move(text));
  at_ = words_.size();
  return false;
}

// ---------------------------------------------------------------------------------------- NearMiss

void NearMiss::consider(string_view candidate) {
  if (word_.size() < 2 || candidate.empty() || candidate.size() > 63 || word_.size() > 63) return;
  // A third of the letters may be wrong, and a longer word that begins with what was written is near too.
  unsigned limit = static_cast<unsigned>(std::max<size_t>(std::max(word_.size(), candidate.size()) / 3, 1));
  unsigned distance = edit_distance(word_, candidate, limit + 1);
  if (candidate.size() > word_.size() && word_.size() >= 3 && istarts_with(candidate, word_)) distance = std::min(distance, 2u);
  if (distance > limit || distance >= candidate.size()) return;
  for (const Found &f : best_)
    if (f.name == candidate) return;
  auto at = std::upper_bound(best_.begin(), best_.end(), distance, [](unsigned d, const Found &f) { return d < f.distance; });
  best_.insert(at, {candidate, distance});
  if (best_.size() > 3) best_.pop_back();
}

std::string NearMiss::hint() const {
  if (best_.empty()) return {};
  std::string out = "did you mean ";
  size_t n = 0;
  for (const Found &f : best_) {
    if (n > 0 && f.distance > best_.front().distance) break; // only names that are as near as the nearest
    if (n++ > 0) out += " or ";
    out += "'" + std::string(f.name) + "'";
  }
  return out + "?";
}

} // namespace penstock
