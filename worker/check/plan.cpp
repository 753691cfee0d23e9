// SPDX-License-Identifier: BSD-2-Clause
// From the configuration's check lines to a plan.
#include "worker/check/plan.h"

#include "shared/base/text.h"

namespace penstock {

static std::string from_hex(string_view text) {
  std::string out;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    out += static_cast<char>(hex_digit(text[i]) << 4 | hex_digit(text[i + 1]));
  return out;
}

static PlanStep plan_step(const CheckStep &s) {
  PlanStep p;
  p.kind = s.kind;
  p.conf = &s;
  std::string error; // the parser has compiled the expression before: it cannot fail here
  switch (s.kind) {
    case CheckStep::Send:
      if (!s.is_format) p.bytes = s.data;
      break;
    case CheckStep::SendBinary:
      if (!s.is_format) p.bytes = from_hex(s.data);
      break;
    case CheckStep::Expect:
      if (s.match == CheckStep::Binary) p.binary = from_hex(s.pattern);
      if (s.match == CheckStep::Regex || s.match == CheckStep::BinaryRegex || s.match == CheckStep::RStatus)
        p.regex = Regex::compile(s.pattern, false, error);
      if (s.name_match == "reg") p.name_regex = Regex::compile(s.pattern, false, error);
      if (s.value_match == "reg") p.regex = Regex::compile(s.pattern2, false, error);
      break;
    default: break;
  }
  return p;
}

static string_view plan_name(CheckKind k) {
  switch (k) {
    case CheckKind::Http: return "http-check";
    case CheckKind::TcpScript: return "tcp-check";
    default: return "check";
  }
}

std::unique_ptr<CheckPlan> make_plan(const CheckSettings *settings) {
  auto plan = std::make_unique<CheckPlan>();
  if (settings == nullptr) {
    plan->steps.push_back(PlanStep::of(CheckStep::Connect));
    return plan;
  }
  plan->kind = settings->kind;
  plan->name = plan_name(settings->kind);
  plan->disable_on_404 = settings->disable_on_404;
  plan->http = settings->kind == CheckKind::Http;
  bool scripted = settings->kind == CheckKind::Http || settings->kind == CheckKind::TcpScript;
  if (scripted)
    for (const CheckStepPtr &s : settings->steps) plan->steps.push_back(plan_step(*s));
  else
    add_named_protocol(*settings, plan->steps);

  bool connects = false, expects = false;
  for (const PlanStep &s : plan->steps) {
    // set-var and comment lines may stand before the implicit connection
    connects = connects || s.kind == CheckStep::Connect;
    expects = expects || s.kind == CheckStep::Expect;
  }
  if (!connects) plan->steps.insert(plan->steps.begin(), PlanStep::of(CheckStep::Connect));
  plan->default_expect = plan->http && !expects;
  if (plan->default_expect) plan->steps.push_back(PlanStep::of(CheckStep::Expect));
  return plan;
}

static string_view match_word(CheckStep::Match m) {
  switch (m) {
    case CheckStep::String: case CheckStep::StringFormat: return "string";
    case CheckStep::Regex: return "regex";
    case CheckStep::Binary: case CheckStep::BinaryFormat: return "binary";
    case CheckStep::BinaryRegex: return "binary regex";
    case CheckStep::Status: return "HTTP status codes";
    case CheckStep::RStatus: return "HTTP status regex";
    case CheckStep::Header: return "HTTP header pattern";
    case CheckStep::FHeader: return "HTTP full header pattern";
  }
  return "";
}

std::string describe(const PlanStep &s) {
  switch (s.kind) {
    case CheckStep::Connect: return "connect";
    case CheckStep::Send: case CheckStep::SendBinary: case CheckStep::SendHttp: return "send";
    case CheckStep::Expect: {
      if (s.conf == nullptr) return "expect";
      std::string out = std::string("expect ") + (s.conf->negate ? "! " : "") + std::string(match_word(s.conf->match));
      if (s.conf->match == CheckStep::String || s.conf->match == CheckStep::Binary || s.conf->match == CheckStep::Status) out += " '" + s.conf->pattern + "'";
      return out;
    }
    default: return "set";
  }
}

} // namespace penstock
