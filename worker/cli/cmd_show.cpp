// SPDX-License-Identifier: BSD-2-Clause
// Commands that show figures and facts: statistics, the process, the environment. Servers are in
// cmd_show_server.cpp, streams in cmd_stream.cpp.
#include <cstdio>
#include <cstring>

#include "shared/base/build_info.h"
#include "shared/base/text.h"
#include "worker/cli/cli_session.h"
#include "worker/stats/collect.h"
#include "worker/stats/info.h"

extern char **environ;

namespace penstock {

namespace {

// ------------------------------------------------------------------------------------ statistics

class StatAnswer : public CliAnswer {
 public:
  StatAnswer(Control &c, StatFilter filter, DumpForm form, bool descriptions)
      : cursor_(*c.config, *c.service, std::move(filter)), form_(form), descriptions_(descriptions) {
    cursor_.set_time(c.loop.now(), c.loop.wall_now_us() / 1'000'000);
  }
  More next(std::string &out) override {
    if (!begun_) dump_stat_head(out, form_);
    begun_ = true;
    for (int lines = 0; lines < 8; lines++) {
      if (!cursor_.next(subject_)) {
        dump_stat_tail(out, form_);
        return More::Done;
      }
      dump_stat(out, form_, descriptions_, first_, subject_);
    }
    return More::Yes;
  }

 private:
  StatCursor cursor_;
  StatSubject subject_;
  DumpForm form_;
  bool descriptions_, first_ = true, begun_ = false;
};

void show_stat(CliCall &call) {
  StatFilter filter;
  DumpForm form = DumpForm::Csv;
  bool descriptions = false;
  size_t at = 0;
  // Three words that begin with a number or a name choose one object.
  if (call.args() >= 3 && parse_i64(call.arg(1)) && parse_i64(call.arg(2))) {
    if (auto iid = parse_i64(call.arg(0))) {
      filter.iid = *iid;
    } else {
      filter.proxy_name = call.arg(0);
      const Config &config = *call.control.config;
      if (!config.frontend(call.arg(0)) && !config.backend(call.arg(0))) return call.fail("No such proxy.");
    }
    i64 types = *parse_i64(call.arg(1));
    filter.types = types < 0 ? 7u : static_cast<u32>(types);
    filter.sid = *parse_i64(call.arg(2));
    at = 3;
  }
  for (; at < call.args(); at++) {
    string_view word = call.arg(at);
    if (word == "typed") form = DumpForm::Typed;
    else if (word == "json") form = DumpForm::Json;
    else if (word == "desc") descriptions = true;
    else if (word == "no-maint") filter.no_maint = true;
    else if (word == "up") filter.up_only = true;
  }
  // the name must outlive the line
  if (!filter.proxy_name.empty()) {
    const Proxy *p = call.control.config->frontend(filter.proxy_name);
    filter.proxy_name = (p ? p : call.control.config->backend(filter.proxy_name))->name;
  }
  call.answer = std::make_unique<StatAnswer>(call.control, std::move(filter), form, descriptions);
}

void show_info(CliCall &call) {
  InfoForm form = InfoForm::Plain;
  bool descriptions = false;
  for (size_t i = 0; i < call.args(); i++) {
    if (call.arg(i) == "typed") form = InfoForm::Typed;
    else if (call.arg(i) == "json") form = InfoForm::Json;
    else if (call.arg(i) == "desc") descriptions = true;
  }
  InfoSubject subject = read_info(*call.control.config, *call.control.service, call.control.loop.now(), call.control.loop.wall_now_us() / 1'000'000);
  subject.stopping = call.control.draining;
  dump_info(call.out, form, descriptions, subject);
}

void show_schema(CliCall &call) { call.out += stats_schema(); }

// ------------------------------------------------------------------------------------ the process

void show_version(CliCall &call) { (call.out += product_version) += '\n'; }

void show_env(CliCall &call) {
  string_view wanted = call.arg(0);
  for (char **e = environ; *e; e++) {
    string_view line = *e;
    if (wanted.empty() || line.substr(0, line.find('=')) == wanted) (call.out += line) += '\n';
  }
  if (!wanted.empty() && call.out.empty()) call.fail("Variable not found");
}

void show_backend(CliCall &call) {
  call.out += "# name\n";
  for (auto &p : call.control.config->proxies)
    if (p->is_backend) (call.out += p->name) += '\n';
}

void show_cli_sockets(CliCall &call) {
  call.out += "# socket lvl processes\n";
  for (auto &b : call.control.config->global.stats_sockets) {
    std::string name = b->address ? b->address.text() : "fd@" + std::to_string(b->inherited_fd);
    ((call.out += name) += ' ') += level_name(static_cast<CliLevel>(b->level));
    call.out += " all\n";
  }
}

void show_startup_logs(CliCall &call) { call.out += call.control.start.startup_log; }

/// A figure of the workers: the total, then each worker's.
struct Activity {
  string_view name;
  Counter ProcessCounters::*counter;
};
constexpr Activity activities[] = {
    {"accepted", &ProcessCounters::connections},
    {"accepts_failed", &ProcessCounters::accepts_failed},
    {"requests", &ProcessCounters::requests},
    {"listeners", &ProcessCounters::listeners},
    {"bytes_in", &ProcessCounters::bytes_in},
    {"bytes_out", &ProcessCounters::bytes_out},
};

void show_activity(CliCall &call) {
  const Service &service = *call.control.service;
  u32 slots[max_slots], n = 0;
  for (u32 s = 0; s < max_slots; s++)
    if (service.slot_in_use(s)) slots[n++] = s;
  call.out += "workers: " + std::to_string(n) + " [";
  for (u32 i = 0; i < n; i++) call.out += " pid=" + std::to_string(service.slot(slots[i]).pid.load());
  i64 wall = call.control.loop.wall_now_us();
  char date[64];
  std::snprintf(date, sizeof date, " ]\ndate_now: %lld.%06lld\n", static_cast<long long>(wall / 1'000'000), static_cast<long long>(wall % 1'000'000));
  call.out += date;
  for (const Activity &a : activities) {
    u64 total = 0;
    std::string each;
    for (u32 i = 0; i < n; i++) {
      u64 value = (service.slot(slots[i]).process.*a.counter).get();
      total += value;
      each += ' ' + std::to_string(value);
    }
    ((((call.out += a.name) += ": ") += std::to_string(total)) += " [") += each + " ]\n";
  }
}

constexpr CliCommand rows[] = {
    {.words = "show activity", .level = CliLevel::Operator,
     .doc = {.summary = "Figures about the workers' work, in total and each.", .text = {}, .example = "show activity"}, .run = show_activity},
    {.words = "show backend", .doc = {.summary = "Names of the backends.", .text = {}, .example = "show backend"}, .run = show_backend},
    {.words = "show cli sockets", .level = CliLevel::Operator,
     .doc = {.summary = "The runtime sockets and their levels.", .text = {}, .example = "show cli sockets"}, .run = show_cli_sockets},
    {.words = "show env", .usage = "[var]", .level = CliLevel::Operator,
     .doc = {.summary = "Environment variables of the service.", .text = {}, .example = "show env PATH"}, .run = show_env},
    {.words = "show info", .usage = "[desc|json|typed]*",
     .doc = {.summary = "Figures about the service as a whole.", .text = {}, .example = "show info typed"}, .run = show_info},
    {.words = "show schema", .usage = "json",
     .doc = {.summary = "The JSON schema of the other JSON answers.", .text = {}, .example = "show schema json"}, .run = show_schema},
    {.words = "show startup-logs", .level = CliLevel::Operator,
     .doc = {.summary = "What was said while the configuration was read.", .text = {}, .example = "show startup-logs"}, .run = show_startup_logs},
    {.words = "show stat", .usage = "[<px> <type> <srv>] [desc|json|no-maint|typed|up]*",
     .doc = {.summary = "Statistics of every frontend, listener, server and backend, summed over all workers.",
             .text = "<px> is a proxy's number or name or -1, <type> a sum of 1 (frontends), 2 (backends) and 4 (servers), <srv> a server's number or -1.",
             .example = "show stat -1 4 -1 up"}, .run = show_stat},
    {.words = "show version", .doc = {.summary = "Version of the serving process.", .text = {}, .example = "show version"}, .run = show_version},
};

} // namespace

std::span<const CliCommand> show_commands() { return rows; }

} // namespace penstock
