// SPDX-License-Identifier: BSD-2-Clause
// The seams for HTTP/2: a made-up multiplexing codec, whose one client connection carries many streams,
// drives the real steps, pumps and server connections without any of them knowing. The origin is a listening
// socket that the test answers by hand, in the reverse order of the requests.
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "worker/runtime.h"
#include "worker/stream/carrier.h"
#include "worker/stream/flow.h"

using namespace penstock;

namespace {

/// One stream of the fake connection: a request that is there at once, a response that is collected.
struct FakeStream final : Endpoint {
  HttpMessage request;
  H1Framing framed;
  std::string body, answer_body;
  u16 answer_status = 0;
  bool head_sent = false, finished = false;
  size_t window = 3; // what the peer's flow control lets through per call: forces many rounds
  Address nobody;

  void pull() override {}
  bool head_ready() const override { return true; }
  HttpMessage &message() override { return request; }
  const H1Framing &framing() const override { return framed; }
  void next_head() override {}
  void become_bytes() override {}
  bool receive_done() const override { return body.empty(); }
  Incoming peek() override { return {body, true, false}; }
  void consume(size_t n) override { body.erase(0, n); }
  bool may_have_more() const override { return !body.empty(); }
  bool anything_received() const override { return true; }
  bool peer_gone() const override { return false; }
  void want(size_t) override {}
  void pause_reading(bool) override {}
  bool send_head(const HttpMessage &m, OutgoingBody) override {
    answer_status = m.status();
    return head_sent = true;
  }
  size_t send(string_view bytes, bool) override {
    size_t n = std::min(bytes.size(), window);
    answer_body += bytes.substr(0, n);
    return n;
  }
  void flush() override {}
  bool finish(string_view) override { return finished = true; }
  bool flushed() const override { return true; }
  bool send_failed() const override { return false; }
  void abort(bool) override {}
  EndpointFault fault() const override { return EndpointFault::None; }
  bool is_open() const override { return true; }
  u64 bytes_in() const override { return 10; }
  u64 bytes_out() const override { return answer_body.size(); }
};

struct FakeMuxSession final : CarrierSession {
  std::map<Stream *, FakeStream *> open;
  size_t ended = 0;
  explicit FakeMuxSession(const Proxy &p, const Bind &b) {
    frontend_ = &p, bind_ = &b;
    peer_ = Address::from_ip(Ip::v4(0x7f000001), 1);
    local_ = std::make_unique<Address>(peer_);
  }
  void start(FakeStream &e) {
    request_count_++;
    PooledStream &s = begin_stream(*this, e);
    open[&s] = &e;
    run_stream(s);
  }
  void stream_ended(Stream &s, Endpoint &, bool) override { open.erase(&s), ended++; }
  ProxyCounters *listener_counters() override { return nullptr; }
  /// The peer has opened its window.
  void wake_all() {
    for (auto &[s, e] : open) s->wake();
  }
};

int listen_on_loopback(Address &where) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in sa{};
  sa.sin_family = AF_INET, sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof sa;
  REQUIRE(bind(fd, reinterpret_cast<sockaddr *>(&sa), size) == 0);
  REQUIRE(listen(fd, 16) == 0);
  getsockname(fd, reinterpret_cast<sockaddr *>(&sa), &size);
  where = Address::from_sockaddr(reinterpret_cast<sockaddr *>(&sa), size);
  return fd;
}

std::string receive_head(int fd) {
  std::string got;
  char c;
  while (got.find("\r\n\r\n") == std::string::npos && recv(fd, &c, 1, 0) == 1) got += c;
  return got;
}

} // namespace

TEST_CASE("streams of one multiplexed connection run side by side over the steps, out of order") {
  std::string error;
  auto service = Service::create(error);
  REQUIRE(service != nullptr);
  Address origin;
  int listener = listen_on_loopback(origin);

  Config config;
  auto proxy = std::make_unique<Proxy>();
  proxy->name = "p", proxy->mode = Mode::Http, proxy->is_frontend = proxy->is_backend = true;
  proxy->timeout.client = proxy->timeout.server = proxy->timeout.connect = 5000;
  proxy->binds.push_back(std::make_unique<Bind>());
  proxy->binds[0]->proxy = proxy.get();
  auto server = std::make_unique<Server>();
  server->name = "s", server->proxy = proxy.get(), server->address = origin;
  server->options = std::make_shared<ServerOptions>();
  proxy->servers.push_back(std::move(server));
  config.server_count = 1;
  config.proxies.push_back(std::move(proxy));
  REQUIRE(service->assign_rows(config, error));
  auto slot = service->claim_slot(1, 0);
  REQUIRE(slot.has_value());

  WorkerStart start;
  start.config = &config, start.service = service.get(), start.slot = *slot;
  auto owned = std::make_unique<Runtime>(start);
  {
    FakeMuxSession session(*config.proxies[0], *config.proxies[0]->binds[0]);
    constexpr size_t count = 3;
    FakeStream streams[count];
    for (size_t i = 0; i < count; i++) {
      streams[i].request.make_request("GET", "/" + std::to_string(i));
      streams[i].request.add("host", "a");
      streams[i].framed.keep_alive = true;
      session.start(streams[i]);
    }
    CHECK(session.open.size() == count);
    std::vector<std::pair<int, std::string>> calls;
    for (size_t i = 0; i < count; i++) {
      int fd = accept(listener, nullptr, nullptr);
      owned->loop.turn(10);
      owned->loop.turn(10);
      calls.emplace_back(fd, receive_head(fd));
    }
    std::reverse(calls.begin(), calls.end());
    for (auto &[fd, head] : calls) {
      std::string body = "answer to " + head.substr(4, 2);
      std::string all = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
      REQUIRE(send(fd, all.data(), all.size(), 0) == static_cast<ssize_t>(all.size()));
      size_t before = session.ended;
      for (int round = 0; round < 50 && session.ended == before; round++) owned->loop.turn(2), session.wake_all();
      CHECK(session.ended == before + 1);
    }
    for (size_t i = 0; i < count; i++) {
      CHECK(streams[i].answer_status == 200);
      CHECK(streams[i].finished);
      CHECK(streams[i].answer_body == "answer to /" + std::to_string(i));
    }
    CHECK(owned->servers[0]->idle.size() == count);
    owned->servers[0]->idle.close_all();
    owned->loop.turn(0);
    for (auto &[fd, head] : calls) close(fd);
  }
  owned.reset();
  runtime = nullptr;
  set_this_worker(nullptr);
  close(listener);
}
