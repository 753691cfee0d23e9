// SPDX-License-Identifier: BSD-2-Clause
// What log variables and fetches both tell of a stream: timers, dates, counts of the host. The log's
// arithmetic (manual, section 8.4) is written once, here.
#pragma once

#include "shared/expr/eval.h"
#include "shared/shm/service.h"
#include "worker/stream/stream.h"

namespace penstock {

/// Milliseconds; -1 where the stream did not get that far.
struct Timers {
  i64 handshake, idle, request, queue, connect, response, data, total, active, user;
};
Timers timers_of(const Stream &s);
/// When the request began, wall clock.
i64 request_date_us(const Stream &s);
i64 accept_date_us(const EvalContext &ctx);

enum class DateForm : u8 { LocalMillis, UtcZone, LocalZone };
/// "10/Jul/2014:16:23:50.123" or "10/Jul/2014:16:23:50 +0000"; `out` has room for 32 characters.
size_t write_date(char *out, i64 wall_us, DateForm form);

/// Client and destination as rules see them; null before there is a session.
inline const Address *source_of(const EvalContext &ctx) { return ctx.session ? &ctx.session->source() : nullptr; }
inline const Address *destination_of(const EvalContext &ctx) { return ctx.session ? &ctx.session->destination() : nullptr; }

/// Rows of shared memory; null outside a worker or where there is none.
const Service *service_here();
ProxyRow *front_row(const Proxy &p);
ProxyRow *back_row(const Proxy &p);
ServerRow *server_row(const Server &s);
u32 connections_here(); // of the whole host

} // namespace penstock
