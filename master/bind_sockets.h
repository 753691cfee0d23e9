// SPDX-License-Identifier: BSD-2-Clause
// One socket from one `bind` line: what makes it the same socket over reloads, how it is made and
// bound, and the options that may change while it lives. Listening is a later step (listeners.h).
#pragma once

#include <string>

#include "shared/model/config.h"

namespace penstock {

/// Canonical address plus the options that can't change on a bound socket: equal keys, same group.
std::string socket_key(const Bind &bind, const Global &global);

/// Whether every worker gets a socket of its own (TCP); else all share one.
bool socket_per_worker(const Bind &bind);

/// Whether somebody else (another service, an older process) listens at the address already.
bool address_taken(const Bind &bind);

/// A bound socket, close-on-exec and non-blocking. -1 and `error` ("cannot bind socket (…)") on failure.
int make_socket(const Bind &bind, const Global &global, std::string &error);

/// An inherited descriptor: checks that it is a socket of the right kind. Same results.
int adopt_socket(const Bind &bind, std::string &error);

/// The options that may change: defer-accept, tfo, mss, tcp-ut, a UNIX socket's mode and owner.
void apply_options(const Bind &bind, const Global &global, int fd);

/// backlog of listen().
int backlog_of(const Bind &bind);

/// "Binding [file:line] for frontend www: protocol tcpv4: "
std::string bind_message_start(const Bind &bind);

} // namespace penstock
