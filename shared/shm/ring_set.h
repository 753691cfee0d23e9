// SPDX-License-Identifier: BSD-2-Clause
// The rings of a service, as the master keeps them: found by name, kept over reloads and re-executions,
// so that the lines of workers that still finish reach the forwarder of the new generation.
#pragma once

#include <vector>

#include "shared/shm/ring_buffer.h"

namespace penstock {

struct Config;

class RingSet : Pinned {
 public:
  /// The rings of the image executed before.
  void attach(const std::vector<int> &fds);
  /// Gives each ring of `config` its memory: the one that it had, if the size is the same.
  bool assign(Config &config, std::string &error);
  std::vector<int> descriptors() const;

 private:
  std::vector<std::unique_ptr<RingBuffer>> rings_;
};

} // namespace penstock
