// SPDX-License-Identifier: BSD-2-Clause
// Persistence by stick tables: `stick match`, `stick on`, `stick store-request`, `stick store-response`.
// What a request stores is remembered when a server is looked for and stored when one is connected, so that
// the table names the server that really got the request.
#pragma once

#include "worker/stream/stream.h"

namespace penstock {

/// Runs the backend's stick rules on a request: the server that the first matching entry names (only when
/// `match`), and the keys to store. Null: none.
const Server *find_stick_server(Stream &s, EvalContext &ctx, bool match);
/// A server is connected.
void store_stick_request(Stream &s);
/// The response is there.
void store_stick_response(Stream &s);

} // namespace penstock
