// SPDX-License-Identifier: BSD-2-Clause
// `show servers state` (the format of state files, management guide 9.3) and `show servers conn`.
#include <algorithm>

#include "shared/model/check_status.h"
#include "shared/shm/server_state.h"
#include "worker/cli/command.h"

namespace penstock {

namespace {

/// The numbers that state files use for the outcome of a check, by CheckStatus.
constexpr u8 status_numbers[] = {0, 1, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 18, 19, 20, 4};
static_assert(sizeof status_numbers == static_cast<size_t>(CheckStatus::count_));

enum CheckResultNumber : u8 { result_unknown = 0, result_failed = 2, result_passed = 3, result_conditional = 4 };

u8 result_of(CheckStatus s) {
  switch (s) {
    case CheckStatus::Unknown:
    case CheckStatus::Initializing: return result_unknown;
    case CheckStatus::L4Ok:
    case CheckStatus::L6Ok:
    case CheckStatus::L7Ok:
    case CheckStatus::ProcessOk: return result_passed;
    case CheckStatus::L7OkConditional: return result_conditional;
    default: return result_failed;
  }
}

/// Bits: 1 under way, 2 configured, 4 enabled.
u32 state_of(bool configured, const CheckReport &r) {
  if (!configured) return 0;
  return 2u | (r.enabled.load() ? 4u : 0u) | (r.running.load() ? 1u : 0u);
}

Address address_of(const Server &s, const ServerRow &row) {
  Address a = s.address;
  runtime_address(row, a);
  return a;
}

void state_line(std::string &out, const Control &c, const Server &s) {
  const ServerRow &row = c.service->server(s.row);
  Address a = address_of(s, row);
  u32 admin = row.admin.load();
  if (admin & admin_config_maint) admin |= admin_forced_maint;
  auto status = static_cast<CheckStatus>(row.check.status.load());
  const ServerOptions &o = *s.options;
  auto add = [&](u64 n) { (out += std::to_string(n)) += ' '; };
  auto text = [&](string_view t) { (out += t.empty() ? string_view("-") : t) += ' '; };
  add(s.proxy->id);
  text(s.proxy->name);
  add(s.id);
  text(s.name);
  text(a.is_inet() ? a.ip.text() : "-");
  add(row.op_state.load());
  add(admin);
  add(row.weight.load());
  add(row.configured_weight);
  add(static_cast<u64>(std::max<i64>(0, c.loop.now() - row.last_change.load()) / 1000));
  add(o.check ? status_numbers[static_cast<u8>(status)] : 1);
  add(o.check ? result_of(status) : 0);
  add(o.check ? row.check.health.load() : op_state(row) == OpState::Stopped ? 0 : o.rise);
  add(state_of(o.check, row.check));
  add(state_of(o.agent_check, row.agent));
  add(0); // bk_f_forced_id
  add(0); // srv_f_forced_id
  text(s.host);
  add(a.port);
  text("-"); // srvrecord
  add(0);    // srv_use_ssl
  add(o.check_port);
  text(o.check_addr ? o.check_addr.ip.text() : "-");
  text(o.agent_addr ? o.agent_addr.ip.text() : "-");
  add(o.agent_port);
  out.back() = '\n';
}
constexpr string_view state_head =
    "1\n# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight srv_iweight srv_time_since_last_change "
    "srv_check_status srv_check_result srv_check_health srv_check_state srv_agent_state bk_f_forced_id srv_f_forced_id srv_fqdn srv_port "
    "srvrecord srv_use_ssl srv_check_port srv_check_addr srv_agent_addr srv_agent_port\n";

std::vector<u32> slots_in_use(const Service &service) {
  std::vector<u32> slots;
  for (u32 s = 0; s < max_slots; s++)
    if (service.slot_in_use(s)) slots.push_back(s);
  return slots;
}

void conn_line(std::string &out, const Control &c, const Server &s) {
  const ServerRow &row = c.service->server(s.row);
  ServerCounters sum = c.service->sum_server(s.row);
  Address a = address_of(s, row);
  u64 idle = sum.idle_conns.get() + sum.safe_conns.get();
  out += s.proxy->name + "/" + s.name + " " + std::to_string(s.proxy->id) + "/" + std::to_string(s.id) + " ";
  out += a.is_inet() ? a.ip.text() : a.text();
  auto add = [&](i64 n) { (out += ' ') += std::to_string(n); };
  add(a.port);
  out += " -";
  add(s.options->pool_purge_delay);
  add(static_cast<i64>(sum.used_conns.get()));
  add(static_cast<i64>(row.sess_max.load()));
  add(static_cast<i64>(sum.used_conns.get()));
  add(static_cast<i64>(sum.idle_conns.get()));
  add(static_cast<i64>(sum.safe_conns.get()));
  add(s.options->pool_max_conn);
  add(static_cast<i64>(idle));
  for (u32 slot : slots_in_use(*c.service)) {
    const ServerCounters &own = c.service->server_cell(slot, s.row).counters;
    add(static_cast<i64>(own.idle_conns.get() + own.safe_conns.get()));
  }
  out += '\n';
}

/// A line per server of one backend or of all.
class ServerLines : public CliAnswer {
 public:
  using Line = void (*)(std::string &, const Control &, const Server &);
  ServerLines(Control &control, const Proxy *only, Line line) : control_(control), only_(only), line_(line) {}
  More next(std::string &out) override {
    const auto &proxies = control_.config->proxies;
    for (int lines = 0; lines < 32;) {
      if (proxy_ == proxies.size()) return More::Done;
      const Proxy &p = *proxies[proxy_];
      if ((only_ && only_ != &p) || server_ == p.servers.size()) {
        proxy_++, server_ = 0;
        continue;
      }
      const Server &s = *p.servers[server_++];
      if (s.row != no_row) line_(out, control_, s), lines++;
    }
    return More::Yes;
  }

 private:
  Control &control_;
  const Proxy *only_;
  Line line_;
  size_t proxy_ = 0, server_ = 0;
};

void show_lines(CliCall &call, std::string head, ServerLines::Line line) {
  const Proxy *only = nullptr;
  if (call.args()) {
    only = call.control.config->backend(call.arg(0));
    if (!only) return call.fail("Can't find backend.");
  }
  call.out += head;
  call.answer = std::make_unique<ServerLines>(call.control, only, line);
}

void show_state(CliCall &call) { show_lines(call, std::string(state_head), state_line); }
void show_conn(CliCall &call) {
  show_lines(call,
             "# bkname/svname bkid/svid addr port - purge_delay used_cur used_max need_est unsafe_nb safe_nb idle_lim idle_cur idle_per_thr[" +
                 std::to_string(slots_in_use(*call.control.service).size()) + "]\n",
             conn_line);
}

constexpr CliCommand rows[] = {
    {.words = "show servers conn", .usage = "[<backend>]", .level = CliLevel::Operator,
     .doc = {.summary = "Connections of every server, used and idle.", .text = {}, .example = "show servers conn app"}, .run = show_conn},
    {.words = "show servers state", .usage = "[<backend>]", .level = CliLevel::Operator,
     .doc = {.summary = "State of every server in the format of state files.", .text = "Keep the answer in a file for 'load-server-state-from-file'.", .example = "show servers state"}, .run = show_state},
};

} // namespace

std::span<const CliCommand> show_server_commands() { return rows; }

} // namespace penstock
