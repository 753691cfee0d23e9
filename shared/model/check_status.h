// SPDX-License-Identifier: BSD-2-Clause
// The outcomes of a health or agent check, by the codes and descriptions that statistics and logs show
// (management guide 9.1, check_status and check_desc).
#pragma once

#include "shared/base/basic.h"

namespace penstock {

enum class CheckStatus : u8 {
  Unknown, Initializing, SocketError, L4Ok, L4Timeout, L4Connect, L6Ok, L6Timeout, L6Response,
  L7Timeout, L7Response, L7Ok, L7OkConditional, L7Status, ProcessError, ProcessTimeout, ProcessOk, Observed, count_
};

struct CheckStatusInfo {
  string_view code;        // "L4OK"
  string_view description; // "Layer4 check passed"
};
inline constexpr CheckStatusInfo check_status_infos[] = {
    {"UNK", "Unknown"},
    {"INI", "Initializing"},
    {"SOCKERR", "Socket error"},
    {"L4OK", "Layer4 check passed"},
    {"L4TOUT", "Layer4 timeout"},
    {"L4CON", "Layer4 connection problem"},
    {"L6OK", "Layer6 check passed"},
    {"L6TOUT", "Layer6 timeout"},
    {"L6RSP", "Layer6 invalid response"},
    {"L7TOUT", "Layer7 timeout"},
    {"L7RSP", "Layer7 invalid response"},
    {"L7OK", "Layer7 check passed"},
    {"L7OKC", "Layer7 check conditionally passed"},
    {"L7STS", "Layer7 wrong status"},
    {"PROCERR", "External check error"},
    {"PROCTOUT", "External check timeout"},
    {"PROCOK", "External check passed"},
    {"HANA", "Health analyze"},
};
static_assert(sizeof check_status_infos / sizeof *check_status_infos == static_cast<size_t>(CheckStatus::count_));
constexpr const CheckStatusInfo &info_of(CheckStatus s) { return check_status_infos[static_cast<u8>(s)]; }

} // namespace penstock
