// SPDX-License-Identifier: BSD-2-Clause
#include "worker/check/agent.h"

#include <doctest/doctest.h>

using namespace penstock;

TEST_CASE("agent: words may come in any order, separated by blanks, tabs or commas") {
  AgentReport a = parse_agent_report("75%,up\tmaxconn:30 ready\nignored");
  CHECK(a.understood);
  CHECK(a.weight_percent == 75u);
  CHECK(a.maxconn == 30u);
  CHECK(a.operation == AgentReport::Up);
  CHECK(a.admin == AgentReport::Ready);
}

TEST_CASE("agent: weight: takes an absolute value or a percentage") {
  CHECK(parse_agent_report("weight:12").weight == 12u);
  CHECK(parse_agent_report("weight:50%").weight_percent == 50u);
  CHECK_FALSE(parse_agent_report("weight:300").weight);
  CHECK_FALSE(parse_agent_report("weight:").understood);
}

TEST_CASE("agent: a reason follows the sharp") {
  AgentReport a = parse_agent_report("stopped # for the night\r\n");
  CHECK(a.operation == AgentReport::Stopped);
  CHECK(a.description == "for the night");
}

TEST_CASE("agent: unknown words change nothing") {
  AgentReport a = parse_agent_report("hello world");
  CHECK_FALSE(a.understood);
  CHECK(a.operation == AgentReport::Silent);
  CHECK(a.admin == AgentReport::Unchanged);
}
