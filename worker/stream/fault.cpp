// SPDX-License-Identifier: BSD-2-Clause
// The letters of the log's termination state (manual, section 8.5) from a Fault.
#include "worker/stream/fault.h"

namespace penstock {

char cause_letter(const Fault &f) {
  switch (f.kind) {
    case FaultKind::None: return '-';
    case FaultKind::ClientAbort: return 'C';
    case FaultKind::ClientTimeout: return 'c';
    case FaultKind::ServerAbort:
    case FaultKind::ConnectRefused:
    case FaultKind::NoServer: return 'S';
    case FaultKind::ServerTimeout:
    case FaultKind::ConnectTimeout:
    case FaultKind::QueueTimeout: return 's';
    case FaultKind::QueueFull:
    case FaultKind::BadRequest:
    case FaultKind::BadResponse:
    case FaultKind::Denied:
    case FaultKind::Tarpit: return 'P';
    case FaultKind::Redirected:
    case FaultKind::Local:
    case FaultKind::Intercepted: return 'L';
    case FaultKind::Internal: return 'I';
    case FaultKind::ResourceExhausted: return 'R';
    case FaultKind::Killed: return 'K';
    case FaultKind::ServerDown: return 'D';
  }
  return '-';
}

char phase_letter(const Fault &f) {
  switch (f.at) {
    case At::None: return '-';
    case At::Request: return 'R';
    case At::Queue: return 'Q';
    case At::Connect: return 'C';
    case At::Headers: return 'H';
    case At::Data: return 'D';
    case At::Last: return 'L';
    case At::Tarpit: return 'T';
  }
  return '-';
}

} // namespace penstock
