// SPDX-License-Identifier: BSD-2-Clause
// Where log lines go: datagrams to a syslog server (UDP, /dev/log) or a descriptor (stdout, a pipe).
// Every process has its own sockets, opened at first use; a line costs one system call per target and
// no allocation, and never waits: what the receiver does not take is counted as dropped.
//
// The master calls prepare_logging() once per configuration before it forks. Traffic lines come from
// worker/log/access.h, events from worker/log/events.h.
#pragma once

#include <span>

#include "shared/model/config.h"

namespace penstock {

/// Syslog severities (RFC 5424, 6.2.1).
enum class LogLevel : u8 { Emerg, Alert, Crit, Err, Warning, Notice, Info, Debug };
string_view log_level_name(LogLevel l); // the manual's word

/// Gives every log target of `config` its sink and its counter of samples; the latter are shared by
/// all processes forked later. `program` is the default of log-tag.
void prepare_logging(Config &config, string_view program);

/// The pid that lines carry from now on in this process; without a call, its own.
void set_log_pid(i32 pid);

/// One line to every target of `p` that wants this level. `text` has no final newline.
void log_line(const Proxy &p, LogLevel level, string_view text, string_view structured_data = {});
/// The same to the global section's targets.
void log_global(LogLevel level, string_view text);
/// The general form: `tag` as the header's program name.
void log_to(std::span<const LogTarget> targets, LogLevel level, string_view tag, string_view text, string_view structured_data = {});
/// Whether any target of `p` takes lines of this level: spares the formatting.
bool logs_wanted(const Proxy &p, LogLevel level);

/// Lines that no receiver took, in all processes of this configuration.
u64 dropped_log_lines();

/// Whether message number `n` (counted from 0) of a target with these sample ranges is to be sent.
bool sampled(const LogTarget &t, u32 n);

} // namespace penstock
