// SPDX-License-Identifier: BSD-2-Clause
// Commands about MaxMind databases, and the part of the control process that replaces them (maxmind_update.h).
#include <algorithm>
#include <ctime>

#include "shared/mmdb/store.h"
#include "worker/cli/cli_session.h"
#include "worker/cli/maxmind_update.h"

namespace penstock {

namespace {

constexpr size_t portion = 50'000; // nodes or bytes in one turn of the loop: a few milliseconds at most
constexpr Millis look_every = 1000;

/// What became of a database's last attempt.
struct Outcome {
  MmdbStore *store = nullptr;
  bool waiting = false;
  std::string error;
  std::vector<u64> sessions; // to be woken at its end
};

class Updater : Pinned {
 public:
  explicit Updater(Control &c) : control_(c) {
    for (auto &s : all_mmdb()) outcomes_.push_back({s.get(), false, {}, {}});
    turn_.updater = clock_.updater = this;
    turn_.run = [](Deferred &d) { static_cast<Turn &>(d).updater->work(); };
    clock_.on_expire = [](Timer &t) { static_cast<Clock &>(t).updater->look(); };
    if (!outcomes_.empty()) control_.loop.set_timer(clock_, control_.loop.now() + look_every);
  }
  Outcome &outcome(const MmdbStore *store) {
    return *std::find_if(outcomes_.begin(), outcomes_.end(), [&](const Outcome &o) { return o.store == store; });
  }
  void ask_for(MmdbStore *store, u64 session) {
    Outcome &o = outcome(store);
    if (session) o.sessions.push_back(session);
    o.waiting = true;
    control_.loop.defer(turn_);
  }
  void child_died(u32 slot) {
    for (Outcome &o : outcomes_) o.store->forget(slot);
  }

 private:
  /// Once a second: files that were replaced, memory of former versions.
  void look() {
    for (Outcome &o : outcomes_) {
      if (o.waiting) continue;
      o.store->release_old();
      if (o.store->auto_reload && o.store->file_changed()) ask_for(o.store, 0);
    }
    control_.loop.set_timer(clock_, control_.loop.now() + look_every);
  }
  /// One portion of one load.
  void work() {
    if (!load_) {
      auto it = std::find_if(outcomes_.begin(), outcomes_.end(), [](const Outcome &o) { return o.waiting; });
      if (it == outcomes_.end()) return;
      loading_ = &*it;
      load_ = std::make_unique<MmdbLoad>(*it->store);
    }
    if (load_->step(portion) != MmdbLoad::State::More) end(*loading_);
    control_.loop.defer(turn_);
  }
  void end(Outcome &o) {
    o.error = load_->error();
    load_.reset();
    o.waiting = false;
    std::string text = "MaxMind database " + o.store->name() + " ('" + o.store->path() + "') ";
    if (o.error.empty()) log_global(LogLevel::Notice, text + "was replaced, version " + std::to_string(o.store->current()) + " is in use");
    else log_global(LogLevel::Warning, text + o.error + "; the former version stays");
    for (u64 number : std::exchange(o.sessions, {}))
      if (CliSession *s = CliSession::find(number)) s->wake();
  }

  struct Turn : Deferred { Updater *updater = nullptr; };
  struct Clock : Timer { Updater *updater = nullptr; };
  Control &control_;
  std::vector<Outcome> outcomes_;
  Outcome *loading_ = nullptr; // whose load_ is
  std::unique_ptr<MmdbLoad> load_;
  Turn turn_;
  Clock clock_;
};

std::unique_ptr<Updater> updater;

/// Waits for the end of an attempt and tells it.
struct UpdateAnswer : CliAnswer {
  explicit UpdateAnswer(const MmdbStore *s) : store(s) {}
  More next(std::string &out) override {
    const Outcome &o = updater->outcome(store);
    if (o.waiting) return More::Later;
    if (o.error.empty()) out += "Done, version " + std::to_string(store->current()) + " is in use.\n";
    else out += "'" + store->path() + "' " + o.error + "; the former version stays.\n";
    return More::Done;
  }
  const MmdbStore *store;
};

void update(CliCall &call) {
  MmdbStore *store = call.args() == 1 ? find_mmdb(call.arg(0)) : nullptr;
  if (call.args() != 1) return call.fail("Expects the name of a database.");
  if (!store || !updater) return call.fail("No database has this name.");
  updater->ask_for(store, call.session.number());
  call.answer = std::make_unique<UpdateAnswer>(store);
}

std::string date(u64 epoch) {
  auto seconds = static_cast<time_t>(epoch);
  std::tm tm{};
  char text[32];
  gmtime_r(&seconds, &tm);
  return {text, strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm)};
}

void add_field(std::string &out, string_view name, string_view value) { (((out += "  ") += name) += ": ") += value, out += '\n'; }
void add_field(std::string &out, string_view name, u64 value) { add_field(out, name, std::to_string(value)); }

void describe(std::string &out, MmdbStore &s) {
  u64 version = s.current(), lookups = 0, found = 0, cached = 0;
  for (u32 i = 0; i <= MmdbStore::other_cell; i++) {
    const MmdbCell &c = s.cell(i);
    lookups += c.lookups.load(std::memory_order_relaxed);
    found += c.found.load(std::memory_order_relaxed);
    cached += c.cached.load(std::memory_order_relaxed);
  }
  (out += s.name()) += '\n';
  add_field(out, "file", s.path());
  add_field(out, "version", version);
  if (version) {
    const MmdbMeta &m = s.meta(version);
    add_field(out, "type", m.type);
    add_field(out, "built", date(m.build_epoch));
    add_field(out, "nodes", m.node_count);
    add_field(out, "record_size", m.record_size);
    add_field(out, "ip_version", m.ip_version);
    add_field(out, "bytes", s.bytes(version).size());
  }
  add_field(out, "auto-reload", s.auto_reload ? "on" : "off");
  add_field(out, "lookups", lookups);
  add_field(out, "hits", found);
  add_field(out, "cached", cached);
}

void show(CliCall &call) {
  if (!call.arg(0).empty() && !find_mmdb(call.arg(0))) return call.fail("No database has this name.");
  for (const auto &s : all_mmdb())
    if (call.arg(0).empty() || s->name() == call.arg(0)) describe(call.out, *s);
}

constexpr CliCommand rows[] = {
    {.words = "show maxmind", .usage = "[<name>]", .level = CliLevel::User,
     .doc = {.summary = "MaxMind databases: type, build date, size, look-ups.", .text = "'hits' are look-ups that found something, 'cached' those that a worker remembered.", .example = "show maxmind"}, .run = show},
    {.words = "update maxmind", .usage = "<name>", .level = CliLevel::Admin,
     .doc = {.summary = "Takes the file of a MaxMind database up anew.", .text = "It is checked first; a broken one changes nothing.", .example = "update maxmind ISP"}, .run = update},
};

} // namespace

std::span<const CliCommand> maxmind_commands() { return rows; }

ControlHook maxmind_hook() {
  ControlHook hook;
  hook.name = "maxmind";
  hook.start = [](Control &c) { updater = std::make_unique<Updater>(c); };
  hook.child_died = [](Control &, u32 slot) { updater->child_died(slot); };
  return hook;
}

} // namespace penstock
