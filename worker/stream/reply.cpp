// SPDX-License-Identifier: BSD-2-Clause
// See reply.h.
#include "worker/stream/reply.h"

#include "worker/stream/error_page.h"

namespace penstock {

void complete_answer(Stream &s) {
  Answer &a = s.answer;
  if (a.ready || a.raw) return;
  s.begin_own_response();
  a.body = build_error_page(a.status, s.response(), a.close);
  a.ready = true;
}

} // namespace penstock
