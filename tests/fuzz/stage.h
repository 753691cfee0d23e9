// SPDX-License-Identifier: BSD-2-Clause
// A stream to evaluate on without a connection: a configuration with the objects that expressions name, a worker's
// state, and a client's endpoint that holds the request which the fuzzer made up. Set up once per process.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include "master/config/parser.h"
#include "tests/fuzz/fuzz.h"
#include "worker/http/h1_head.h"
#include "worker/runtime.h"
#include "worker/stream/carrier.h"
#include "worker/stream/flow.h"

namespace penstock {

inline constexpr string_view stage_config = R"(global
    nbthread 1
    maxconn 100
userlist people
    user ann insecure-password secret groups staff
    group staff
frontend fe
    mode http
    bind 127.0.0.1:1
    timeout client 1s
    declare capture request len 20
    declare capture response len 20
    acl local src 127.0.0.0/8
    acl post method POST
    default_backend be
backend be
    mode http
    timeout server 1s
    timeout connect 1s
    server s1 127.0.0.1:2
    server s2 127.0.0.1:3 weight 5 backup
)";

/// Both sides of a stream that nobody is connected to.
struct StageEndpoint final : Endpoint {
  HttpMessage head;
  H1Framing framed;
  string_view body;
  bool ended = true;

  void pull() override {}
  bool head_ready() const override { return true; }
  HttpMessage &message() override { return head; }
  const H1Framing &framing() const override { return framed; }
  void next_head() override {}
  void become_bytes() override {}
  bool receive_done() const override { return body.empty(); }
  Incoming peek() override { return {body, ended, false}; }
  void consume(size_t n) override { body.remove_prefix(n); }
  bool may_have_more() const override { return false; }
  bool anything_received() const override { return true; }
  bool peer_gone() const override { return false; }
  void want(size_t) override {}
  void pause_reading(bool) override {}
  bool send_head(const HttpMessage &, OutgoingBody) override { return true; }
  size_t send(string_view bytes, bool) override { return bytes.size(); }
  void flush() override {}
  bool finish(string_view) override { return true; }
  bool flushed() const override { return true; }
  bool send_failed() const override { return false; }
  void abort(bool) override {}
  EndpointFault fault() const override { return EndpointFault::None; }
  bool is_open() const override { return true; }
  u64 bytes_in() const override { return body.size(); }
  u64 bytes_out() const override { return 0; }
};

struct StageSession final : CarrierSession {
  StageSession(const Proxy &p, const Bind &b) {
    frontend_ = &p, bind_ = &b;
    peer_ = Address::from_ip(Ip::v4(0x7f000001), 4711);
    local_ = std::make_unique<Address>(Address::from_ip(Ip::v4(0x7f000001), 80));
    request_count_ = 1;
  }
  void stream_ended(Stream &, Endpoint &, bool) override {}
  ProxyCounters *listener_counters() override { return nullptr; }
};

/// The configuration and the worker.
class Stage : Pinned {
 public:
  static Stage &get() {
    static Stage *stage = new Stage; // lives as long as the process
    return *stage;
  }
  Config config;
  Proxy &frontend() { return *config.proxies[0]; }
  Proxy &backend() { return *config.proxies[1]; }
 private:
  Stage() {
    MemoryFile file;
    Diagnostics diags;
    read_configuration({file.holding(stage_config)}, config, diags);
    for (const Diagnostic &d : diags.all()) std::fprintf(stderr, "%s\n", to_text(d).c_str());
    must(!diags.failed(), "the stage's configuration is good");
    std::string error;
    service_ = Service::create(error);
    must(service_ && service_->assign_rows(config, error), "there is memory to share");
    auto slot = service_->claim_slot(1, 0);
    must(slot.has_value(), "there is a slot");
    WorkerStart start;
    start.config = &config, start.service = service_.get(), start.slot = *slot;
    runtime_ = std::make_unique<Runtime>(start);
  }
  std::unique_ptr<Service> service_;
  std::unique_ptr<Runtime> runtime_;
};

/// What compiling one input leaves in the configuration goes with this, so that thousands do not add up. To be declared
/// before what is compiled.
class StageInput : Pinned {
 public:
  ~StageInput() {
    config_.pending_names.clear();
    config_.pattern_files = std::move(patterns_);
    if (config_.variables.size() > 1000) config_.variables.clear();
    Stage::get().frontend().captures.resize(captures_);
  }

 private:
  Config &config_ = Stage::get().config;
  std::shared_ptr<PatternFiles> patterns_ = std::move(config_.pattern_files); // the input gets lists of its own
  size_t captures_ = Stage::get().frontend().captures.size();
};

/// One stream on the stage: its request, its response, its body.
class StageStream : Pinned {
 public:
  StageStream(string_view request, string_view response, string_view body)
      : session_(Stage::get().frontend(), *Stage::get().frontend().binds[0]), stream_(begin_stream(session_, client_)) {
    u32 scanned = 0;
    H1Limits limits;
    if (parse_request_head(request, limits, scanned, client_.head, client_.framed).status != HeadStatus::Complete) {
      client_.head.clear();
      client_.head.make_request("POST", "/a/b.html?x=1&y=%20");
      client_.head.add("host", "www.example.org:8080");
      client_.head.add("cookie", "a=1; b=2");
      client_.head.add("authorization", "Basic YW5uOnNlY3JldA==");
    }
    client_.body = body;
    stream_.set_request_seen();
    scanned = 0;
    if (parse_response_head(response, limits, Method::Get, scanned, server_.head, server_.framed).status != HeadStatus::Complete) {
      server_.head.clear();
      server_.head.make_response(200, "OK");
      server_.head.add("set-cookie", "s=1; path=/");
    }
    server_.body = body;
    stream_.set_backend(Stage::get().backend());
  }
  ~StageStream() { stream_.release(); }
  /// Where rules of responses run there is a server.
  void with_response() {
    stream_.set_server(Stage::get().backend().servers[0].get());
    stream_.set_server_side(&server_);
    stream_.set_response(&server_.head);
  }
  PooledStream &stream() { return stream_; }

 private:
  StageEndpoint client_, server_;
  StageSession session_;
  PooledStream &stream_;
};

} // namespace penstock
