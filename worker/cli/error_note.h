// SPDX-License-Identifier: BSD-2-Clause
// What `show errors` shows: each worker keeps the last unreadable request and response of every proxy
// (worker/http/error_capture.h) and gives them away when the runtime socket asks.
#pragma once

#include "worker/cli/question.h"
#include "worker/http/h1_head.h"

namespace penstock {

/// Called by the steps that refuse a message; `bytes` as received.
void note_unreadable(Stream &stream, bool response, const HeadResult &result, string_view bytes);
/// The captures after number `after`, of one proxy (its index) or of all.
void list_errors(std::string &out, QuestionAnswer &answer, u64 after, u32 proxy);

} // namespace penstock
