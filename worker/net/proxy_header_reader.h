// SPDX-License-Identifier: BSD-2-Clause
// Reads the PROXY protocol header (or NetScaler's Client-IP) at the beginning of an accepted connection.
#pragma once

#include "worker/net/connection.h"
#include "worker/net/proxy_proto.h"

namespace penstock {

enum class HeaderRead : u8 { Wait, Done, Aborted /* nothing came */, Truncated, Missing /* no such header */, Invalid, Family };

/// Takes the header's bytes out of the connection's input when it is complete.
HeaderRead read_proxy_header(Connection &c, bool netscaler, ProxyHeader &out);

} // namespace penstock
