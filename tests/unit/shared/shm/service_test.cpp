// SPDX-License-Identifier: BSD-2-Clause
#include "tests/unit/worker/lb/farm_fixture.h"

#include <signal.h>
#include <sys/mman.h>

#include <atomic>

using namespace penstock;
using namespace penstock::test;

TEST_CASE("identities keep their rows, also in the next image") {
  std::string error;
  auto s = Service::create(error);
  REQUIRE_MESSAGE(s, error);
  u32 front = s->row_of(RowKind::Frontend, "www"), back = s->row_of(RowKind::Backend, "www");
  CHECK(front != back);
  CHECK(s->row_of(RowKind::Server, "www/s1") == 0);
  CHECK(s->row_of(RowKind::Server, "www/s2") == 1);
  CHECK(s->row_of(RowKind::Frontend, "www") == front);
  u32 slot = *s->claim_slot(1, 0);
  s->server_cell(slot, 1).counters.sessions += 41;
  std::vector<int> fds;
  for (int fd : s->descriptors()) fds.push_back(dup(fd));
  auto next = Service::attach(fds, error);
  REQUIRE_MESSAGE(next, error);
  CHECK(next->row_of(RowKind::Server, "www/s2") == 1);
  CHECK(next->row_of(RowKind::Backend, "www") == back);
  CHECK(next->row_of(RowKind::Server, "www/s3") == 2);
  CHECK(next->sum_server(1).sessions.get() == 41);
  CHECK(*next->claim_slot(2, 0) != slot);
}

TEST_CASE("ten thousand identities") {
  std::string error;
  auto s = Service::create(error);
  for (u32 i = 0; i < 10'000; i++) REQUIRE(s->row_of(RowKind::Server, "backend/server-number-" + std::to_string(i)) == i);
  CHECK(s->server_rows() == 10'000);
}

TEST_CASE("folding keeps totals, drops gauges, frees the slot") {
  FarmFixture f({1});
  f.assign();
  u32 row = f.server(0).row, back = f.backend->back_row;
  for (int round = 1; round <= 3; round++) {
    u32 slot = *f.service->claim_slot(1, 0);
    CHECK(slot == 0);
    f.service->server_cell(slot, row).counters.sessions += 10;
    f.service->server_cell(slot, row).counters.cur_sessions += 3;
    f.service->proxy_cell(slot, back).counters.http_2xx += 7;
    f.service->slot(slot).process.requests += 5;
    CHECK(f.service->sum_server(row).cur_sessions.get() == 3);
    f.service->fold_slot(slot);
    CHECK(f.service->sum_server(row).sessions.get() == 10 * static_cast<u64>(round));
    CHECK(f.service->sum_server(row).cur_sessions.get() == 0);
    CHECK(f.service->sum_proxy(back).http_2xx.get() == 7 * static_cast<u64>(round));
    CHECK(f.service->sum_process().requests.get() == 5 * static_cast<u64>(round));
  }
  u32 slot = *f.service->claim_slot(1, 0);
  f.service->server_cell(slot, row).counters.sessions += 10;
  f.service->clear_counters(true);
  CHECK(f.service->sum_server(row).sessions.get() == 0);
  f.service->server_cell(slot, row).counters.sessions += 2;
  CHECK(f.service->sum_server(row).sessions.get() == 2);
  f.service->fold_slot(slot);
  CHECK(f.service->sum_server(row).sessions.get() == 2);
}

TEST_CASE("sums never go backwards while slots are folded") {
  FarmFixture f({1});
  f.assign();
  u32 row = f.server(0).row;
  std::atomic<u32> *stop = static_cast<std::atomic<u32> *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  pid_t reader = in_child([&] {
    u64 last = 0;
    while (!*stop) {
      u64 now = f.service->sum_server(row).sessions.get();
      if (now < last || now % 1000) _exit(1);
      last = now;
    }
  });
  for (int i = 0; i < 500; i++) {
    u32 slot = *f.service->claim_slot(1, 0);
    f.service->server_cell(slot, row).counters.sessions += 1000;
    f.service->fold_slot(slot);
  }
  *stop = 1;
  CHECK(wait_for(reader) == 0);
  CHECK(f.service->sum_server(row).sessions.get() == 500'000);
}

TEST_CASE("slots taken by a worker that is killed at any moment come back") {
  FarmFixture f({1, 1}, 5);
  f.assign();
  std::vector<pid_t> living;
  // A worker stays and keeps taking and giving, so that counting anew happens against traffic.
  std::atomic<u32> *stop = static_cast<std::atomic<u32> *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  auto traffic = [&](u32 slot) {
    WaiterPool waiters(*f.service, slot);
    Farm farm(*f.service, slot, *f.backend, waiters);
    while (!*stop) {
      PickResult a = farm.pick({}), b = farm.pick({});
      farm.enter();
      if (a.outcome == PickOutcome::Chosen) farm.release(*a.server);
      if (b.outcome == PickOutcome::Chosen) farm.release(*b.server);
      farm.exit();
    }
  };
  for (int i = 0; i < 1; i++) {
    u32 slot = *f.service->claim_slot(1, 0);
    living.push_back(in_child([&] { traffic(slot); }));
  }
  int in_doubt = 0;
  Tick enough = monotonic_ms() + 6000; // on a busy machine fewer kills do
  int kills = 0;
  for (; kills < 300 && monotonic_ms() < enough; kills++) {
    u32 slot = *f.service->claim_slot(1, 0);
    pid_t pid = in_child([&] { traffic(slot); });
    while (f.service->slot(slot).gauge_sequence.load() < 100) sched_yield();
    usleep(static_cast<useconds_t>(kills * 7 % 500));
    kill(pid, SIGKILL);
    wait_for(pid);
    in_doubt += f.service->slot(slot).gauge_sequence.load() & 1;
    f.service->fold_slot(slot);
    REQUIRE(f.row(0).served.count() <= 5);
  }
  *stop = 1;
  for (pid_t pid : living) CHECK(wait_for(pid) == 0);
  MESSAGE(in_doubt << " of " << kills << " died inside a change");
  CHECK(in_doubt > 0);
  CHECK(f.row(0).served.count() == 0);
  CHECK(f.row(1).served.count() == 0);
  CHECK(f.service->proxy(f.backend->back_row).conns.count() == 0);
}

TEST_CASE("what was set at run time outlives a reload that says the same") {
  FarmFixture f({10, 20}, 5);
  f.options(1).disabled = true;
  f.assign();
  ServerStates states(*f.service, f.config);
  states.set_weight(f.server(0), 3, 1);
  states.set_maxconn(f.server(0), 9);
  states.drain(f.server(0), 1);
  states.make_ready(f.server(1), 1);
  f.assign(); // the next generation, same configuration
  CHECK(f.row(0).weight.load() == 3);
  CHECK(f.row(0).maxconn.load() == 9);
  CHECK(is_draining(f.row(0)));
  CHECK(!in_maintenance(f.row(1)));
  f.options(0).weight = 11;
  f.options(1).disabled = false;
  f.assign();
  CHECK(f.row(0).weight.load() == 11);
  CHECK(f.row(0).maxconn.load() == 9);
  f.options(1).disabled = true;
  f.assign();
  CHECK(in_maintenance(f.row(1)));
}
