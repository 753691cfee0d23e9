// SPDX-License-Identifier: BSD-2-Clause
#include "master/manifest.h"

#include <doctest/doctest.h>

using namespace penstock;

TEST_CASE("a manifest survives its text form") {
  Manifest m;
  m.generation = 7;
  m.workers = 4;
  m.reloads = 2;
  m.started_s = 1234;
  m.hard = true;
  m.askers = {9, 11};
  m.service = {3, 4, 5};
  m.board = {6};
  m.master_socket = 12;
  m.master_socket_key = "stream unix@/run/with space";
  m.messages = "line one\nback\\slash\n";
  m.children.push_back({.control = true, .pid = 100, .generation = 7, .slot = 65, .channel = 20, .version = "0.2.0"});
  m.children.push_back({.draining = true, .pid = 101, .generation = 6, .slot = 3, .index = 1, .hard_stop_after = 5000, .channel = 21, .version = "0.1.0"});
  m.groups.push_back({.id = 1, .selected = true, .fds = {30, 31, 32}, .key = "stream 127.0.0.1:80"});
  m.groups.push_back({.id = 2, .shared = true, .fds = {33}, .key = "stream abns@x"});
  auto back = Manifest::from_text(m.to_text());
  REQUIRE(back);
  CHECK(*back == m);
  CHECK(back->descriptors().size() == 13);
}

TEST_CASE("an unknown line is skipped, garbage is refused") {
  Manifest m;
  m.reloads = 3;
  auto back = Manifest::from_text(m.to_text() + "future 1 2 3\n");
  REQUIRE(back);
  CHECK(back->reloads == 3);
  CHECK_FALSE(Manifest::from_text(""));
  CHECK_FALSE(Manifest::from_text("something else\n"));
  CHECK_FALSE(Manifest::from_text("penstock manifest 1\nstate x\n"));
}
