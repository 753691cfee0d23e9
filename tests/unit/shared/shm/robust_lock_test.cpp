// SPDX-License-Identifier: BSD-2-Clause
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "shared/base/time.h"
#include "shared/shm/robust_lock.h"

using namespace penstock;

namespace {

/// Two numbers that are equal whenever the lock is free.
struct Guarded {
  RobustStripe stripe;
  u64 a = 0, b = 0;
  u64 repairs = 0;
  std::atomic<u32> inside{0};
};

void repair(void *context, RobustStripe &) {
  auto *g = static_cast<Guarded *>(context);
  g->b = g->a;
  g->repairs++;
}

void pause_for(int rounds) {
  for (int i = 0; i < rounds; i++) __builtin_ia32_pause();
}

void change_for_ever(Guarded *g) {
  for (;;) {
    StripeGuard guard(g->stripe, repair, g);
    StripeChange change(g->stripe);
    g->inside = 1;
    __atomic_store_n(&g->a, g->a + 1, __ATOMIC_RELEASE);
    pause_for(300);
    __atomic_store_n(&g->b, g->b + 1, __ATOMIC_RELEASE);
  }
}

} // namespace

TEST_CASE("a lock survives hundreds of holders killed inside") {
  void *at = mmap(nullptr, sizeof(Guarded), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto *g = new (at) Guarded;
  init_stripe(g->stripe);
  Tick enough = monotonic_ms() + 6000; // on a busy machine fewer kills do
  int kills = 0;
  for (; kills < 400 && monotonic_ms() < enough; kills++) {
    g->inside = 0;
    pid_t pid = fork();
    if (pid == 0) change_for_ever(g);
    while (!g->inside) sched_yield();
    pause_for(kills * 37 % 2000);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    StripeGuard guard(g->stripe, repair, g);
    REQUIRE(g->a == g->b);
  }
  MESSAGE(kills << " kills, " << g->stripe.deaths << " while holding, " << g->repairs << " repairs");
  CHECK(g->stripe.deaths > 5);
  munmap(at, sizeof(Guarded));
}
