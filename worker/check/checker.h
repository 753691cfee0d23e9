// SPDX-License-Identifier: BSD-2-Clause
// Health and agent checks for the whole host: run by the leading control process alone, whose results
// all workers read in shared memory. When leadership moves to a newer generation the old one stops.
#pragma once

#include <memory>

#include "shared/model/config.h"
#include "worker/event/loop.h"

namespace penstock {

class ServerStates;
class Service;

class Checker : Pinned {
 public:
  Checker(Loop &loop, const Config &config, Service &service, ServerStates &states);
  ~Checker();
  /// Begins to check every server that wants it, the first checks spread over their intervals.
  void start();
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace penstock
