// SPDX-License-Identifier: BSD-2-Clause
// How servers of a backend are checked: `option httpchk`, `tcp-check`, … and their rule lines.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "shared/base/diagnostics.h"
#include "shared/base/address.h"
#include "shared/base/time.h"
#include "shared/expr/compile.h"

namespace penstock {

enum class CheckKind : u8 { Connect /* plain TCP */, Http, TcpScript, Smtp, Mysql, Pgsql, Redis, Ldap, SslHello, Spop, External };

/// One line of `http-check` or `tcp-check`; also what the named protocols above are written in.
struct CheckStep {
  enum Kind : u8 { Connect, Send, SendBinary, SendHttp, Expect, Comment, SetVar, UnsetVar, Action } kind = Comment;
  Place place;
  std::string comment;
  // connect
  u16 port = 0;
  std::shared_ptr<const Expr> port_expr;
  Address address;
  bool use_default = false, send_proxy = false, ssl = false, linger = false, via_socks4 = false;
  std::string proto, sni, alpn;
  // send: bytes, or a log format
  std::string data;
  bool is_format = false;
  LogFormat format;
  // http send
  std::string method, uri, version, body;
  LogFormat uri_format, body_format;
  std::vector<std::pair<std::string, LogFormat>> headers;
  bool uri_is_format = false, body_is_format = false;
  // expect
  enum Match : u8 { String, Regex, Binary, BinaryRegex, StringFormat, BinaryFormat, Status, RStatus, Header, FHeader } match = String;
  bool negate = false;
  std::string pattern, pattern2; // as written (binary ones in hexadecimal, statuses as "200-299,304"); of headers: name, value
  std::string name_match, value_match; // "str", "beg", "end", "sub", "reg"
  LogFormat pattern_format, value_format;
  i32 min_recv = -1;
  std::string ok_status, error_status, timeout_status; // L7OK, L7OKC, L6OK, L4OK, L7RSP, …
  LogFormat on_success, on_error;
  std::shared_ptr<const Expr> status_code;
  std::string full_header;
  // set-var
  std::string var;
  i64 var_id = 0; // VarId::packed() of shared/expr/var_name.h, filled by the parser
  std::shared_ptr<const Expr> expr;
};

using CheckStepPtr = std::shared_ptr<const CheckStep>;

struct CheckSettings {
  CheckKind kind = CheckKind::Connect;
  /// What a check does, in order, of CheckKind::Http and TcpScript. Settled when all is read
  /// (master/config/settle_checks.cpp): an HTTP check then has its SendHttp.
  std::vector<CheckStepPtr> steps;
  // While reading: the lines of both families (the last `option` chooses), whose section they belong to,
  // and the request of `option httpchk`.
  std::vector<CheckStepPtr> http_steps, tcp_steps;
  const void *http_steps_of = nullptr, *tcp_steps_of = nullptr;
  CheckStepPtr httpchk_request;
  bool disable_on_404 = false, send_state = false;
  std::string user;                // mysql-check, pgsql-check
  bool mysql_post41 = true;
  std::string smtp_domain;
  bool smtp_ehlo = false;
  std::string external_command, external_path;
};

} // namespace penstock
