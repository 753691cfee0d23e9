// SPDX-License-Identifier: BSD-2-Clause
#include "tests/unit/worker/lb/farm_fixture.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <random>

using namespace penstock;
using namespace penstock::test;

namespace {

/// Sleeps until the slot's wake-up descriptor is readable, and empties it.
void await_wake(const Service &s, u32 slot, int timeout_ms = 5000) {
  pollfd p{s.wake_fd(slot), POLLIN, 0};
  poll(&p, 1, timeout_ms);
  u64 n;
  [[maybe_unused]] ssize_t got = read(s.wake_fd(slot), &n, sizeof n);
}

} // namespace

TEST_CASE("waiters are served by class, then arrival and offset") {
  FarmFixture f({1}, 1);
  f.assign();
  TestWorker w(f);
  REQUIRE(w.farm.pick({}).outcome == PickOutcome::Chosen);
  struct Given { i32 cls, offset_ms; i64 now_us; u32 rank; };
  Given given[] = {{0, 0, 1000, 3}, {0, 0, 2000, 4}, {-5, 0, 9000, 1}, {0, -5, 4000, 2}, {7, -500, 1, 5}, {-2047, 0, 9999, 0}};
  std::vector<u32> waiters;
  for (u32 i = 0; i < std::size(given); i++) {
    QueuePlace place;
    CHECK(w.farm.pick({}).outcome == PickOutcome::Wait);
    waiters.push_back(w.farm.join(nullptr, {given[i].cls, given[i].offset_ms}, {i, 0}, given[i].now_us, &place));
    CHECK(place.backend == i);
  }
  for (u32 rank = 0; rank < std::size(given); rank++) {
    w.farm.release(f.server(0));
    u32 called = 0;
    w.waiters.collect([&](u32 waiter, WaiterOwner owner) {
      called++;
      CHECK(given[owner.stream_index].rank == rank);
      CHECK(w.farm.accept(waiter) == &f.server(0));
    });
    CHECK(called == 1);
  }
  w.farm.release(f.server(0));
  CHECK(f.row(0).served.count() == 0);
  CHECK(f.service->proxy(f.backend->back_row).queued.load() == 0);
}

TEST_CASE("a server's own queue and the backend's are one line") {
  FarmFixture f({1, 1}, 1);
  f.assign();
  TestWorker w(f);
  w.farm.pick({}), w.farm.pick({});
  u32 any_first = w.farm.join(nullptr, {}, {1, 0}, 100);
  CHECK(w.farm.pick({.wanted = &f.server(1)}).outcome == PickOutcome::Wait);
  u32 own_second = w.farm.join(&f.server(1), {}, {2, 0}, 200);
  w.farm.release(f.server(1));
  CHECK(w.waiters.state(any_first) == WaiterState::Granted);
  CHECK(w.waiters.state(own_second) == WaiterState::Waiting);
  w.farm.release(f.server(0)); // no use to the second: it waits for the other server
  CHECK(w.waiters.state(own_second) == WaiterState::Waiting);
  CHECK(w.farm.accept(any_first) == &f.server(1));
  w.farm.release(f.server(1));
  CHECK(w.farm.accept(own_second) == &f.server(1));
}

TEST_CASE("the queue is in arrival order over worker processes, and sleepers are woken") {
  FarmFixture f({1}, 1);
  f.assign();
  constexpr u32 workers = 4, rounds = 500;
  struct Shared {
    std::atomic<u32> served{0};
    std::atomic<u32> out_of_order{0};
    std::atomic<u64> last_order{0};
    std::atomic<u32> inside{0};
  };
  auto *shared = new (mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Shared;
  std::vector<pid_t> pids;
  for (u32 n = 0; n < workers; n++) {
    u32 slot = *f.service->claim_slot(1, n);
    pids.push_back(in_child([&] {
      WaiterPool waiters(*f.service, slot);
      Farm farm(*f.service, slot, *f.backend, waiters);
      for (u32 i = 0; i < rounds; i++) {
        PickResult r = farm.pick({});
        const Server *s = r.server;
        if (r.outcome == PickOutcome::Wait) {
          // Arrival is the order of joining: time stands still, ties go by order.
          u32 waiter = farm.join(nullptr, {}, {i, slot}, 1000);
          s = nullptr;
          while (!s) {
            waiters.collect([&](u32 who, WaiterOwner) { if (who == waiter) s = farm.accept(waiter); });
            if (!s) await_wake(*f.service, slot);
          }
          u64 order = f.service->waiter(slot, waiter).order;
          if (order < shared->last_order.exchange(order)) shared->out_of_order++;
        }
        if (shared->inside.fetch_add(1) != 0) _exit(3);
        shared->served++;
        shared->inside.fetch_sub(1);
        farm.release(*s);
      }
    }));
  }
  for (pid_t pid : pids) CHECK(wait_for(pid) == 0);
  CHECK(shared->served == workers * rounds);
  CHECK(shared->out_of_order == 0);
  CHECK(f.row(0).served.count() == 0);
}

TEST_CASE("who gives up returns what was granted to him") {
  FarmFixture f({1}, 1);
  f.assign();
  TestWorker w(f);
  w.farm.pick({});
  u32 a = w.farm.join(nullptr, {}, {1, 0}, 1), b = w.farm.join(nullptr, {}, {2, 0}, 2), c = w.farm.join(nullptr, {}, {3, 0}, 3);
  w.farm.leave(b);
  w.farm.release(f.server(0));
  CHECK(w.waiters.state(a) == WaiterState::Granted);
  w.farm.leave(a); // timeout at the same moment
  CHECK(w.waiters.state(c) == WaiterState::Granted);
  u32 called = 0;
  w.waiters.collect([&](u32 waiter, WaiterOwner) { called++; CHECK(waiter == c); });
  CHECK(called == 1);
  CHECK(w.farm.accept(c) == &f.server(0));
  w.farm.release(f.server(0));
  CHECK(f.row(0).served.count() == 0);
}

TEST_CASE("a dead worker's waiters leave the line and its slots serve the others") {
  FarmFixture f({1}, 2);
  f.assign();
  TestWorker w(f);
  u32 slot = *f.service->claim_slot(1, 1);
  pid_t pid = in_child([&] {
    WaiterPool waiters(*f.service, slot);
    Farm farm(*f.service, slot, *f.backend, waiters);
    farm.pick({}), farm.pick({});
    for (u32 i = 0; i < 10; i++) farm.join(nullptr, {}, {i, 0}, i);
    kill(getpid(), SIGKILL);
  });
  wait_for(pid);
  u32 a = w.farm.join(nullptr, {}, {7, 0}, 100), b = w.farm.join(nullptr, {}, {8, 0}, 100);
  CHECK(f.service->proxy(f.backend->back_row).queued.load() == 12);
  f.service->fold_slot(slot);
  CHECK(f.service->proxy(f.backend->back_row).queued.load() == 0);
  CHECK(f.row(0).served.count() == 2);
  u32 called = 0;
  w.waiters.collect([&](u32 waiter, WaiterOwner) { called++; CHECK(w.farm.accept(waiter) == &f.server(0)); });
  CHECK(called == 2);
  CHECK((a != b && f.row(0).served.count() == 2));
}

TEST_CASE("a server that goes down sends its waiters elsewhere, one that comes up takes from the queue") {
  FarmFixture f({1, 1}, 1);
  f.backend->set(Opt::Redispatch, true);
  f.assign();
  ServerStates states(*f.service, f.config);
  TestWorker w(f);
  w.farm.pick({}), w.farm.pick({});
  u32 own = w.farm.join(&f.server(1), {}, {1, 0}, 1);
  states.set_down(f.server(1), 10);
  CHECK(w.waiters.state(own) == WaiterState::Kicked);
  CHECK(w.farm.accept(own) == nullptr);
  CHECK(w.farm.pick({.wanted = &f.server(1)}).outcome == PickOutcome::Wait);
  u32 any = w.farm.join(nullptr, {}, {1, 0}, 1);
  w.farm.release(f.server(1)); // its old connection ends; the server is down, nobody is sent there
  CHECK(w.waiters.state(any) == WaiterState::Waiting);
  states.set_up(f.server(1), 20);
  CHECK(w.waiters.state(any) == WaiterState::Granted);
  CHECK(w.farm.accept(any) == &f.server(1));
}

TEST_CASE("raising maxconn lets waiters in") {
  FarmFixture f({1}, 1);
  f.assign();
  ServerStates states(*f.service, f.config);
  TestWorker w(f);
  w.farm.pick({});
  u32 a = w.farm.join(nullptr, {}, {1, 0}, 1), b = w.farm.join(nullptr, {}, {1, 0}, 2);
  states.set_maxconn(f.server(0), 2);
  CHECK(w.waiters.state(a) == WaiterState::Granted);
  CHECK(w.waiters.state(b) == WaiterState::Waiting);
}

TEST_CASE("minconn grows towards maxconn as the backend fills") {
  FarmFixture f({1}, 100);
  f.options(0).minconn = 10;
  f.backend->fullconn = 1000;
  f.assign();
  TestWorker w(f);
  ProxyRow &back = f.service->proxy(f.backend->back_row);
  CHECK(slot_limit(f.row(0), back) == 10);
  for (int i = 0; i < 500; i++) w.farm.enter();
  CHECK(slot_limit(f.row(0), back) == 50);
  for (int i = 0; i < 600; i++) w.farm.enter();
  CHECK(slot_limit(f.row(0), back) == 100);
}

TEST_CASE("the queue survives workers killed in the middle of it") {
  FarmFixture f({1, 1}, 2);
  f.assign();
  auto *stop = new (mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) std::atomic<u32>[2]{};
  auto traffic = [&](u32 slot) {
    WaiterPool waiters(*f.service, slot);
    Farm farm(*f.service, slot, *f.backend, waiters);
    std::minstd_rand random(slot + 1);
    std::vector<std::pair<u32, i64>> waiting;
    std::vector<const Server *> held;
    for (i64 now = 0; !stop[0]; now++) {
      PickResult r = farm.pick({});
      if (r.outcome == PickOutcome::Chosen) held.push_back(r.server);
      if (r.outcome == PickOutcome::Wait && waiting.size() < 20)
        waiting.push_back({farm.join(r.server, {static_cast<i32>(random() % 3), 0}, {1, 1}, now), now});
      waiters.collect([&](u32 who, WaiterOwner) {
        if (const Server *s = farm.accept(who)) held.push_back(s);
        std::erase_if(waiting, [&](auto &p) { return p.first == who; });
      });
      if (!waiting.empty() && random() % 8 == 0) farm.leave(waiting.back().first), waiting.pop_back();
      if (!held.empty() && random() % 2) farm.release(*held.back()), held.pop_back();
      stop[1]++;
    }
    for (auto &p : waiting) farm.leave(p.first);
    for (const Server *s : held) farm.release(*s);
  };
  std::vector<pid_t> living;
  std::vector<u32> slots;
  for (int i = 0; i < 1; i++) {
    slots.push_back(*f.service->claim_slot(1, 0));
    living.push_back(in_child([&] { traffic(slots.back()); }));
  }
  u32 deaths = 0;
  Tick enough = monotonic_ms() + 6000; // on a busy machine fewer kills do
  int kills = 0;
  for (; kills < 300 && monotonic_ms() < enough; kills++) {
    u32 slot = *f.service->claim_slot(1, 0);
    u32 from = stop[1];
    pid_t pid = in_child([&] { traffic(slot); });
    while (stop[1] - from < 50) sched_yield();
    usleep(static_cast<useconds_t>(kills * 13 % 400));
    kill(pid, SIGKILL);
    wait_for(pid);
    f.service->fold_slot(slot);
  }
  stop[0] = 1;
  for (pid_t pid : living) CHECK(wait_for(pid) == 0);
  for (u32 s : slots) f.service->fold_slot(s);
  for (u32 i = 0; i < stripe_count; i++) deaths += f.service->queue_stripe(i).deaths;
  MESSAGE(kills << " kills, " << deaths << " while holding the queue's stripe");
  CHECK(f.row(0).served.count() == 0);
  CHECK(f.row(1).served.count() == 0);
  CHECK(f.row(0).queued.load() == 0);
  CHECK(f.service->proxy(f.backend->back_row).queued.load() == 0);
  CHECK(f.service->proxy(f.backend->back_row).total_queued.load() == 0);
}
