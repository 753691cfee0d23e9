// SPDX-License-Identifier: BSD-2-Clause
// The key that a hashing algorithm looks at, and its hash (manual, "balance" and "hash-type").
#pragma once

#include "shared/model/proxy.h"

namespace penstock {

struct PickRequest;

/// False when the request has no such key.
bool hash_key(const Balance &balance, const PickRequest &request, u32 &hash);

/// Parts of keys, pure.
string_view uri_key(string_view target, const Balance &balance);
/// The value of a parameter in "a=1&b=2"; the value may be empty.
bool query_parameter(string_view query, string_view name, char separator, string_view &value);
/// Of a host name, the label before the last dot: "www.example.com" -> "example".
string_view main_domain(string_view host);
/// The value of an RDP cookie in the first bytes of a connection (TPKT, X.224: "Cookie: NAME=value\r\n").
bool rdp_cookie(string_view bytes, string_view name, string_view &value);

} // namespace penstock
