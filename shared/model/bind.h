// SPDX-License-Identifier: BSD-2-Clause
// A `bind` line; one Bind per address (ranges are expanded).
#pragma once

#include <string>
#include <vector>

#include "shared/base/address.h"
#include "shared/base/diagnostics.h"
#include "shared/base/time.h"

namespace penstock {

struct Proxy;

struct Bind {
  Proxy *proxy = nullptr;
  Place place;
  Address address;
  int inherited_fd = -1;     // fd@N
  bool inherited_kind_given = false; // stream+fd@N: the kind of socket must be that one
  bool sockpair = false;     // inherited_fd hands over connections
  bool stream = true;
  std::string name;          // `name`, else "sock-N"
  u32 id = 0;
  u32 backlog = 0;
  u32 maxconn = 0;
  i32 nice = 0;
  i32 mss = 0;
  Millis tcp_ut = 0;
  bool accept_proxy = false, accept_netscaler_cip = false, defer_accept = false, tfo = false, transparent = false;
  bool v4v6 = false, v6only = false;
  i32 uid = -1, gid = -1;    // of a UNIX socket
  u32 mode = 0;              // 0: not set
  std::string interface, namespace_, proto, alpn, label;
  enum Level : u8 { User, Operator, Admin } level = Operator; // stats sockets
  bool expose_fd = false;
  std::string severity_output;
  u32 row = ~0u;             // RowKind::Listener
  u32 listener = ~0u;        // index of the socket group that the master made
};

} // namespace penstock
