// SPDX-License-Identifier: BSD-2-Clause
// The texts behind `option httplog`, `option tcplog` and their kin, in the language of log formats
// (manual, sections 8.2.1 to 8.2.5). Programs that read logs depend on every character.
#pragma once

#include "shared/base/basic.h"

namespace penstock {

/// Without any option: who connected to what.
inline constexpr string_view connect_log_format = "Connect from %ci:%cp to %fi:%fp (%f/%[str(TCP)])";
inline constexpr string_view connect_log_format_http = "Connect from %ci:%cp to %fi:%fp (%f/%[str(HTTP)])";
/// option httplog
inline constexpr string_view http_log_format =
    "%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs %{+Q}r";
/// option httplog clf
inline constexpr string_view clf_http_log_format =
    "%{+Q}o %{-Q}ci - - [%trg] %r %ST %B \"\" \"\" %cp %ms %ft %b %s %TR %Tw %Tc %Tr %Ta %tsc %ac %fc %bc %sc %rc %sq %bq %CC %CS %hrl %hsl";
/// option httpslog
inline constexpr string_view https_log_format =
    "%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs %{+Q}r "
    "%[fc_err]/%[ssl_fc_err,hex]/%[ssl_c_err]/%[ssl_c_ca_err]/%[ssl_fc_is_resumed] %[ssl_fc_sni]/%sslv/%sslc";
/// option tcplog
inline constexpr string_view tcp_log_format = "%ci:%cp [%t] %ft %b/%s %Tw/%Tc/%Tt %B %ts %ac/%fc/%bc/%sc/%rc %sq/%bq";
/// option tcplog clf
inline constexpr string_view clf_tcp_log_format =
    "%{+Q}o %{-Q}ci - - [%T] \"TCP \" 000 %B \"\" \"\" %cp %ms %ft %b %s %Th %Tw %Tc %Tt %U %ts-- %ac %fc %bc %sc %rc %sq %bq \"\" \"\" ";
/// Connections that fail before there is a stream, where error-log-format is not set.
inline constexpr string_view error_log_format = "%ci:%cp [%t] %ft %[fc_err_str]";

} // namespace penstock
