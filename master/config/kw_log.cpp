// SPDX-License-Identifier: BSD-2-Clause
// `log` lines of all sections and the formats of what they carry (manual, sections 4.2 and 8). Formats are
// kept as text: they are compiled when the proxy's mode is known (validate).
#include <algorithm>

#include "master/config/choice.h"
#include "master/config/kw_proxy.h"
#include "master/config/log_formats.h"
#include "shared/base/text.h"

namespace penstock {

namespace {

constexpr Choice<u8> facilities[] = {
    {"kern", 0},    {"user", 1},    {"mail", 2},    {"daemon", 3},  {"auth", 4},    {"syslog", 5},  {"lpr", 6},     {"news", 7},
    {"uucp", 8},    {"cron", 9},    {"auth2", 10},  {"ftp", 11},    {"ntp", 12},    {"audit", 13},  {"alert", 14},  {"cron2", 15},
    {"local0", 16}, {"local1", 17}, {"local2", 18}, {"local3", 19}, {"local4", 20}, {"local5", 21}, {"local6", 22}, {"local7", 23}};
constexpr Choice<u8> levels[] = {{"emerg", 0}, {"alert", 1}, {"crit", 2}, {"err", 3}, {"warning", 4}, {"notice", 5}, {"info", 6}, {"debug", 7}};

constexpr u16 syslog_port = 514;

bool read_target(Words &words, LogTarget &out) {
  string_view w = words.peek();
  if (w == "stdout" || w == "stderr") {
    out.transport = LogTransport::Fd;
    out.fd = w == "stdout" ? 1 : 2;
    words.next();
    return true;
  }
  if (w.starts_with("ring@")) {
    out.transport = LogTransport::Ring;
    out.name = w.substr(w.find('@') + 1);
    words.next();
    return true;
  }
  if (w.starts_with("backend@")) {
    words.alert("logging to a backend is known but not implemented yet");
    return false;
  }
  if (w.starts_with("tcp@") || w.starts_with("tcp4@") || w.starts_with("tcp6@")) {
    words.alert("logging over TCP is known but not implemented yet");
    return false;
  }
  AddressWord a;
  if (!parse_address(words, {.fd = true, .stream = false, .datagram = true, .datagram_default = true}, a)) return false;
  if (a.fd >= 0) {
    out.transport = LogTransport::Fd;
    out.fd = a.fd;
    return true;
  }
  out.address = a.address;
  if (out.address.is_inet() && !a.has_port) out.address.port = syslog_port;
  return true;
}

/// "2-3,8" as inclusive ranges within [1, size].
bool read_ranges(string_view text, LogTarget &out) {
  for (string_view piece : split(text, ',')) {
    size_t dash = piece.find('-');
    auto low = parse_u64(piece.substr(0, dash));
    auto high = dash == string_view::npos ? low : parse_u64(piece.substr(dash + 1));
    if (!low || !high || *low < 1 || *high < *low || *high > out.sample_size) return false;
    for (auto [l, h] : out.sample_ranges)
      if (*low <= h && l <= *high) return false;
    out.sample_ranges.emplace_back(static_cast<u32>(*low), static_cast<u32>(*high));
  }
  return true;
}

bool read_sample(Words &words, LogTarget &out) {
  auto word = words.need("ranges and a size such as 1-3:10");
  if (!word) return false;
  size_t colon = word->find(':');
  u64 size = parse_u64(colon == string_view::npos ? string_view() : word->substr(colon + 1)).value_or(0);
  out.sample_size = static_cast<u32>(std::min<u64>(size, 1'000'000));
  out.sample_ranges.clear();
  if (size >= 1 && size <= 1'000'000 && read_ranges(word->substr(0, colon), out)) return true;
  words.alert_last("'sample' expects ranges and a size such as 1-3,5:10, each range once and within the size, got '" + std::string(*word) + "'");
  return false;
}

bool read_settings(Words &words, LogTarget &out) {
  for (;;) {
    if (words.take("len")) {
      auto v = words.need_int("a length", 80, 65535);
      if (!v) return false;
      out.max_len = static_cast<u32>(*v);
    } else if (words.take("format")) {
      words.set_subject("log format");
      const LogLineFormat *f = need_choice(words, log_line_formats);
      words.set_subject("log");
      if (!f) return false;
      out.format = *f;
    } else if (words.take("sample")) {
      if (!read_sample(words, out)) return false;
    } else if (words.peek() == "profile") {
      words.alert("log profiles are known but not implemented yet");
      return false;
    } else {
      return true;
    }
  }
}

/// A word of `choices`, described as `what`; alerts at anything else.
const u8 *read_word(Words &words, string_view what, std::span<const Choice<u8>> choices) {
  if (const u8 *v = words.at_end() ? nullptr : find_choice(words.peek(), choices)) {
    words.next();
    return v;
  }
  NearMiss near(words.peek());
  for (const auto &c : choices) near.consider(c.word);
  alert_expected(words, what, near.hint());
  return nullptr;
}

void log_global(LineContext &ctx) {
  ctx.words.next();
  if (ctx.section == in_global) return ctx.words.alert_last("'log global' makes no sense in the global section");
  if (!ctx.words.end()) return;
  LogTarget target;
  target.is_global = true;
  ctx.settings->logs.push_back(target);
}

void log(LineContext &ctx) {
  Words &words = ctx.words;
  std::vector<LogTarget> &logs = ctx.section == in_global ? ctx.config.global.logs : ctx.settings->logs;
  if (ctx.negation != Negation::None) {
    if (words.end()) logs.clear();
    return;
  }
  if (words.peek() == "global") return log_global(ctx);
  if (words.at_end()) return words.alert("'log' expects 'global', or a target and a facility");
  LogTarget target;
  target.place = words.line_place();
  if (!read_target(words, target) || !read_settings(words, target)) return;
  const u8 *facility = read_word(words, "a facility (kern user mail daemon auth syslog lpr news uucp cron auth2 ftp ntp audit alert cron2 local0 … local7)", facilities);
  if (!facility) return;
  target.facility = *facility;
  if (!words.at_end()) {
    const u8 *max = read_word(words, "a level (emerg alert crit err warning notice info debug)", levels);
    if (!max) return;
    target.max_level = *max;
  }
  if (!words.at_end()) {
    const u8 *min = read_word(words, "a level (emerg alert crit err warning notice info debug)", levels);
    if (!min) return;
    target.min_level = *min;
  }
  if (words.end()) logs.push_back(std::move(target));
}

void log_tag(LineContext &ctx) {
  auto v = ctx.words.need("a tag");
  if (!v || !ctx.words.end()) return;
  (ctx.section == in_global ? ctx.config.global.log_tag : ctx.settings->log_tag) = *v;
}

/// One word; several mean that blanks were not escaped.
template <auto Text, auto PlaceField> void format_text(LineContext &ctx) {
  Place place = ctx.words.place();
  auto v = ctx.words.need("a log format");
  if (!v) return;
  if (!ctx.words.at_end())
    return ctx.words.alert("'" + std::string(ctx.words.subject()) + "' expects one word, but '" + std::string(ctx.words.peek()) + "' follows",
                           "put the format into quotes, or escape its blanks");
  ctx.settings->*Text = *v;
  ctx.settings->*PlaceField = place;
}

constexpr KeywordDef rows[] = {
    {.name = "error-log-format", .sections = in_front,
     .doc = {"Format of the line for a connection that fails before there is a request.", "", "frontend web\n    error-log-format \"%ci:%cp [%t] %ft failed\""},
     .parse = format_text<&ProxySettings::error_log_format_text, &ProxySettings::error_log_format_place>},
    {.name = "log", .sections = in_global | in_proxies,
     .doc = {"Where log lines go.",
             "'log TARGET [len N] [format F] [sample RANGES:SIZE] FACILITY [LEVEL [MINLEVEL]]'. TARGET is an address (UDP, port 514), a path, fd@N, stdout, stderr or "
             "ring@NAME. Formats: iso local priority raw rfc3164 rfc5424 short timed. 'log global' uses the targets of the global section, 'no log' forgets those "
             "that were inherited.",
             "global\n    log 127.0.0.1:5140 len 4096 format rfc5424 local0 info\ndefaults\n    log global"},
     .parse = log, .negatable = true},
    {.name = "log-format", .sections = in_front,
     .doc = {"Format of the frontend's log lines.", "Literal text, %variables and %[expressions].", "frontend web\n    mode http\n    log-format \"%ci:%cp [%tr] %ST %{+Q}r\""},
     .parse = format_text<&ProxySettings::log_format_text, &ProxySettings::log_format_place>},
    {.name = "log-format-sd", .sections = in_front,
     .doc = {"Structured data of log lines in the format rfc5424.", "", "frontend web\n    mode http\n    log-format-sd '[web@1234 status=\"%ST\"]'"},
     .parse = format_text<&ProxySettings::log_format_sd_text, &ProxySettings::log_format_sd_place>},
    {.name = "log-tag", .sections = in_global | in_proxies,
     .doc = {"The program's name in log lines.", "", "frontend web\n    log-tag shop"}, .parse = log_tag},
    {.name = "unique-id-format", .sections = in_front,
     .doc = {"Format of an ID that each request gets.", "See 'unique-id-header' and the log variable %ID.", "frontend web\n    mode http\n    unique-id-format %{+X}o\\ %ci:%cp_%fi:%fp_%Ts_%rt:%pid"},
     .parse = format_text<&ProxySettings::unique_id_format_text, &ProxySettings::unique_id_format_place>},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> log_keywords() { return rows; }

} // namespace penstock
