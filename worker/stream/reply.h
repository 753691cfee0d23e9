// SPDX-License-Identifier: BSD-2-Clause
// Makes a prepared answer complete: Step::Reply calls it once before it sends.
#pragma once

#include "worker/stream/stream.h"

namespace penstock {

/// Afterwards `answer.ready` holds (Stream::response() is the head, without framing and persistence, and
/// answer.body or source the content), or `answer.raw`.
void complete_answer(Stream &s);

} // namespace penstock
