// SPDX-License-Identifier: BSD-2-Clause
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "shared/shm/segment.h"

using namespace penstock;

TEST_CASE("a segment grows in place and is found again by its descriptor") {
  std::string error;
  auto s = Segment::create("test", 7, size_t{1} << 30, 4096, error);
  REQUIRE(s);
  char *before = s->base();
  REQUIRE(s->grow(1 << 20));
  CHECK(s->base() == before);
  std::strcpy(s->at<char>(1 << 19), "still here");
  auto again = Segment::attach(dup(s->fd()), 7, size_t{1} << 30, error);
  REQUIRE_MESSAGE(again, error);
  CHECK(string_view(again->at<char>(1 << 19)) == "still here");
  CHECK(ftruncate(s->fd(), 4096) < 0); // sealed against shrinking
  CHECK(!s->grow(size_t{2} << 30));
}

TEST_CASE("another layout is refused") {
  std::string error;
  auto s = Segment::create("test", 7, 1 << 20, 4096, error);
  REQUIRE(s);
  CHECK(!Segment::attach(s->fd(), 8, 1 << 20, error));
  CHECK(error == "shared segment has another layout");
  int fd = open("/dev/null", O_RDONLY);
  CHECK(!Segment::attach(fd, 7, 1 << 20, error));
  close(fd);
}
