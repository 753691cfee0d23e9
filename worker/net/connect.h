// SPDX-License-Identifier: BSD-2-Clause
// Opens connections to servers: where to (server address, client's port, set-dst), from where (source,
// usesrc, interface), with which socket options, and the PROXY header that goes first.
#pragma once

#include "worker/net/idle_pool.h"

namespace penstock {

class Stream;

enum class ConnectFailure : u8 { None, Refused /* by the peer or the network, at once */, NoResource /* descriptors, ports, memory */ };

/// A connection under way for the stream's server; null and why on failure.
ServerConnection *open_server_connection(Stream &s, ConnectFailure &why);

/// Tells connections apart that go to one server but are not interchangeable: 0 for most.
u64 connection_key(Stream &s);
/// Whether only this client's requests may travel on it (PROXY header, client's address as source).
bool connection_is_private(const Server &server);

/// The address that a connection of this stream to `server` goes to.
Address connect_address(Stream &s, const Server &server);

} // namespace penstock
