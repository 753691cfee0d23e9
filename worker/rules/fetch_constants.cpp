// SPDX-License-Identifier: BSD-2-Clause
// Fetches that need no traffic: constants, clocks, the process, variables (manual, section 7.3.2).
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "shared/base/text.h"
#include "shared/expr/run.h"
#include "shared/http/names.h"
#include "shared/model/config.h"
#include "worker/rules/random.h"
#include "worker/rules/rows.h"
#include "worker/stream/vars.h"
#include "worker/worker.h"

namespace penstock {

namespace {

PENSTOCK_FETCH(always_false) { return give_bool(out, false); }
PENSTOCK_FETCH(always_true) { return give_bool(out, true); }
PENSTOCK_FETCH(fetch_str) { return give_str(out, args[0].str); }
PENSTOCK_FETCH(fetch_int) { return give_int(out, args[0].num); }
PENSTOCK_FETCH(fetch_bool) { return give_bool(out, args[0].num); }
PENSTOCK_FETCH(fetch_ip) {
  out.set_ip(args[0].ip);
  return true;
}
PENSTOCK_FETCH(fetch_bin) {
  out.set_bin(args[0].str);
  return true;
}
PENSTOCK_FETCH(fetch_meth) {
  out.type = Type::Meth;
  out.num = args[0].num;
  out.str = args[0].str;
  return true;
}

bool check_bool(Args &args, std::string &error) {
  string_view word = args[0].str;
  bool yes = word == "true" || word == "1", no = word == "false" || word == "0";
  args[0].num = yes;
  if (!yes && !no) error = "expects true, false, 1 or 0, got '" + args[0].str + "'";
  return yes || no;
}
bool check_v4(Args &args, std::string &error) {
  if (args[0].ip.is_v4()) return true;
  error = "'" + args[0].str + "' is no IPv4 address";
  return false;
}
bool check_v6(Args &args, std::string &error) {
  if (args[0].ip.is_v6()) return true;
  error = "'" + args[0].str + "' is no IPv6 address";
  return false;
}
bool check_hex(Args &args, std::string &error) {
  std::string bytes;
  const std::string &hex = args[0].str;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    int high = hex_digit(hex[i]), low = hex_digit(hex[i + 1]);
    if (high < 0 || low < 0) break;
    bytes += static_cast<char>(high * 16 + low);
  }
  if (bytes.size() * 2 != hex.size()) {
    error = "expects pairs of hexadecimal digits, got '" + hex + "'";
    return false;
  }
  args[0].str = bytes;
  return true;
}
bool check_method(Args &args, std::string &) {
  args[0].num = static_cast<i64>(method_of(args[0].str));
  return true;
}

// ------------------------------------------------------------------------------------------- clocks

/// "s", "ms", "us": how many of it make a second; in args[index].num.
bool check_unit(Args &args, size_t index, std::string &error) {
  ArgValue &unit = args[index];
  if (!unit) return true;
  unit.num = unit.str == "s" ? 1 : unit.str == "ms" ? 1000 : unit.str == "us" ? 1'000'000 : 0;
  if (!unit.num) error = "expects the unit s, ms or us, got '" + unit.str + "'";
  return unit.num;
}
bool check_date(Args &args, std::string &error) { return check_unit(args, 1, error); }

PENSTOCK_FETCH(fetch_date) {
  i64 per_second = args[1] ? args[1].num : 1;
  return give_int(out, wall_us() / (1'000'000 / per_second) + args[0].num);
}
PENSTOCK_FETCH(date_us) { return give_int(out, wall_us() % 1'000'000); }
PENSTOCK_FETCH(uptime) {
  static const Tick start = monotonic_ms();
  return give_int(out, (monotonic_ms() - start) / 1000);
}

// ------------------------------------------------------------------------------------------ process

PENSTOCK_FETCH(fetch_env) {
  const char *value = std::getenv(args[0].str.c_str());
  if (!value) return false;
  out.is_const = true;
  return give_str(out, value);
}
string_view host_name() {
  static const std::array<char, 256> name = [] {
    std::array<char, 256> n{};
    gethostname(n.data(), n.size() - 1);
    return n;
  }();
  return name.data();
}
PENSTOCK_FETCH(fetch_hostname) { return give_str(out, host_name()); }
PENSTOCK_FETCH(nbproc) { return give_int(out, 1); }
PENSTOCK_FETCH(process_id) {
  const Worker *w = this_worker();
  return give_int(out, w && w->log_pid ? w->log_pid : getpid());
}
PENSTOCK_FETCH(fetch_proc) { return give_int(out, 1); }
PENSTOCK_FETCH(fetch_thread) {
  const Worker *w = this_worker();
  return give_int(out, w ? w->index : 0);
}
PENSTOCK_FETCH(stopping) {
  const Worker *w = this_worker();
  return give_bool(out, w && w->stopping);
}
PENSTOCK_FETCH(quic_enabled) { return give_bool(out, false); }

PENSTOCK_FETCH(fetch_rand) {
  u32 v = random_u32();
  return give_int(out, args[0] ? static_cast<i64>(u64{v} * static_cast<u64>(args[0].num) >> 32) : v);
}
bool check_rand(Args &args, std::string &error) {
  if (!args[0] || args[0].num > 0) return true;
  error = "expects a range above 0";
  return false;
}

PENSTOCK_FETCH(fetch_uuid) {
  char *p = ctx.scratch.chars(36);
  write_uuid(p, args[0] && args[0].num == 7 ? 7 : 4);
  return give_str(out, {p, 36});
}
bool check_uuid(Args &args, std::string &error) {
  if (!args[0] || args[0].num == 4 || args[0].num == 7) return true;
  error = "there are versions 4 and 7";
  return false;
}

// ---------------------------------------------------------------------------------------- variables

PENSTOCK_FETCH(fetch_var) {
  if (get_variable(ctx, VarId::unpacked(args[0].num), out)) return true;
  return args[1] && give_str(out, args[1].str);
}

/// All of them; '!' inverts.
PENSTOCK_FETCH(fetch_acl) {
  for (const ArgValue &arg : args) {
    if (!arg) break;
    Truth t = evaluate(ctx, *arg.as<Acl>());
    if (t == Truth::Unknown) return false;
    if ((t == Truth::Yes) == (arg.num != 0)) return give_bool(out, false);
  }
  return give_bool(out, true);
}

constexpr FetchDef rows[] = {
    {.name = "acl", .args = {req(ArgType::Str, "acl"), opt(ArgType::Str, "acl"), opt(ArgType::Str, "acl"), opt(ArgType::Str, "acl"), opt(ArgType::Str, "acl"), opt(ArgType::Str, "acl")}, .out = Type::Bool,
     .doc = {"Whether all the named ACLs match.", "A name may start with '!' to ask for the opposite. The ACLs are those above the line in its section, and the predefined ones.", "acl local src 127.0.0.0/8\nhttp-request set-header X-Local %[acl(local)]"}, .eval = fetch_acl},
    {.name = "always_false", .out = Type::Bool, .doc = {"Never true.", "Handy to switch an ACL off for a while.", "acl closed always_false"}, .eval = always_false},
    {.name = "always_true", .out = Type::Bool, .doc = {"Always true.", "Handy to switch an ACL on for a while.", "acl open always_true"}, .eval = always_true},
    {.name = "bin", .args = {req(ArgType::Str, "hex")}, .out = Type::Bin, .doc = {"A constant block of bytes, written in hexadecimal digits.", "", "http-request set-var(txn.magic) bin(cafe00)"}, .eval = fetch_bin, .check = check_hex},
    {.name = "bool", .args = {req(ArgType::Str, "truth")}, .out = Type::Bool, .doc = {"A constant truth: true, false, 1 or 0.", "", "http-request set-var(txn.new) bool(true)"}, .eval = fetch_bool, .check = check_bool},
    {.name = "date", .args = {opt(ArgType::Int, "offset"), opt(ArgType::Str, "unit")}, .out = Type::Int, .doc = {"The time now, counted from 1970, plus an offset.", "In seconds, or in the unit s, ms or us that the second argument names.", "http-request set-header X-Now %[date(0,ms)]"}, .eval = fetch_date, .check = check_date},
    {.name = "date_us", .out = Type::Int, .doc = {"The microseconds within the current second.", "", "http-request set-header X-Micro %[date_us]"}, .eval = date_us},
    {.name = "env", .args = {req(ArgType::Str, "name")}, .out = Type::Str, .doc = {"An environment variable of the process.", "Missing ones give no value, so that -m found tells.", "http-request add-header X-Home %[env(HOME)]"}, .eval = fetch_env},
    {.name = "hostname", .out = Type::Str, .doc = {"The name of this host.", "", "http-response set-header X-Served-By %[hostname]"}, .eval = fetch_hostname},
    {.name = "int", .args = {req(ArgType::Int, "number")}, .out = Type::Int, .doc = {"A constant number.", "", "http-request set-var(txn.limit) int(100)"}, .eval = fetch_int},
    {.name = "ipv4", .args = {req(ArgType::Ip, "address")}, .out = Type::Ipv4, .doc = {"A constant IPv4 address.", "", "http-request set-var(txn.gate) ipv4(192.0.2.1)"}, .eval = fetch_ip, .check = check_v4},
    {.name = "ipv6", .args = {req(ArgType::Ip, "address")}, .out = Type::Ipv6, .doc = {"A constant IPv6 address.", "", "http-request set-var(txn.gate) ipv6(2001:db8::1)"}, .eval = fetch_ip, .check = check_v6},
    {.name = "meth", .args = {req(ArgType::Str, "method")}, .out = Type::Meth, .doc = {"A constant HTTP method.", "", "http-request set-var(txn.m) meth(GET)"}, .eval = fetch_meth, .check = check_method},
    {.name = "nbproc", .out = Type::Int, .doc = {"1: the number of process groups; kept for old configurations.", "", "http-request set-header X-Procs %[nbproc]"}, .eval = nbproc},
    {.name = "pid", .out = Type::Int, .doc = {"The number of the process, as log lines show it.", "", "http-response set-header X-Pid %[pid]"}, .eval = process_id},
    {.name = "proc", .out = Type::Int, .doc = {"1: the number of this process' group; kept for old configurations.", "", "http-request set-header X-Proc %[proc]"}, .eval = fetch_proc},
    {.name = "quic_enabled", .out = Type::Bool, .doc = {"Whether QUIC listeners work in this process.", "", "http-response set-header Alt-Svc h3 if { quic_enabled }"}, .eval = quic_enabled},
    {.name = "rand", .args = {opt(ArgType::Int, "range")}, .out = Type::Int, .doc = {"A random number from 0 to below the range, or of 32 bits without one.", "", "http-request set-header X-Sample 1 if { rand(100) lt 5 }"}, .eval = fetch_rand, .check = check_rand},
    {.name = "stopping", .out = Type::Bool, .doc = {"Whether this process is about to stop and only finishes what it has.", "", "http-response set-header Connection close if { stopping }"}, .eval = stopping},
    {.name = "str", .args = {req(ArgType::Str, "text")}, .out = Type::Str, .doc = {"A constant text.", "", "http-request set-var(txn.site) str(main)"}, .eval = fetch_str},
    {.name = "thread", .out = Type::Int, .doc = {"The number of the worker, from 0.", "", "http-response set-header X-Worker %[thread]"}, .eval = fetch_thread},
    {.name = "uptime", .out = Type::Int, .doc = {"Seconds since the worker started.", "", "http-response set-header X-Uptime %[uptime]"}, .eval = uptime},
    {.name = "uuid", .args = {opt(ArgType::Int, "version")}, .out = Type::Str, .doc = {"A new UUID of version 4 (random) or 7 (ordered by time).", "", "http-request set-header X-Request-Id %[uuid(7)]"}, .eval = fetch_uuid, .check = check_uuid},
    {.name = "var", .args = {req(ArgType::Var, "variable"), opt(ArgType::Str, "default")}, .out = Type::Any, .doc = {"A variable's value, with the type that it was set with.", "Without a value the default is given, as text; without a default there is none.", "http-request deny if { var(txn.bad,0) -m int 1 }"}, .eval = fetch_var},
};
static_assert(sorted_and_documented<FetchDef>(rows));

} // namespace

std::span<const FetchDef> fetch_constants() { return rows; }

} // namespace penstock
