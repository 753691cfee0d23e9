// SPDX-License-Identifier: BSD-2-Clause
// Plays a plan against one server: a small state machine over one socket, driven by the control
// process' loop. Who owns it (checker.cpp) starts it, gets `on_done` exactly once per run, and decides
// what the result means.
#pragma once

#include "shared/http/message.h"
#include "shared/model/server.h"
#include "worker/check/plan.h"
#include "worker/event/loop.h"
#include "shared/expr/eval.h"

namespace penstock {

struct VarNode; // worker/stream/vars.h

struct CheckResult {
  CheckStatus status = CheckStatus::Unknown;
  u16 code = 0;
  u32 duration_ms = 0;
  std::string info;
  bool passed() const {
    return status == CheckStatus::L4Ok || status == CheckStatus::L6Ok || status == CheckStatus::L7Ok || status == CheckStatus::L7OkConditional ||
           status == CheckStatus::ProcessOk;
  }
};

/// Where a check connects to: the server's present address, `addr`, `port`.
struct CheckTarget {
  Address address;
  bool send_proxy = false; // in the server's version
};
/// What the configuration says about all checks.
struct CheckHabits {
  u64 max_vars_bytes = 0;        // tune.vars.check-max-size
  bool never_send_local = false; // pp2-never-send-local
};

struct CheckRun : Pinned {
  CheckRun(Loop &loop, const CheckPlan &plan, const Server &server, CheckHabits habits = {});
  ~CheckRun();

  /// Starts a run; `connect_limit` bounds the connection, `total_limit` what follows it.
  void start(const CheckTarget &target, Millis connect_limit, Millis total_limit);
  /// Ends it without a result.
  void cancel();
  bool running() const { return running_; }

  void (*on_done)(CheckRun &run, void *owner) = nullptr;
  void *owner = nullptr;
  CheckResult result;

  const CheckPlan &plan;
  const Server &server;

  // what fetches of the check phase read
  const HttpMessage *response = nullptr;
  string_view response_body;
  VarNode *vars = nullptr;
  u64 vars_bytes = 0;
  Arena arena{1024}; // reset when a run starts

  EvalContext context();
  /// "text at step 3 of tcp-check (expect string 'foo')", as messages show a step.
  std::string where(string_view text) const;

  /// The bytes to send for an `http-check send` step.
  std::string http_request(const CheckStep &step);
  /// What to send in place of the plan's own bytes (`set server … agent-send`); empty: nothing is set.
  std::string send_instead;
  /// Text that `http-check send-state` puts into the request; set by the owner.
  std::string send_state;

 private:
  struct Io : IoHandle { CheckRun *run = nullptr; };
  struct Clock : Timer { CheckRun *run = nullptr; };
  static void on_io(IoHandle &h, u32 events);
  static void on_clock(Timer &t);

  void advance();
  bool do_connect(const PlanStep &step);
  bool do_send();
  bool do_expect(const PlanStep &step);
  void load_output(const PlanStep &step);
  void set_variable(const CheckStep &step);
  void timed_out();
  void finish(CheckStatus status, std::string info, u16 code = 0);
  void close_socket();
  u32 step_number() const { return static_cast<u32>(step_ + 1); }

  void put_proxy_header();

  Loop &loop_;
  const CheckHabits habits_;
  Io io_;
  Clock clock_;
  CheckTarget target_;
  Address connected_to_;
  Millis connect_limit_ = 0, total_limit_ = 0;
  i64 started_us_ = 0;
  size_t step_ = 0;
  std::string out_, in_;
  size_t sent_ = 0;
  bool running_ = false, connecting_ = false, prepared_ = false, peer_closed_ = false, writable_ = false;
  Expectation last_;
};

} // namespace penstock
