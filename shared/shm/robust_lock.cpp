// SPDX-License-Identifier: BSD-2-Clause
#include "shared/shm/robust_lock.h"

#include <cerrno>
#include <new>

namespace penstock {

void init_stripe(RobustStripe &stripe) {
  new (&stripe) RobustStripe{};
  pthread_mutexattr_t attr;
  pthread_mutexattr_init(&attr);
  pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
  PENSTOCK_ENSURE(pthread_mutex_init(&stripe.mutex, &attr) == 0);
  pthread_mutexattr_destroy(&attr);
}

void StripeGuard::recover(int rc, Repair repair, void *context) {
  PENSTOCK_ENSURE(rc == EOWNERDEAD);
  stripe_.deaths++;
  if (stripe_.dirty) {
    repair(context, stripe_);
    stripe_.dirty = 0;
  }
  // Not before the repair: should we die in it, the next one finds EOWNERDEAD and `dirty` again.
  pthread_mutex_consistent(&stripe_.mutex);
}

} // namespace penstock
