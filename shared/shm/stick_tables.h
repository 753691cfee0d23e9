// SPDX-License-Identifier: BSD-2-Clause
// All stick tables of a service, as the master keeps them: found by name, kept over reloads and
// re-executions. A table of an earlier configuration that the new one does not name is held on to while
// processes that use it live.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "shared/shm/stick_table.h"

namespace penstock {

struct Config;

class TableSet : Pinned {
 public:
  /// The tables of the image executed before.
  void attach(const std::vector<int> &fds);
  /// Gives each table of `config` its memory: the one that it had, as far as its keys are the same.
  bool assign(Config &config, std::string &error);
  /// The configuration is in force: sizes and expiry are its own now.
  void commit();
  /// What nobody uses any more.
  void forget_old() { old_.clear(); }
  void fold_slot(u32 slot);
  std::vector<int> descriptors() const;

 private:
  std::vector<std::unique_ptr<StickTable>> current_, old_;
};

} // namespace penstock
