// SPDX-License-Identifier: BSD-2-Clause
#include "shared/shm/ring_buffer.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/base/text.h"

using namespace penstock;

namespace {

std::unique_ptr<RingBuffer> ring(size_t size) {
  std::string error;
  auto r = RingBuffer::create("test", size, error);
  REQUIRE(r != nullptr);
  return r;
}

bool put(RingBuffer &r, string_view a, string_view b = {}) {
  iovec parts[] = {{const_cast<char *>(a.data()), a.size()}, {const_cast<char *>(b.data()), b.size()}};
  return r.put(parts);
}

std::string all(RingBuffer &r) {
  auto reader = r.oldest();
  std::string out;
  while (r.has_more(reader)) r.read(reader, 1000, '|', out);
  return out;
}

} // namespace

TEST_CASE("a ring gives its messages in order and forgets the oldest") {
  auto r = ring(128);
  for (int i = 0; i < 100; i++) CHECK(put(*r, "message ", std::to_string(i))); // 14 bytes each
  CHECK(all(*r) == "message 91|message 92|message 93|message 94|message 95|message 96|message 97|message 98|message 99|");
  CHECK_FALSE(put(*r, std::string(125, 'x')));
  CHECK(put(*r, std::string(124, 'x')));
  CHECK(all(*r) == std::string(124, 'x') + "|");
}

TEST_CASE("a slow reader of a ring is told what it missed") {
  auto r = ring(128);
  auto slow = r->oldest();
  std::string out;
  u64 lost = 0;
  for (int i = 0; i < 100; i++) put(*r, "message ", std::to_string(i));
  CHECK(r->read_one(slow, out, lost));
  CHECK(out == "message 91");
  CHECK(lost == 91);
  CHECK(r->read(slow, 1000, '\n', out) == 0);
  CHECK_FALSE(r->has_more(slow));
  CHECK_FALSE(r->read_one(slow, out, lost));
  auto late = r->newest();
  CHECK_FALSE(r->has_more(late));
  put(*r, "one more");
  out.clear();
  CHECK(r->read_one(late, out, lost));
  CHECK(out == "one more");
}

TEST_CASE("a ring is whole after writers are killed in the middle") {
  auto r = ring(4096);
  for (int round = 0; round < 30; round++) {
    pid_t child = fork();
    if (child == 0) {
      for (unsigned i = 0;; i++) put(*r, std::string(i % 300, static_cast<char>('a' + i % 26)), "!");
    }
    usleep(500);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    put(*r, "still here!");
    std::string text = all(*r);
    CHECK(text.ends_with("still here!|"));
    for (string_view message : split(string_view(text).substr(0, text.size() - 1), '|')) CHECK(message.ends_with('!'));
  }
}

TEST_CASE("a ring is found again by its descriptor") {
  auto r = ring(500);
  put(*r, "before");
  r->served(1).number = 7;
  std::string error;
  auto again = RingBuffer::attach(dup(r->fd()), error);
  REQUIRE(again != nullptr);
  CHECK(again->name() == "test");
  CHECK(again->size() == 500);
  CHECK(all(*again) == "before|");
  CHECK(again->served(1).number == 7);
}
