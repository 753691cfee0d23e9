// SPDX-License-Identifier: BSD-2-Clause
// Methods, well-known field names and reason phrases (RFC 9110, sections 9, 15 and 18).
#pragma once

#include "shared/base/basic.h"

namespace penstock {

enum class Method : u8 { Options, Get, Head, Post, Put, Delete, Trace, Connect, Patch, Other };
Method method_of(string_view text); // case-sensitive; Other when unknown
string_view method_name(Method m);

/// Field names that the proxy itself looks at; everything else is Other.
enum class Header : u8 {
  Other,
  Accept, AcceptEncoding, Age, Authorization, CacheControl, Connection, ContentEncoding, ContentLength,
  ContentType, Cookie, Date, ETag, Expect, Expires, Forwarded, Host, IfModifiedSince, IfNoneMatch, KeepAlive,
  LastModified, Location, Pragma, ProxyAuthenticate, ProxyAuthorization, ProxyConnection, Range, Referer, SecWebSocketAccept,
  SecWebSocketKey, Server, SetCookie, TE, Trailer, TransferEncoding, Upgrade, UserAgent, Vary, Via,
  WwwAuthenticate, XForwardedFor, XForwardedProto, XOriginalTo,
  count_,
};
/// Perfect-hash look-up, case-insensitive.
Header header_of(string_view name);
string_view header_name(Header id); // in lower case, as we write it; "" for Other

string_view reason_phrase(u16 status); // "" when unknown

} // namespace penstock
