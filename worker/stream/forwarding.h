// SPDX-License-Identifier: BSD-2-Clause
// What servers are told of the client: option forwardfor, originalto, forwarded; and which names of request
// fields may reach them (option http-restrict-req-hdr-names). Called once per request, after all rules.
#pragma once

#include "worker/stream/stream.h"

namespace penstock {

void add_forwarding_fields(Stream &s);
/// Of `p`, after its http-request rules. False: the request is to be refused with 403.
bool allow_field_names(HttpMessage &request, const Proxy &p);

} // namespace penstock
