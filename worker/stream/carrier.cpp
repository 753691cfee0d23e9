// SPDX-License-Identifier: BSD-2-Clause
// See carrier.h.
#include "worker/stream/carrier.h"

namespace penstock {

ServerConnection *CarrierSession::take_kept(const ServerState &server, u64 key) {
  if (kept_ == nullptr) return nullptr;
  ServerConnection *c = kept_;
  kept_ = nullptr;
  c->keeper = nullptr;
  if (&c->server == &server && c->key == key) return c;
  c->end();
  return nullptr;
}

bool CarrierSession::keep(ServerConnection &c) {
  if (over_) return false;
  end_kept();
  c.connection.release_buffers();
  c.keeper = this;
  kept_ = &c;
  return true;
}

} // namespace penstock
