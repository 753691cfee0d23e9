// SPDX-License-Identifier: BSD-2-Clause
// A service, a backend with servers, and processes that act as its workers.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "shared/model/config.h"
#include "shared/shm/server_state.h"
#include "worker/lb/farm.h"

namespace penstock::test {

struct FarmFixture {
  Config config;
  std::unique_ptr<Service> service;
  Proxy *backend = nullptr;

  explicit FarmFixture(std::vector<u32> weights, u32 maxconn = 0) {
    std::string error;
    service = Service::create(error);
    REQUIRE_MESSAGE(service, error);
    auto proxy = std::make_unique<Proxy>();
    backend = proxy.get();
    backend->name = "b";
    backend->is_backend = true;
    for (u32 w : weights) {
      auto options = std::make_shared<ServerOptions>();
      options->weight = w;
      options->maxconn = maxconn;
      auto server = std::make_unique<Server>();
      server->index = static_cast<u32>(backend->servers.size());
      server->id = server->index + 1;
      server->name = "s" + std::to_string(server->id);
      server->proxy = backend;
      server->options = options;
      backend->servers.push_back(std::move(server));
    }
    config.proxies.push_back(std::move(proxy));
  }
  void assign() {
    std::string error;
    REQUIRE_MESSAGE(service->assign_rows(config, error), error);
  }
  ServerOptions &options(u32 i) { return const_cast<ServerOptions &>(*backend->servers[i]->options); }
  const Server &server(u32 i) const { return *backend->servers[i]; }
  ServerRow &row(u32 i) const { return service->server(backend->servers[i]->row); }
};

/// A worker's view.
struct TestWorker {
  u32 slot;
  WaiterPool waiters;
  Farm farm;
  explicit TestWorker(FarmFixture &f) : slot(*f.service->claim_slot(1, 0)), waiters(*f.service, slot), farm(*f.service, slot, *f.backend, waiters) {}
};

/// Runs `body` in a child, which ends with exit(0) unless it is killed.
inline pid_t in_child(const std::function<void()> &body) {
  pid_t pid = fork();
  if (pid == 0) {
    body();
    _exit(0);
  }
  return pid;
}
inline int wait_for(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

} // namespace penstock::test
