// SPDX-License-Identifier: BSD-2-Clause
// A check as a list of moves: connect, send, expect. `option tcp-check` and `http-check` lines say
// theirs; the named protocols (smtpchk, mysql-check, …) are written in the same moves (probes.cpp).
// Made once per backend when the control process starts; runner.h plays it against a server.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "shared/base/regex.h"
#include "shared/model/check.h"
#include "shared/model/check_status.h"

namespace penstock {

struct CheckRun;

/// What an expectation says of the bytes that are there.
struct Expectation {
  enum What : u8 { NeedMore, Match, Fail } what = NeedMore;
  CheckStatus status = CheckStatus::L7Ok; // of Fail, and of the whole check when the last step matched
  u16 code = 0;                           // layer 5-7 code to show; 0: none
  std::string info;                       // for people
  static Expectation need_more() { return {}; }
  static Expectation ok(std::string info = {}, u16 code = 0) { return {Match, CheckStatus::L7Ok, code, std::move(info)}; }
  static Expectation fail(CheckStatus s, std::string info, u16 code = 0) { return {Fail, s, code, std::move(info)}; }
};

/// The expectation of a named protocol. `in` starts where the previous step ended; a probe that takes
/// only a part of it sets `taken`. `closed`: nothing more will come.
using Probe = Expectation (*)(string_view in, bool closed, size_t &taken);

struct PlanStep {
  CheckStep::Kind kind = CheckStep::Comment;
  const CheckStep *conf = nullptr; // the configuration's line; null in named protocols
  std::string bytes;               // of Send, when constant
  Probe probe = nullptr;           // of Expect in a named protocol
  std::shared_ptr<const Regex> regex, name_regex; // compiled patterns of Expect
  std::string binary;              // decoded pattern of `expect binary`

  static PlanStep of(CheckStep::Kind kind) {
    PlanStep s;
    s.kind = kind;
    return s;
  }
};

struct CheckPlan {
  CheckKind kind = CheckKind::Connect;
  std::vector<PlanStep> steps;
  std::string name;          // "tcp-check", "http-check", … for messages
  bool disable_on_404 = false;
  bool http = false;         // expectations read an HTTP response
  bool default_expect = false; // 2xx and 3xx pass: httpchk without expect lines
};

/// The plan of a backend's checks; `settings` null: a plain connection. `settings` must outlive the plan.
std::unique_ptr<CheckPlan> make_plan(const CheckSettings *settings);

/// The moves of the named protocols, probes.cpp.
void add_named_protocol(const CheckSettings &settings, std::vector<PlanStep> &steps);
/// Matches the bytes of a `tcp-check expect` / `http-check expect` line, expect.cpp.
Expectation match_bytes(const PlanStep &step, string_view in, bool closed, CheckRun &run);
Expectation match_http(const PlanStep &step, string_view in, bool closed, CheckRun &run);
/// 2xx or 3xx (or 404 with disable-on-404): what `option httpchk` expects by itself.
Expectation match_http_default(string_view in, bool closed, CheckRun &run);
/// "expect string 'foo'": a step as messages name it.
std::string describe(const PlanStep &step);

} // namespace penstock
