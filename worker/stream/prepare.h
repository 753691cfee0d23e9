// SPDX-License-Identifier: BSD-2-Clause
// The last changes to messages before they go on: what the proxy adds or takes out by itself.
#pragma once

#include "worker/stream/flow.h"

namespace penstock {

/// The request as the server gets it: X-Forwarded-For and its kin, persistence, framing.
void prepare_request(Stream &s);
/// The response as the client gets it: persistence cookie, framing, Connection. Leaves how in flow().response_body.
/// False: option checkcache refuses it.
bool prepare_response(Stream &s);

} // namespace penstock
