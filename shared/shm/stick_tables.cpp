// SPDX-License-Identifier: BSD-2-Clause
#include "shared/shm/stick_tables.h"

#include <algorithm>
#include <iterator>

#include "shared/model/config.h"

namespace penstock {

void TableSet::attach(const std::vector<int> &fds) {
  std::string error;
  for (int fd : fds)
    if (auto table = StickTable::attach(fd, error)) old_.push_back(std::move(table)); // another build's begin anew
}

bool TableSet::assign(Config &config, std::string &error) {
  old_.insert(old_.end(), std::make_move_iterator(current_.begin()), std::make_move_iterator(current_.end()));
  current_.clear();
  for (auto &def : config.tables) {
    auto known = std::find_if(old_.begin(), old_.end(), [&](const auto &t) { return t->name() == def->name; });
    std::unique_ptr<StickTable> table;
    if (known != old_.end() && (*known)->fits(*def) && (*known)->adopt(*def)) {
      table = std::move(*known);
      old_.erase(known);
    } else {
      table = StickTable::create(*def, error);
      if (table == nullptr) return false;
      if (known != old_.end() && (*known)->same_kind(*def)) table->copy_from(**known);
    }
    def->live = table.get();
    current_.push_back(std::move(table));
  }
  return true;
}

void TableSet::commit() {
  for (auto &t : current_) t->apply_limits();
}

void TableSet::fold_slot(u32 slot) {
  for (auto *list : {&current_, &old_})
    for (auto &t : *list) t->fold_slot(slot);
}

std::vector<int> TableSet::descriptors() const {
  std::vector<int> out;
  for (auto *list : {&current_, &old_})
    for (auto &t : *list) out.push_back(t->fd());
  return out;
}

} // namespace penstock
