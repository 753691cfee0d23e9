// SPDX-License-Identifier: BSD-2-Clause
// `option external-check`: a program decides. Started without a shell and with a clean environment;
// its exit status is the answer. The end of the child is waited for through a pidfd on the loop.
#pragma once

#include "shared/model/proxy.h"
#include "worker/check/runner.h"

namespace penstock {

class ExternalRun : Pinned {
 public:
  ExternalRun(Loop &loop, const Server &server, const CheckSettings &settings, bool keep_environment = false);
  ~ExternalRun();
  void start(const Address &target, u32 current_connections, Millis limit);
  void cancel(); // kills the child and forgets it
  bool running() const { return pid_ > 0; }

  void (*on_done)(ExternalRun &run, void *owner) = nullptr;
  void *owner = nullptr;
  CheckResult result;
  const Server &server;

 private:
  struct Io : IoHandle { ExternalRun *run = nullptr; };
  struct Clock : Timer { ExternalRun *run = nullptr; };
  void finish(CheckStatus status, std::string info, u16 code);
  void reap(bool timed_out);

  Loop &loop_;
  const CheckSettings &settings_;
  const bool keep_environment_;
  Io io_;
  Clock clock_;
  int pid_ = 0;
  i64 started_us_ = 0;
};

} // namespace penstock
