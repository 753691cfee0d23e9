// SPDX-License-Identifier: BSD-2-Clause
// What concerns one hop only and is therefore ours to say anew: persistence and framing of the message
// that goes out (RFC 9110, section 7.6.1; RFC 9112, sections 6 and 9).
#pragma once

#include "worker/net/endpoint.h"

namespace penstock {

/// Request to a server. `close`: no further request will come on that connection.
OutgoingBody frame_request(HttpMessage &request, const H1Framing &from, bool close);

/// Response to a client that speaks `client_version`. Sets `close` when the framing allows no other end.
OutgoingBody frame_response(HttpMessage &response, const H1Framing &from, u8 client_version, bool head_request, bool &close);

/// Takes close and keep-alive out of Connection: they were said to us, the codec has heard them, and rules see
/// messages without them.
void hide_persistence(HttpMessage &message);

/// Says keep-alive or close in a message, as far as the receiver's version needs it said.
void say_persistence(HttpMessage &message, bool keep_alive, u8 receiver_version);

} // namespace penstock
