// SPDX-License-Identifier: BSD-2-Clause
// Builds what a worker keeps beside the configuration.
#include "worker/runtime.h"

#include <sys/resource.h>
#include <unistd.h>

#include "shared/shm/stick_table.h"
#include "worker/net/listener.h"
#include "worker/stream/client_session.h"
#include "worker/stream/flow.h"

namespace penstock {

Runtime *runtime = nullptr;

namespace {

H1Limits limits(const Config &config, bool relaxed, const HeaderCase *spelling) {
  H1Limits l;
  l.payload_with_any_method = config.global.h1_accept_payload_with_any_method;
  l.both_lengths = config.global.h1_keep_open_on_insecure_te;
  l.spelling = spelling;
  l.max_head_bytes = config.global.tune.bufsize - config.global.tune.maxrewrite;
  l.max_fields = config.global.tune.http_maxhdr;
  l.relaxed = relaxed;
  return l;
}

} // namespace

Runtime::Runtime(const WorkerStart &start)
    : buffers(start.config->global.tune.bufsize), waiters(*start.service, start.slot) {
  config = start.config, service = start.service;
  slot = start.slot, index = start.index, worker_count = start.worker_count, generation = start.generation, log_pid = start.log_pid;
  process = &service->slot(slot).process;
  service->slot(slot).pid = getpid();
  service_row = &service->row();
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  descriptor_limit = descriptors.rlim_cur;
  runtime = this;
  set_this_worker(this);
  proxies.resize(config->proxies.size());
  servers.resize(config->server_count);
  header_case = HeaderCase(config->global.h1_case_adjust);
  for (const auto &p : config->proxies) add_proxy(*p);
  for (const auto &t : config->tables)
    if (t->live != nullptr) t->live->use_slot(slot);
}

void Runtime::add_proxy(const Proxy &p) {
  ProxyState &state = proxies[p.index];
  state.proxy = &p;
  auto spelling = [&](Opt o) { return p.has(o) ? &header_case : nullptr; };
  state.request_limits = limits(*config, p.has(Opt::AcceptUnsafeRequest), spelling(Opt::H1CaseAdjustBogusClient));
  state.response_limits = limits(*config, p.has(Opt::AcceptUnsafeResponse), spelling(Opt::H1CaseAdjustBogusServer));
  if (p.is_frontend) {
    state.front = &service->proxy(p.front_row);
    state.front_counters = &service->proxy_cell(slot, p.front_row).counters;
  }
  if (!p.is_backend) return;
  state.back = &service->proxy(p.back_row);
  state.back_counters = &service->proxy_cell(slot, p.back_row).counters;
  state.farm = std::make_unique<Farm>(*service, slot, p, waiters);
  if (p.cookie != nullptr) state.persistence = std::make_unique<Persistence>(*service, p);
  for (const auto &s : p.servers) add_server(*s);
  if (p.direct) add_server(*p.direct);
}

void Runtime::add_server(const Server &s) {
  auto server = std::make_unique<ServerState>();
  server->server = &s;
  server->row = &service->server(s.row);
  server->counters = &service->server_cell(slot, s.row).counters;
  if (s.global_index >= servers.size()) servers.resize(s.global_index + 1);
  servers[s.global_index] = std::move(server);
}

Runtime::~Runtime() = default;

} // namespace penstock
