// SPDX-License-Identifier: BSD-2-Clause
// The command line's switches that parts far from it ask for. Written once by master/options before
// anything else runs, constant afterwards; inherited by every fork.
#pragma once

#include "shared/base/basic.h"

namespace penstock {

struct Switches {
  bool epoll = true;                 // -de
  bool poll = true;                  // -dp
  bool splice = true;                // -dS; also `nosplice`
  bool fast_forward = true;          // -dF
  bool zero_copy = true;             // -dZ
  bool getaddrinfo = true;           // -dG; also `nogetaddrinfo`
  bool reuseport = true;             // -dR; also `noreuseport`
  bool server_verify = true;         // -dV
  bool need_server_addresses = true; // -dr: a server whose name does not resolve is no mistake
  bool insecure_fork = false;        // -dI
  bool ipv4_only = false;            // -4
  bool diagnose = false;             // -dD
  bool zero_warning = false;         // -dW
  bool debug = false;                // -d: tell about traffic on standard error
  bool quiet = false;                // -q
  bool checking = false;             // -c
};
extern Switches switches;

} // namespace penstock
