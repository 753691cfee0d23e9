// SPDX-License-Identifier: BSD-2-Clause
// Global keywords that set limits (manual 3.2): connections, rates, descriptors, checks.
#include "master/config/slots.h"
#include "shared/table/registry.h"

namespace penstock {

namespace {

constexpr i64 max_count = 2'000'000'000;

constexpr KeywordDef rows[] = {
    {.name = "fd-hard-limit", .sections = in_global,
     .doc = {.summary = "Highest number of file descriptors that a process may use.",
             .text = "Bounds what 'maxconn' is computed from when the system allows more than is sensible.", .example = "global\n    fd-hard-limit 50000"},
     .parse = set_number<&Global::fd_hard_limit, 0, max_count>},
    {.name = "max-spread-checks", .sections = in_global,
     .doc = {.summary = "Longest time over which the first health checks are spread.", .text = "", .example = "global\n    max-spread-checks 5s"},
     .parse = set_delay<&Global::max_spread_checks>},
    {.name = "maxcompcpuusage", .sections = in_global,
     .doc = {.summary = "Share of CPU time in percent above which compression is left out.", .text = "", .example = "global\n    maxcompcpuusage 80"},
     .parse = set_number<&Global::maxcompcpuusage, 1, 100>},
    {.name = "maxcomprate", .sections = in_global,
     .doc = {.summary = "Input of compression per second and worker, in kilobytes.", .text = "", .example = "global\n    maxcomprate 10000"},
     .parse = set_number<&Global::maxcomprate, 0, max_count>},
    {.name = "maxconn", .sections = in_global,
     .doc = {.summary = "Concurrent client connections of the whole service.",
             .text = "The limit is one for all workers. Without it, it is computed from the number of file descriptors that the system grants.",
             .example = "global\n    maxconn 20000"},
     .parse = set_number<&Global::maxconn, 0, max_count>},
    {.name = "maxconnrate", .sections = in_global,
     .doc = {.summary = "New client connections per second of a process.", .text = "", .example = "global\n    maxconnrate 2000"},
     .parse = set_number<&Global::maxconnrate, 0, max_count>},
    {.name = "maxpipes", .sections = in_global,
     .doc = {.summary = "Pipes that may be in use for splicing; 0 means as many as are needed.", .text = "", .example = "global\n    maxpipes 500"},
     .parse = set_number<&Global::maxpipes, 0, max_count>},
    {.name = "maxsessrate", .sections = in_global,
     .doc = {.summary = "New sessions per second of a process.", .text = "Connections that are refused by rules do not count.", .example = "global\n    maxsessrate 2000"},
     .parse = set_number<&Global::maxsessrate, 0, max_count>},
    {.name = "maxsslconn", .sections = in_global,
     .doc = {.summary = "Concurrent TLS connections of a process.", .text = "", .example = "global\n    maxsslconn 10000"},
     .parse = set_number<&Global::maxsslconn, 0, max_count>},
    {.name = "maxsslrate", .sections = in_global,
     .doc = {.summary = "New TLS sessions per second of a process.", .text = "", .example = "global\n    maxsslrate 1000"},
     .parse = set_number<&Global::maxsslrate, 0, max_count>},
    {.name = "spread-checks", .sections = in_global,
     .doc = {.summary = "Randomness of the interval between health checks, in percent.",
             .text = "Keeps servers that were started together from being checked together for ever.", .example = "global\n    spread-checks 5"},
     .parse = set_number<&Global::spread_checks, 0, 50>},
    {.name = "ulimit-n", .sections = in_global,
     .doc = {.summary = "File descriptors to ask the system for.", .text = "Computed from 'maxconn' where it is absent, which is best.", .example = "global\n    ulimit-n 4096"},
     .parse = set_number<&Global::ulimit_n, 0, max_count>},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> kw_global_rows() { return rows; }

} // namespace penstock
