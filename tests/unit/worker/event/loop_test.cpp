// SPDX-License-Identifier: BSD-2-Clause
#include "worker/event/loop.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <vector>

#include "worker/event/timer_wheel.h"

using namespace penstock;

namespace {
struct Probe : Timer {
  std::vector<Tick> *log = nullptr;
  Tick id = 0;
  Probe() { on_expire = [](Timer &t) { auto &p = static_cast<Probe &>(t); p.log->push_back(p.id); }; }
};
} // namespace

TEST_CASE("the wheel fires every timer at its time, whatever its level") {
  for (Tick start : {Tick{0}, Tick{63}, Tick{4095}, Tick{123'456'789}}) {
    TimerWheel wheel(start);
    std::vector<Tick> fired;
    std::vector<Probe> probes(40);
    Tick delays[] = {1, 2, 63, 64, 65, 127, 128, 1000, 4095, 4096, 4097, 10'000, 262'143, 262'144, 262'145, 400'000};
    size_t n = 0;
    for (Tick d : delays) {
      Probe &p = probes[n++];
      p.log = &fired, p.id = d, p.deadline = start + d;
      wheel.insert(p, start + d);
    }
    Tick last = start;
    for (size_t i = 0; i < n; i++) {
      fired.clear();
      wheel.advance(start + delays[i] - 1);
      if (start + delays[i] - 1 > last) CHECK(fired.empty());
      last = start + delays[i];
      CHECK(wheel.next() <= last);
      wheel.advance(last);
      REQUIRE(fired.size() == 1);
      CHECK(fired[0] == delays[i]);
    }
    CHECK(wheel.next() == never);
  }
}

TEST_CASE("a timer that moved later fires once, late; a cancelled one never") {
  Loop loop;
  std::vector<Tick> fired;
  Probe a, b;
  a.log = b.log = &fired, a.id = 1, b.id = 2;
  loop.set_timer(a, loop.now() + 3);
  loop.set_timer(a, loop.now() + 12);
  loop.set_timer(b, loop.now() + 4);
  loop.set_timer(b, never);
  Tick until = loop.now() + 30;
  while (loop.now() < until) {
    loop.turn(5);
    if (loop.now() < until - 30 + 12) CHECK(fired.empty());
  }
  CHECK(fired == std::vector<Tick>{1});
}

TEST_CASE("deferred work runs in order; what it defers waits for the next turn; burials come last") {
  Loop loop;
  static std::vector<int> log;
  log.clear();
  struct Work : Deferred { int id; Loop *loop; Work *again = nullptr; };
  auto run = [](Deferred &d) {
    auto &w = static_cast<Work &>(d);
    log.push_back(w.id);
    if (w.again) w.loop->defer(*w.again), w.again = nullptr;
  };
  Work a{{run}, 1, &loop}, b{{run}, 2, &loop}, c{{run}, 3, &loop};
  a.again = &a;
  loop.bury(c);
  loop.defer(a);
  loop.defer(b);
  loop.defer(b);
  loop.turn(0);
  CHECK(log == std::vector<int>{1, 2, 3});
  loop.turn(0);
  CHECK(log == std::vector<int>{1, 2, 3, 1});
}

TEST_CASE("edges are told once, levels as long as they last") {
  Loop loop;
  int p[2], q[2];
  REQUIRE(pipe(p) == 0);
  REQUIRE(pipe(q) == 0);
  struct H : IoHandle { int times = 0; } edge, level;
  edge.fd = p[0], level.fd = q[0];
  edge.on_event = level.on_event = [](IoHandle &h, u32 e) { CHECK(e == io_readable); static_cast<H &>(h).times++; };
  loop.add_edge(edge, io_readable | io_writable);
  loop.add_level(level, io_readable);
  CHECK(write(p[1], "x", 1) + write(q[1], "x", 1) == 2);
  for (int i = 0; i < 3; i++) loop.turn(0);
  CHECK(edge.times == 1);
  CHECK(level.times == 3);
  for (int fd : {p[0], p[1], q[0], q[1]}) close(fd);
}
