// SPDX-License-Identifier: BSD-2-Clause
// Parameters of the Forwarded field in text form (RFC 7239, sections 4 and 6). Pure.
#pragma once

#include <string>

#include "shared/base/address.h"

namespace penstock {

/// A node without its port: an address, "unknown", or an identifier that tells nobody where it is.
struct ForwardedNode {
  Ip ip;
  string_view name; // where there is no address; characters that the RFC does not allow make it unknown
};

/// Appends "KEY=node[:port]" with quotes where they are needed. `port` empty: none; one that is not a number is
/// an obfuscated one. `with_port`: quoted even when no port came out, as that is what `option forwarded` promised.
void append_forwarded_node(std::string &out, string_view key, const ForwardedNode &node, string_view port, bool with_port);
/// Appends host="…"; a host with impossible characters is left empty.
void append_forwarded_host(std::string &out, string_view host);

} // namespace penstock
