// SPDX-License-Identifier: BSD-2-Clause
// Own answers of a stream: what deny, return, tarpit, redirect and failures lead to (manual: errorfile,
// http-error, errorloc, http-request return/deny/redirect). Everything is evaluated when the rule runs,
// because the response it may look at is gone when the answer is sent.
#pragma once

#include "shared/expr/run.h"
#include "worker/stream/stream.h"

namespace penstock {

/// Fills ctx.stream's answer and own response from `reply`, or from the page of `status` where it is null or
/// leaves the content to the error pages. Text goes to the stream's arena.
void make_reply(EvalContext &ctx, u16 status, const HttpReply *reply);

/// Step::Reply: completes what is only noted as a status or a reply. Afterwards answer.ready holds, or answer.raw with an
/// empty body: close without an answer (an empty error file).
void complete_answer(Stream &s);

} // namespace penstock
