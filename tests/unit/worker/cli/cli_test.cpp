// SPDX-License-Identifier: BSD-2-Clause
// Lines, the list of commands, and whole conversations over a socket pair with a control process' parts.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "worker/cli/cli_line.h"
#include "worker/cli/cli_session.h"

using namespace penstock;

namespace {

std::string shown(const CliLine &l) {
  std::string out;
  for (auto &command : l.commands) {
    for (auto &word : command) out += "[" + word + "]";
    out += ";";
  }
  return out;
}

/// A control with one backend of two servers, and a client of its runtime socket.
struct Fixture {
  std::string error;
  std::unique_ptr<Service> service = Service::create(error);
  Config config;
  ControlStart start;
  std::unique_ptr<Control> control;
  int client = -1;

  Fixture() {
    auto p = std::make_unique<Proxy>();
    p->name = "app";
    p->id = 3;
    p->is_frontend = p->is_backend = true;
    p->mode = Mode::Http;
    auto options = std::make_shared<ServerOptions>();
    options->weight = 10;
    for (u32 i = 1; i <= 2; i++) {
      auto s = std::make_unique<Server>();
      s->name = "s" + std::to_string(i);
      s->proxy = p.get();
      s->id = i;
      s->index = s->global_index = i - 1;
      s->address = Address::from_ip(*parse_ip("127.0.0.1"), static_cast<u16>(8000 + i));
      s->options = options;
      p->servers.push_back(std::move(s));
    }
    config.frontends["app"] = config.backends["app"] = p.get();
    config.proxies.push_back(std::move(p));
    REQUIRE(service->assign_rows(config, error));
    config.global.stats_timeout = 600'000; // however slow this machine is
    start.config = &config;
    start.service = service.get();
    control = std::make_unique<Control>(start);
    control->states.refresh_all(control->loop.now());
    control->loop.turn(0);
  }
  ~Fixture() {
    if (client >= 0) close(client);
    for (int i = 0; i < 4; i++) control->loop.turn(10);
  }
  void connect(CliLevel level = CliLevel::Admin) {
    int pair[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0);
    if (client >= 0) close(client);
    client = pair[0];
    new CliSession(*control, pair[1], level);
  }
  void say(string_view text) { REQUIRE(write(client, text.data(), text.size()) == static_cast<ssize_t>(text.size())); }
  /// What comes until the end, or until nothing comes any more.
  std::string hear() {
    std::string got;
    char buffer[4096];
    for (int idle = 0; idle < 3;) {
      control->loop.turn(1);
      ssize_t n = read(client, buffer, sizeof buffer);
      if (n == 0) return got + "<end>";
      if (n > 0) got.append(buffer, static_cast<size_t>(n)), idle = 0;
      else idle++;
    }
    return got;
  }
  std::string ask(string_view line, CliLevel level = CliLevel::Admin) {
    connect(level);
    say(std::string(line) + "\n");
    return hear();
  }
  ServerRow &row(size_t i) { return service->server(config.proxies[0]->servers[i]->row); }
};

} // namespace

TEST_CASE("a line is taken apart into commands, words and the announcement of a payload") {
  CHECK(shown(parse_cli_line("show info")) == "[show][info];");
  CHECK(shown(parse_cli_line("  show   info ; ;show stat;")) == "[show][info];[show][stat];");
  CHECK(shown(parse_cli_line("echo a\\ b\\;c \\\\ \\n")) == "[echo][a b;c][\\][\\n];");
  CHECK(shown(parse_cli_line("")) == "");
  CliLine payload = parse_cli_line("set x <<");
  CHECK(payload.payload);
  CHECK(payload.payload_end == "");
  CHECK(shown(payload) == "[set][x];");
  CHECK(parse_cli_line("set x <<%END%").payload_end == "%END%");
  CHECK_FALSE(parse_cli_line("echo << x").payload);
}

TEST_CASE("every command is documented and findable") {
  for (const CliCommand *c : cli_commands()) {
    CAPTURE(c->words);
    CHECK(c->doc.summary.ends_with('.'));
    CHECK_FALSE(c->doc.example.empty());
    CHECK((c->run != nullptr));
    size_t length = 0;
    CliLine line = parse_cli_line(c->doc.example);
    REQUIRE(line.commands.size() == 1);
    CHECK(find_command(line.commands[0], length) == c);
  }
}

TEST_CASE_FIXTURE(Fixture, "one line, one answer, the end") {
  CHECK(ask("get weight app/s1") == "10 (initial 10)\n\n<end>");
  CHECK(ask("set weight app/s1 50%; get weight app/s1") == "\n5 (initial 10)\n\n<end>");
  CHECK(ask("get weight app/zz") == "No such server.\n\n<end>");
  CHECK(ask("get weight zz/s") == "No such backend.\n\n<end>");
  CHECK(ask("get weight app") == "Require 'backend/server'.\n\n<end>");
  CHECK(ask("set weight app/s1 300") == "Absolute weight can only be between 0 and 256 inclusive.\n\n<end>");
  CHECK(ask("") == "\n<end>");
  CHECK(ask("show backend") == "# name\napp\n\n<end>");
  CHECK(ask("echo a\\ b") == "a b\n\n<end>");
}

TEST_CASE_FIXTURE(Fixture, "half-closed clients get their answer, also to a line without its end") {
  connect();
  say("get weight app/s2");
  shutdown(client, SHUT_WR);
  CHECK(hear() == "10 (initial 10)\n\n<end>");
}

TEST_CASE_FIXTURE(Fixture, "levels are obeyed and can only be lowered") {
  CHECK(ask("set weight app/s1 3", CliLevel::Operator) == "Permission denied\n\n<end>");
  CHECK(ask("user; operator; show cli level") == "\n\nuser\n\n<end>");
  CHECK(ask("help", CliLevel::User).find("set server") == std::string::npos);
  CHECK(ask("help").find("  set server <bk>/<srv> [opts]            : Change") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "unknown commands get those that look like them") {
  std::string text = ask("show st");
  CHECK(text.starts_with("Unknown command: 'show', but maybe one of the following ones is a better match:\n"));
  CHECK(text.find("  show stat ") != std::string::npos);
  CHECK(text.find("  show info ") == std::string::npos);
  CHECK(text.find("  quit ") != std::string::npos);
  CHECK(ask("xyzzy").starts_with("Unknown command: 'xyzzy'. Please enter one of the following commands only:\n"));
}

TEST_CASE_FIXTURE(Fixture, "a prompt keeps the conversation") {
  connect();
  say("prompt\n");
  CHECK(hear() == "\n> ");
  say("show version;get weight app/s2\n");
  CHECK(hear().ends_with("\n\n10 (initial 10)\n\n> "));
  say("prompt i\nshow backend\n");
  CHECK(hear() == "\n# name\napp\n\n");
  say("set severity-output string\nget weight app/x\n");
  CHECK(hear() == "\n[err]: No such server.\n\n");
  say("quit\n");
  CHECK(hear() == "<end>");
}

TEST_CASE_FIXTURE(Fixture, "states change for the whole host") {
  ask("set server app/s1 state maint");
  CHECK(in_maintenance(row(0)));
  CHECK(row(0).effective_weight.load() == 0);
  ask("set server app/s1 state ready");
  CHECK_FALSE(in_maintenance(row(0)));
  ask("disable server app/s2");
  CHECK(in_maintenance(row(1)));
  ask("enable server app/s2; set server app/s2 state drain");
  CHECK(is_draining(row(1)));
  CHECK(ask("set server app/s1 addr 127.0.0.3 port 88") == "IP changed from '127.0.0.1' to '127.0.0.3', port changed from '8001' to '88' by 'stats socket command'\n\n<end>");
  CHECK(ask("set server app/s1 addr 127.0.0.3 port 88") == "nothing changed\n\n<end>");
  CHECK(ask("show servers state").find("3 app 1 s1 127.0.0.3 2 0 10 10 ") != std::string::npos);
  ask("set maxconn server app/s1 7; set maxconn frontend app 9");
  CHECK(row(0).maxconn.load() == 7);
  CHECK(service->proxy(config.proxies[0]->front_row).maxconn.load() == 9);
  ask("disable frontend app");
  CHECK(service->proxy(config.proxies[0]->front_row).state.load() == 1);
  CHECK(ask("disable frontend app") == "All sockets are already disabled.\n\n<end>");
  ask("set rate-limit sessions global 12");
  CHECK(service->row().maxsessrate.load() == 12);
}

TEST_CASE_FIXTURE(Fixture, "long answers stream while the client reads slowly") {
  Proxy &p = *config.proxies[0];
  for (u32 i = 3; i <= 2000; i++) {
    auto s = std::make_unique<Server>();
    s->name = "s" + std::to_string(i);
    s->proxy = &p;
    s->id = i;
    s->row = p.servers[0]->row;
    s->options = p.servers[0]->options;
    p.servers.push_back(std::move(s));
  }
  connect();
  say("show stat\n");
  for (int i = 0; i < 50; i++) control->loop.turn(0); // nobody reads
  std::string all = hear();
  CHECK(all.ends_with("\n\n<end>"));
  CHECK(std::count(all.begin(), all.end(), '\n') == 2000 + 2 + 1 + 1);
}

TEST_CASE_FIXTURE(Fixture, "figures of the process") {
  std::string info = ask("show info");
  CHECK(info.starts_with("Name: penstock\nVersion: "));
  CHECK(info.find("\nUptime_sec: ") != std::string::npos);
  CHECK(ask("show info typed").starts_with("0.Name.1:POS:str:penstock\n"));
  CHECK(ask("show info json").starts_with("[{\"field\":{\"pos\":0,\"name\":\"Name\"},"));
  CHECK(ask("show schema json").starts_with("{\"$schema\""));
}
