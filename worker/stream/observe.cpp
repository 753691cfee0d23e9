// SPDX-License-Identifier: BSD-2-Clause
// Passive health (manual, "observe", "error-limit"): traffic's own view of a server. Errors in a row are
// counted over all workers in its row; the control process, which owns health, acts at the limit.
#include "worker/stream/attempt.h"

namespace penstock {

void report_server_error(Stream &s, bool http) {
  ServerState *server = server_state(s);
  if (server == nullptr) return;
  const ServerOptions &o = *server->server->options;
  if (o.observe == ObserveMode::None || (http && o.observe != ObserveMode::Layer7)) return;
  server->row->consecutive_errors.fetch_add(1, std::memory_order_relaxed);
}

void report_server_success(Stream &s, bool http) {
  ServerState *server = server_state(s);
  if (server == nullptr || (server->server->options->observe == ObserveMode::Layer7) != http) return;
  std::atomic<u32> &errors = server->row->consecutive_errors;
  if (errors.load(std::memory_order_relaxed) != 0) errors.store(0, std::memory_order_relaxed);
}

} // namespace penstock
