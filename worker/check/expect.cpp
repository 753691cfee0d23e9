// SPDX-License-Identifier: BSD-2-Clause
// The expectations of `tcp-check expect` and `http-check expect` (manual, section 4.2).
#include <algorithm>

#include "shared/base/text.h"
#include "shared/expr/run.h"
#include "worker/check/runner.h"
#include "worker/http/h1_head.h"

namespace penstock {

namespace {

CheckStatus status_named(const std::string &name, CheckStatus otherwise) {
  for (u8 i = 0; i < static_cast<u8>(CheckStatus::count_); i++)
    if (check_status_infos[i].code == name) return static_cast<CheckStatus>(i);
  return otherwise;
}

std::string text_of(CheckRun &run, const LogFormat &f) {
  EvalContext ctx = run.context();
  return std::string(format(ctx, f, 1024));
}

u16 code_of(CheckRun &run, const CheckStep &c, u16 otherwise) {
  if (!c.status_code) return otherwise;
  EvalContext ctx = run.context();
  Sample s;
  if (!evaluate_as(ctx, *c.status_code, Type::Int, s)) return otherwise;
  return static_cast<u16>(std::clamp<i64>(s.num, 0, 65535));
}

/// `how` one of str beg end sub reg.
bool text_matches(string_view how, string_view text, string_view pattern, const Regex *re, bool ignore_case) {
  if (how == "reg") return re && re->matches(text);
  std::string a = ignore_case ? lower(text) : std::string(text), b = ignore_case ? lower(pattern) : std::string(pattern);
  if (how == "beg") return a.starts_with(b);
  if (how == "end") return a.ends_with(b);
  if (how == "sub") return a.find(b) != std::string::npos;
  return a == b;
}

Expectation conclude(CheckRun &run, const CheckStep &c, bool matched, CheckStatus failure, std::string info, u16 code) {
  code = code_of(run, c, code);
  if (matched != c.negate) {
    Expectation e = Expectation::ok(c.on_success.empty() ? std::string() : text_of(run, c.on_success), code);
    e.status = status_named(c.ok_status, CheckStatus::L7Ok);
    return e;
  }
  if (!c.on_error.empty()) info = text_of(run, c.on_error);
  else if (!c.comment.empty()) info = c.comment;
  return Expectation::fail(status_named(c.error_status, failure), std::move(info), code);
}

bool status_listed(string_view list, u16 status) {
  for (string_view item : split(list, ',')) {
    size_t dash = item.find('-');
    auto low = parse_u64(item.substr(0, dash));
    auto high = dash == string_view::npos ? low : parse_u64(item.substr(dash + 1));
    if (low && high && status >= *low && status <= *high) return true;
  }
  return false;
}

/// A header by the whole line (fhdr: one value per line) or by comma-separated values (hdr).
bool header_matches(const PlanStep &step, CheckRun &run, const HttpMessage &msg) {
  const CheckStep &c = *step.conf;
  std::string name = c.pattern_format.empty() ? c.pattern : text_of(run, c.pattern_format);
  std::string want = c.value_format.empty() ? c.pattern2 : text_of(run, c.value_format);
  bool any_value = want.empty() && c.value_match.empty() && c.value_format.empty();
  for (size_t i = 0; i < msg.size(); i++) {
    if (!text_matches(c.name_match, msg.name(i), name, step.name_regex.get(), true)) continue;
    if (any_value) return true;
    if (c.match == CheckStep::FHeader) {
      if (text_matches(c.value_match, msg.value(i), want, step.regex.get(), false)) return true;
      continue;
    }
    for (string_view v : split(msg.value(i), ','))
      if (text_matches(c.value_match, trim(v), want, step.regex.get(), false)) return true;
  }
  return false;
}

struct HttpAnswer {
  HeadStatus head = HeadStatus::NeedMore;
  HttpMessage message;
  H1Framing framing;
  string_view body;
  bool whole = false; // the body is complete
};

HttpAnswer read_answer(string_view in, bool closed) {
  HttpAnswer a;
  u32 scanned = 0;
  H1Limits limits;
  limits.max_head_bytes = 65536;
  limits.relaxed = true;
  HeadResult r = parse_response_head(in, limits, Method::Get, scanned, a.message, a.framing);
  a.head = r.status;
  if (r.status != HeadStatus::Complete) return a;
  a.body = in.substr(r.consumed);
  a.whole = closed || a.framing.kind == BodyKind::None || (a.framing.kind == BodyKind::Length && a.body.size() >= a.framing.length) ||
            (a.framing.kind == BodyKind::Chunked && a.body.find("0\r\n\r\n") != string_view::npos);
  return a;
}

Expectation incomplete(string_view in, bool closed, HeadStatus head) {
  if (head == HeadStatus::Bad || head == HeadStatus::TooLarge) return Expectation::fail(CheckStatus::L7Response, "invalid HTTP response");
  if (!closed) return Expectation::need_more();
  return Expectation::fail(CheckStatus::L7Response, in.empty() ? "connection closed without an answer" : "incomplete HTTP response");
}

bool pattern_found(const PlanStep &step, string_view in, CheckRun &run) {
  const CheckStep &c = *step.conf;
  switch (c.match) {
    case CheckStep::String: return in.find(c.pattern) != string_view::npos;
    case CheckStep::Binary: return in.find(step.binary) != string_view::npos;
    case CheckStep::StringFormat: return in.find(text_of(run, c.pattern_format)) != string_view::npos;
    case CheckStep::BinaryFormat: {
      std::string hex = text_of(run, c.pattern_format), bytes;
      for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes += static_cast<char>(hex_digit(hex[i]) << 4 | hex_digit(hex[i + 1]));
      return in.find(bytes) != string_view::npos;
    }
    case CheckStep::BinaryRegex: {
      std::string hex;
      for (char ch : in) {
        constexpr char digits[] = "0123456789ABCDEF";
        hex += digits[static_cast<u8>(ch) >> 4];
        hex += digits[static_cast<u8>(ch) & 15];
      }
      return step.regex && step.regex->matches(hex);
    }
    default: return step.regex && step.regex->matches(in);
  }
}

} // namespace

Expectation match_bytes(const PlanStep &step, string_view in, bool closed, CheckRun &run) {
  const CheckStep &c = *step.conf;
  bool found = pattern_found(step, in, run);
  // More bytes may change the answer of whatever has not been found, unless min-recv says they may not.
  bool may_wait = !closed && c.min_recv != 0;
  if (c.min_recv > 0 && in.size() < static_cast<size_t>(c.min_recv) && !closed) return Expectation::need_more();
  if (!found && may_wait && !c.negate) return Expectation::need_more();
  return conclude(run, c, found, CheckStatus::L7Response, run.where("TCPCHK did not match content"), 0);
}

Expectation match_http(const PlanStep &step, string_view in, bool closed, CheckRun &run) {
  const CheckStep &c = *step.conf;
  HttpAnswer a = read_answer(in, closed);
  if (a.head != HeadStatus::Complete) return incomplete(in, closed, a.head);
  run.response = &a.message;
  run.response_body = a.body;
  u16 status = a.message.status();
  Expectation out;
  switch (c.match) {
    case CheckStep::Status:
      out = conclude(run, c, status_listed(c.pattern, status), CheckStatus::L7Status, std::string(a.message.reason()), status);
      break;
    case CheckStep::RStatus:
      out = conclude(run, c, step.regex && step.regex->matches(std::to_string(status)), CheckStatus::L7Status, std::string(a.message.reason()), status);
      break;
    case CheckStep::Header:
    case CheckStep::FHeader:
      out = conclude(run, c, header_matches(step, run, a.message), CheckStatus::L7Response, "HTTP header did not match", 0);
      break;
    default: {
      bool found = pattern_found(step, a.body, run);
      if (!found && !a.whole && (c.min_recv < 0 || a.body.size() < static_cast<size_t>(c.min_recv))) out = Expectation::need_more();
      else out = conclude(run, c, found, CheckStatus::L7Response, "HTTP content check did not match", 0);
    }
  }
  if (run.plan.disable_on_404 && status == 404 && out.what == Expectation::Fail) out = {Expectation::Match, CheckStatus::L7OkConditional, 404, {}};
  run.response = nullptr;
  run.response_body = {};
  return out;
}

Expectation match_http_default(string_view in, bool closed, CheckRun &run) {
  HttpAnswer a = read_answer(in, closed);
  if (a.head != HeadStatus::Complete) return incomplete(in, closed, a.head);
  u16 status = a.message.status();
  if (status >= 200 && status < 400) return Expectation::ok({}, status);
  if (status == 404 && run.plan.disable_on_404) return {Expectation::Match, CheckStatus::L7OkConditional, status, {}};
  return Expectation::fail(CheckStatus::L7Status, std::string(a.message.reason()), status);
}

} // namespace penstock
