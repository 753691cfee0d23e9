// SPDX-License-Identifier: BSD-2-Clause
// How rules reach the messages of the stream they run for.
#pragma once

#include "shared/http/message.h"
#include "shared/table/args.h"
#include "worker/stream/stream.h"

namespace penstock {

/// The request's head, or null where there is none (any more).
inline HttpMessage *request_of(const EvalContext &ctx) { return ctx.stream && ctx.stream->has_request() ? &ctx.stream->request() : nullptr; }
/// The response's head, or null.
inline HttpMessage *response_of(const EvalContext &ctx) { return ctx.stream && ctx.stream->has_response() ? &ctx.stream->response() : nullptr; }
/// That of the direction in which the rule runs.
inline HttpMessage *message_of(const EvalContext &ctx) { return ctx.response_side ? response_of(ctx) : request_of(ctx); }

/// The next value of a comma-separated list; commas within quotes do not count. False at the end.
bool next_list_value(string_view list, u32 &at, string_view &value);

/// The occurrence-th value of a field, 1 the first, -1 the last. `whole`: a field line is one value.
bool field_value(const HttpMessage &msg, const ArgValue &name, i64 occurrence, bool whole, string_view &out);

} // namespace penstock
