// SPDX-License-Identifier: BSD-2-Clause
#include "farm_fixture.h"

#include <map>

using namespace penstock;
using namespace penstock::test;

TEST_CASE("round robin is exact over two worker processes") {
  FarmFixture f({1, 1, 1, 1});
  f.assign();
  pid_t workers[2];
  for (pid_t &pid : workers)
    pid = in_child([&] {
      TestWorker w(f);
      for (int i = 0; i < 2000; i++) {
        PickResult r = w.farm.pick({});
        if (r.outcome != PickOutcome::Chosen) _exit(1);
        w.farm.counters(*r.server).selected++;
        w.farm.release(*r.server);
      }
    });
  for (pid_t pid : workers) CHECK(wait_for(pid) == 0);
  for (u32 i = 0; i < 4; i++) {
    CHECK(f.service->sum_server(f.server(i).row).selected.get() == 1000);
    CHECK(f.row(i).served.count() == 0);
  }
}

TEST_CASE("weights decide how often, and turns are spread") {
  FarmFixture f({1, 2, 5});
  f.assign();
  TestWorker w(f);
  std::string order;
  for (int i = 0; i < 16; i++) order += w.farm.pick({}).server->name.back();
  std::map<char, int> count;
  for (char c : order) count[c]++;
  CHECK(count['1'] == 2);
  CHECK(count['2'] == 4);
  CHECK(count['3'] == 10);
  CHECK(order.find("333") == std::string::npos);
}

TEST_CASE("backups serve when nobody else does, all of them with allbackups") {
  FarmFixture f({1, 1, 1});
  f.options(1).backup = f.options(2).backup = true;
  f.assign();
  ServerStates states(*f.service, f.config);
  TestWorker w(f);
  CHECK(w.farm.pick({}).server == &f.server(0));
  states.set_down(f.server(0), 1000);
  CHECK(w.farm.pick({}).server == &f.server(1));
  CHECK(w.farm.pick({}).server == &f.server(1));
  f.backend->set(Opt::Allbackups, true);
  states.maintain(f.server(1), 1000);
  CHECK(w.farm.pick({}).server == &f.server(2));
  states.make_ready(f.server(1), 1000);
  const Server *a = w.farm.pick({}).server, *b = w.farm.pick({}).server;
  CHECK(a != b);
  states.set_down(f.server(1), 1000);
  states.set_down(f.server(2), 1000);
  CHECK(w.farm.pick({}).outcome == PickOutcome::NoServer);
  states.set_up(f.server(0), 1000);
  CHECK(w.farm.pick({}).server == &f.server(0));
}

TEST_CASE("least connections goes by load and weight") {
  FarmFixture f({1, 1, 2});
  f.backend->balance.algorithm = BalanceAlgorithm::LeastConn;
  f.assign();
  TestWorker w(f);
  for (int i = 0; i < 40; i++) CHECK(w.farm.pick({}).outcome == PickOutcome::Chosen);
  CHECK(f.row(0).served.count() == 10);
  CHECK(f.row(1).served.count() == 10);
  CHECK(f.row(2).served.count() == 20);
  for (int i = 0; i < 5; i++) w.farm.release(f.server(1));
  for (int i = 0; i < 5; i++) CHECK(w.farm.pick({}).server == &f.server(1));
}

TEST_CASE("least connections is exact over worker processes that only take") {
  FarmFixture f({1, 1, 1, 1});
  f.backend->balance.algorithm = BalanceAlgorithm::LeastConn;
  f.assign();
  std::vector<pid_t> workers;
  for (int n = 0; n < 4; n++)
    workers.push_back(in_child([&] {
      TestWorker w(f);
      for (int i = 0; i < 1000; i++) w.farm.pick({});
    }));
  for (pid_t pid : workers) CHECK(wait_for(pid) == 0);
  for (u32 i = 0; i < 4; i++) CHECK(f.row(i).served.count() == 1000);
}

TEST_CASE("least connections does not look at every server while some are idle") {
  auto time_of_picks = [](size_t servers) {
    FarmFixture f(std::vector<u32>(servers, 1));
    f.backend->balance.algorithm = BalanceAlgorithm::LeastConn;
    f.assign();
    TestWorker w(f);
    for (size_t i = 0; i < servers; i++) w.farm.release(*w.farm.pick({}).server); // touches all memory once
    i64 best = INT64_MAX;
    for (int round = 0; round < 5; round++) {
      i64 began = monotonic_us();
      for (int i = 0; i < 2000; i++) w.farm.release(*w.farm.pick({}).server);
      best = std::min(best, monotonic_us() - began);
    }
    return std::max<i64>(20, best);
  };
  time_of_picks(8);
  CHECK(time_of_picks(4096) < 100 * time_of_picks(8)); // a linear search would take 512 times as long
}

TEST_CASE("first fills by id up to maxconn; then requests wait") {
  FarmFixture f({1, 1}, 2);
  f.backend->balance.algorithm = BalanceAlgorithm::First;
  f.assign();
  TestWorker w(f);
  CHECK(w.farm.pick({}).server == &f.server(0));
  CHECK(w.farm.pick({}).server == &f.server(0));
  CHECK(w.farm.pick({}).server == &f.server(1));
  CHECK(w.farm.pick({}).server == &f.server(1));
  CHECK(w.farm.pick({}).outcome == PickOutcome::Wait);
  w.farm.release(f.server(0));
  CHECK(w.farm.pick({}).server == &f.server(0));
}

TEST_CASE("maxconn holds over worker processes") {
  FarmFixture f({1, 1, 1}, 7);
  f.assign();
  std::vector<pid_t> workers;
  for (int n = 0; n < 4; n++)
    workers.push_back(in_child([&] {
      TestWorker w(f);
      for (int i = 0; i < 6000; i++) {
        std::vector<const Server *> mine;
        for (int k = 0; k < 24; k++)
          if (PickResult r = w.farm.pick({}); r.outcome == PickOutcome::Chosen) mine.push_back(r.server);
        for (u32 s = 0; s < 3; s++)
          if (f.row(s).served.count() > 7) _exit(2);
        for (const Server *s : mine) w.farm.release(*s);
      }
    }));
  for (pid_t pid : workers) CHECK(wait_for(pid) == 0);
  for (u32 i = 0; i < 3; i++) {
    CHECK(f.row(i).served.count() == 0);
    CHECK(f.row(i).sess_max.load() == 7);
  }
}

TEST_CASE("a redispatch avoids the server that failed") {
  FarmFixture f({1, 1});
  f.assign();
  TestWorker w(f);
  for (int i = 0; i < 10; i++) CHECK(w.farm.pick({.avoid = &f.server(0)}).server == &f.server(1));
}
