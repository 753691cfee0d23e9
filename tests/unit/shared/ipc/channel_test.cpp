// SPDX-License-Identifier: BSD-2-Clause
#include "shared/ipc/channel.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

using namespace penstock;

TEST_CASE("a message arrives whole, in order, with its generation") {
  auto [a, b] = Channel::pair(7);
  CHECK_FALSE(b.receive());
  CHECK_FALSE(b.closed());
  REQUIRE(a.send(MessageType::Ready, "hello"));
  REQUIRE(a.send(MessageType::Drain));
  auto first = b.receive();
  REQUIRE(first);
  CHECK(first->type() == MessageType::Ready);
  CHECK(first->payload == "hello");
  CHECK(first->header.generation == 7);
  CHECK(first->header.sequence == 1);
  auto second = b.receive();
  REQUIRE(second);
  CHECK(second->header.sequence == 2);
  CHECK(second->payload.empty());
}

TEST_CASE("numbers and descriptors travel") {
  auto [a, b] = Channel::pair(1);
  u32 numbers[] = {3, 1, 4};
  REQUIRE(a.send_numbers(MessageType::StopAccepting, numbers));
  auto m = b.receive();
  REQUIRE(m);
  CHECK(m->numbers() == std::vector<u32>{3, 1, 4});
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  REQUIRE(a.send(MessageType::CliConnection, {}, std::span<const int>(pipe_ends, 1)));
  m = b.receive();
  REQUIRE(m);
  REQUIRE(m->fds.size() == 1);
  CHECK(m->fds[0] != pipe_ends[0]);
  CHECK((fcntl(m->fds[0], F_GETFD) & FD_CLOEXEC) != 0);
  for (int fd : {pipe_ends[0], pipe_ends[1], m->fds[0]}) close(fd);
}

TEST_CASE("the end of the peer is seen after what it said") {
  auto [a, b] = Channel::pair(1);
  a.send(MessageType::Ready);
  a.close();
  CHECK(b.receive());
  CHECK_FALSE(b.receive());
  CHECK(b.closed());
  CHECK_FALSE(b.send(MessageType::Ready));
}
