// SPDX-License-Identifier: BSD-2-Clause
#include "shared/shm/ring_set.h"

#include <unistd.h>

#include <algorithm>

#include "shared/model/config.h"

namespace penstock {

void RingSet::attach(const std::vector<int> &fds) {
  for (int fd : fds) {
    std::string error; // another build's layout: the ring is made anew, empty
    if (auto ring = RingBuffer::attach(fd, error)) rings_.push_back(std::move(ring));
    else close(fd);
  }
}

bool RingSet::assign(Config &config, std::string &error) {
  for (auto &def : config.rings) {
    auto same = [&](auto &r) { return r->name() == string_view(def->name).substr(0, 63) && r->size() == def->size; };
    auto found = std::find_if(rings_.begin(), rings_.end(), same);
    if (found == rings_.end()) {
      auto made = RingBuffer::create(def->name, def->size, error);
      if (!made) return false;
      found = rings_.insert(rings_.end(), std::move(made));
    }
    def->memory = found->get();
  }
  return true;
}

std::vector<int> RingSet::descriptors() const {
  std::vector<int> out;
  for (auto &r : rings_) out.push_back(r->fd());
  return out;
}

} // namespace penstock
