// SPDX-License-Identifier: BSD-2-Clause
// Control's side of worker/cli/question.h: an answer of the runtime socket that comes from workers, asked
// one after the other. A worker that dies or stays silent is passed over.
#pragma once

#include "worker/cli/cli_session.h"
#include "worker/cli/question.h"

namespace penstock {

class Interview : public CliAnswer {
 public:
  /// Asks the workers of these slots. `say_end` adds what stands after all answers, given their number of streams.
  Interview(CliCall &call, QuestionHead question, std::vector<u32> slots, void (*say_end)(std::string &out, u64 count));
  ~Interview() override;
  More next(std::string &out) override;

  /// From the hook: a message of a worker, and the death of one.
  static void take(const Message &message);
  static void worker_died(u32 slot);

 private:
  void ask();
  void pass_over();
  struct Clock : Timer { Interview *interview; } clock_;

  Control &control_;
  u64 session_;
  QuestionHead question_;
  std::vector<u32> slots_;
  void (*say_end_)(std::string &, u64);
  size_t at_ = 0;
  bool waiting_ = false;
  std::string text_;
  u64 count_ = 0;
};

/// Every worker of every living generation.
std::vector<u32> all_worker_slots(const Service &service);

} // namespace penstock
