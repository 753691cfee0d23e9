// SPDX-License-Identifier: BSD-2-Clause
// Why a client's connection never became a stream: the numbers, names and texts of the manual's table (fetches
// fc_err, fc_err_name, fc_err_str; error logs), which programs that read logs match.
#pragma once

#include "shared/base/basic.h"

namespace penstock {

enum class ConnectionError : u8 {
  None = 0,
  ProxyHeaderAborted = 11, ProxyHeaderBroken = 12, ProxyHeaderTimeout = 13, ProxyHeaderTruncated = 14, ProxyHeaderMissing = 15,
  ProxyHeaderInvalid = 16, ProxyHeaderFamily = 17,
  CipAborted = 18, CipBroken = 19, CipTimeout = 20, CipTruncated = 21, CipInvalid = 22, CipFamily = 23,
  HandshakeAborted = 24, HandshakeBroken = 25, HandshakeTimeout = 26, HandshakeFailed = 34,
};

struct ConnectionErrorInfo {
  ConnectionError error;
  string_view name, text;
};
inline constexpr ConnectionErrorInfo connection_errors[] = {
    {ConnectionError::None, "", "Success"},
    {ConnectionError::ProxyHeaderAborted, "PRX_EMPTY", "Connection closed while waiting for PROXY protocol header"},
    {ConnectionError::ProxyHeaderBroken, "PRX_ABORT", "Connection error while waiting for PROXY protocol header"},
    {ConnectionError::ProxyHeaderTimeout, "PRX_TIMEOUT", "Timeout while waiting for PROXY protocol header"},
    {ConnectionError::ProxyHeaderTruncated, "PRX_TRUNCATED", "Truncated PROXY protocol header received"},
    {ConnectionError::ProxyHeaderMissing, "PRX_NOT_HDR", "Received something which does not look like a PROXY protocol header"},
    {ConnectionError::ProxyHeaderInvalid, "PRX_BAD_HDR", "Received an invalid PROXY protocol header"},
    {ConnectionError::ProxyHeaderFamily, "PRX_BAD_PROTO", "Received an unhandled protocol in the PROXY protocol header"},
    {ConnectionError::CipAborted, "CIP_EMPTY", "Connection closed while waiting for NetScaler Client IP header"},
    {ConnectionError::CipBroken, "CIP_ABORT", "Connection error while waiting for NetScaler Client IP header"},
    {ConnectionError::CipTimeout, "CIP_TIMEOUT", "Timeout while waiting for a NetScaler Client IP header"},
    {ConnectionError::CipTruncated, "CIP_TRUNCATED", "Truncated NetScaler Client IP header received"},
    {ConnectionError::CipInvalid, "CIP_BAD_MAGIC", "Received an invalid NetScaler Client IP magic number"},
    {ConnectionError::CipFamily, "CIP_BAD_PROTO", "Received an unhandled protocol in the NetScaler Client IP header"},
    {ConnectionError::HandshakeAborted, "SSL_EMPTY", "Connection closed during SSL handshake"},
    {ConnectionError::HandshakeBroken, "SSL_ABORT", "Connection error during SSL handshake"},
    {ConnectionError::HandshakeTimeout, "SSL_TIMEOUT", "Timeout during SSL handshake"},
    {ConnectionError::HandshakeFailed, "SSL_HANDSHAKE", "SSL handshake failure"},
};
constexpr const ConnectionErrorInfo &info_of(ConnectionError e) {
  for (const ConnectionErrorInfo &i : connection_errors)
    if (i.error == e) return i;
  return connection_errors[0];
}

} // namespace penstock
