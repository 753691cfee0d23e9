// SPDX-License-Identifier: BSD-2-Clause
// Every expected line was written by the reference for the same event.
#include "worker/log/events.h"

#include <doctest/doctest.h>

using namespace penstock;

namespace {
struct Fixture {
  Proxy proxy;
  Server server, follower, spare;
  Fixture() {
    proxy.name = "b1";
    auto options = std::make_shared<ServerOptions>();
    server.name = "s1", follower.name = "s2", spare.name = "bk";
    auto backup = std::make_shared<ServerOptions>();
    backup->backup = true;
    for (Server *s : {&server, &follower, &spare}) s->proxy = &proxy, s->options = options;
    spare.options = backup;
    follower.tracked = &server;
  }
};
} // namespace

TEST_CASE_FIXTURE(Fixture, "server events read as tools expect") {
  ServerEventFigures f{1, 1, 0, 0, 0};
  CHECK(server_event_text(server, ServerEvent::Down, {}, false, f) ==
        "Server b1/s1 is DOWN. 1 active and 1 backup servers left. 0 sessions active, 0 requeued, 0 remaining in queue.");
  CHECK(server_event_text(server, ServerEvent::Down, ", changed from CLI", false, f) ==
        "Server b1/s1 is DOWN, changed from CLI. 1 active and 1 backup servers left. 0 sessions active, 0 requeued, 0 remaining in queue.");
  CHECK(server_event_text(follower, ServerEvent::Down, {}, true, {0, 1, 0, 0, 0}) ==
        "Server b1/s2 is DOWN via b1/s1. 0 active and 1 backup servers left. Running on backup. 0 sessions active, 0 requeued, 0 remaining in queue.");
  CHECK(server_event_text(spare, ServerEvent::Up, {}, false, {2, 1, 0, 0, 0}) ==
        "Backup Server b1/bk is UP. 2 active and 1 backup servers online. 0 sessions requeued, 0 total in queue.");
  CHECK(server_event_text(server, ServerEvent::Maintenance, {}, false, f) ==
        "Server b1/s1 is going DOWN for maintenance. 1 active and 1 backup servers left. 0 sessions active, 0 requeued, 0 remaining in queue.");
  CHECK(server_event_text(server, ServerEvent::Ready, {}, false, f) == "Server b1/s1 is UP/READY (leaving forced maintenance).");
  CHECK(server_event_text(follower, ServerEvent::Ready, {}, true, f) == "Server b1/s2 is UP/READY (leaving maintenance).");
  CHECK(server_event_text(server, ServerEvent::DrainEnd, {}, false, f) == "Server b1/s1 is UP (leaving forced drain).");
  CHECK(server_event_text(follower, ServerEvent::DrainEnd, {}, true, f) == "Server b1/s2 is UP (leaving drain) via b1/s1.");
  CHECK(server_event_text(follower, ServerEvent::Drain, {}, true, {0, 1, 0, 0, 0}) ==
        "Server b1/s2 enters drain state via b1/s1. 0 active and 1 backup servers online. Running on backup. 0 sessions requeued, 0 total in queue.");
  CHECK(server_event_text(server, ServerEvent::Stopping, {}, false, {}) ==
        "Server b1/s1 is stopping. 0 active and 0 backup servers online. 0 sessions requeued, 0 total in queue.");
  CHECK(level_of(ServerEvent::Down) == LogLevel::Alert);
  CHECK(level_of(ServerEvent::Drain) == LogLevel::Notice);
}

TEST_CASE_FIXTURE(Fixture, "health check lines") {
  CheckFindings f;
  f.status = CheckStatus::L4Ok, f.passed = true, f.health = 1, f.rise = 1, f.fall = 1;
  CHECK(check_event_text(server, f) == "Health check for server b1/s1 succeeded, reason: Layer4 check passed, check duration: 0ms, status: 1/1 UP.");
  f.status = CheckStatus::L4Connect, f.passed = false, f.info = "Connection refused", f.health = 0, f.rise = 2, f.fall = 2;
  CHECK(check_event_text(spare, f) ==
        "Health check for backup server b1/bk failed, reason: Layer4 connection problem, info: \"Connection refused\", check duration: 0ms, status: 0/2 DOWN.");
  f.status = CheckStatus::L7OkConditional, f.passed = f.conditionally = true, f.code = 404, f.info = {}, f.health = 1, f.rise = 1, f.fall = 1;
  CHECK(check_event_text(server, f) ==
        "Health check for server b1/s1 conditionally succeeded, reason: Layer7 check conditionally passed, code: 404, check duration: 0ms, status: 1/1 UP.");
  f.status = CheckStatus::L4Connect, f.passed = f.conditionally = false, f.code = 0, f.info = "Connection refused", f.health = 2, f.rise = 2, f.fall = 2;
  CHECK(check_event_text(server, f) ==
        "Health check for server b1/s1 failed, reason: Layer4 connection problem, info: \"Connection refused\", check duration: 0ms, status: 1/2 UP.");
}
