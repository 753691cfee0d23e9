// SPDX-License-Identifier: BSD-2-Clause
// Locks in shared memory that survive the death of their holder: a robust process-shared mutex per
// stripe. Whoever takes a stripe after a death rebuilds its content first, if the dead holder was in
// the middle of a structural change. Inside a critical section: no allocation, system call, log,
// callback into the traffic path, or pointer into private memory.
#pragma once

#include <pthread.h>

#include "shared/base/basic.h"

namespace penstock {

struct alignas(64) RobustStripe {
  pthread_mutex_t mutex;
  u32 dirty = 0;  // a structural change is under way
  u32 deaths = 0; // holders that died here
};

/// Once, by the process that makes the memory.
void init_stripe(RobustStripe &stripe);

/// Holds a stripe for a scope. `repair` is called when its previous holder died in a change.
class StripeGuard : Pinned {
 public:
  using Repair = void (*)(void *context, RobustStripe &stripe);
  StripeGuard(RobustStripe &stripe, Repair repair, void *context) : stripe_(stripe) {
    if (int rc = pthread_mutex_lock(&stripe.mutex); rc != 0) [[unlikely]] recover(rc, repair, context);
  }
  ~StripeGuard() { pthread_mutex_unlock(&stripe_.mutex); }

 private:
  void recover(int rc, Repair repair, void *context);
  RobustStripe &stripe_;
};

/// Marks the stripe as being changed for a scope; the stores around it keep their order for whoever
/// comes after a death (the kernel's clean-up of the dead is the barrier, the compiler must not move).
class StripeChange : Pinned {
 public:
  explicit StripeChange(RobustStripe &stripe) : stripe_(stripe) { mark(1); }
  ~StripeChange() { mark(0); }

 private:
  void mark(u32 v) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&stripe_.dirty, v, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }
  RobustStripe &stripe_;
};

} // namespace penstock
