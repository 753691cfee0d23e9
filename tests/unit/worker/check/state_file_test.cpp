// SPDX-License-Identifier: BSD-2-Clause
#include "worker/check/state_file.h"

#include <doctest/doctest.h>

using namespace penstock;

TEST_CASE("server state file: rows of format 1") {
  std::vector<SavedServer> rows;
  std::string error;
  REQUIRE(parse_server_states("1\n# be_id be_name …\n3 app 1 s1 127.0.0.1 0 8 5 10 77 6 3 0 6 0 0 0 - 8080 - 0 0 - - 0\n", rows, error));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].backend == "app");
  CHECK(rows[0].op_state == 0);
  CHECK(rows[0].admin == 8);
  CHECK(rows[0].user_weight == 5);
  CHECK(rows[0].initial_weight == 10);
  CHECK(rows[0].seconds_since_change == 77);
  CHECK(rows[0].port == 8080);
}

TEST_CASE("server state file: another format is refused with its reason") {
  std::vector<SavedServer> rows;
  std::string error;
  CHECK_FALSE(parse_server_states("7\n", rows, error));
  CHECK(error.find("format version 1") != std::string::npos);
  CHECK_FALSE(parse_server_states("", rows, error));
}
