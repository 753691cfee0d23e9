// SPDX-License-Identifier: BSD-2-Clause
// The master: parent of control and workers, over reloads and upgrades. One loop on which it hears of
// signals, of its children's messages and deaths and of its own socket's clients; what it does about
// them is here and in generation.cpp (start, commit, switch), reload.cpp (check, execute anew, take up
// again) and master_cli.cpp. It never touches traffic.
//
//   Idle --reload()--> Checking --good--> (re-executed) Starting --all Ready--> Committing --all Polling--> Idle
//                          `--bad--> Idle          `--failed--> Idle, the old generation serves on
#pragma once

#include <sys/types.h>

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "shared/shm/stick_tables.h"
#include "master/listeners.h"
#include "master/manifest.h"
#include "master/options.h"
#include "shared/ipc/channel.h"
#include "shared/shm/board.h"
#include "shared/shm/ring_set.h"
#include "worker/event/loop.h"

namespace penstock {

class Service;
class MasterCli;
class Takeover;

/// How long an address that is given up lets connections under way in, after it drops new ones.
inline constexpr Millis retire_grace = 500;

enum class ChildKind : u8 { Worker, Control };
enum class ChildState : u8 { Starting, Ready, Polling, Draining, Ending };

struct Child : IoHandle {
  class Supervisor *supervisor = nullptr;
  ChildKind kind = ChildKind::Worker;
  ChildState state = ChildState::Starting;
  pid_t pid = -1;
  u32 generation = 0, slot = 0, index = 0;
  u32 born_at_reload = 0;       // the master's count of reloads then
  i64 started_s = 0;            // wall clock
  Tick started = 0;
  Tick end_by = never;          // hard-stop-after, or the end of our patience
  Millis hard_stop_after = eternity;
  std::string version;
  Channel channel;
};

/// How this run came to be.
struct Invocation {
  Options options;
  std::vector<std::string> arguments;   // as given, argv[0] included
  std::vector<std::string> environment; // as it was before the configuration changed it
  std::string executable;               // on disk, absolute where it can be
  std::string directory;                // where we were started
  int report_fd = -1;                   // -D: the parent waits for one byte here
};

class Supervisor : Pinned {
 public:
  enum class Phase : u8 { Idle, Checking, Starting, Committing };

  explicit Supervisor(Invocation invocation);
  ~Supervisor();

  /// First start: shared memory, sockets. False: said why.
  bool prepare(std::unique_ptr<Config> config);
  /// After a re-execution: takes up what the manifest says. A null `config` (it had mistakes): the old
  /// generation serves on.
  void take_up(Manifest manifest, std::unique_ptr<Config> config);
  /// -D: one byte is written there once the service serves.
  void report_to(int fd) { invocation_.report_fd = fd; }
  /// The first generation.
  void start();
  /// Until the end; returns the exit status (or dies by the signal that ended it).
  int run();

  // ------------------------------------------------------------- what the master socket asks for
  /// `asker`: the client that waits for the outcome; -1: nobody. `hard`: old workers end at once.
  void reload(int asker, bool hard);
  std::list<Child> &children() { return children_; }
  u32 reloads() const { return reloads_; }
  u32 failed_reloads() const { return failed_reloads_; }
  i64 started_s() const { return started_s_; }
  u32 generation() const { return current_; }
  Loop &loop() { return loop_; }
  Listeners &listeners() { return listeners_; }
  bool in_master_mode() const { return invocation_.options.master_worker; }

 private:
  friend class ReloadCheck;
  // ------------------------------------------------------------- supervise.cpp
  void watch_signals();
  void on_signal(int signal);
  void reap();
  void child_ended(Child &child, int status);
  void report_death(const Child &child, int status);
  void on_message(Child &child, Message &message);
  void pass_on(const Message &message);
  void watch(Child &child);
  void say_state(string_view text);
  void soft_stop();
  void dump_states();
  void leave_adopted();
  static Millis adoption_time();
  void stop_now(int signal);
  void drain(Child &child);
  void end_child(Child &child, Millis patience);
  void tick();
  bool any_left(ChildKind kind) const;
  bool any_left() const { return !children_.empty(); }
  void finish_if_done();
  int leave();

  // ------------------------------------------------------------- generation.cpp
  void start_generation();
  void abort_generation(string_view why);
  void if_all_ready();
  void commit();
  void if_all_polling();
  void generation_serves();
  void retire_old();
  void retire_addresses();
  void select_living();
  void respawn(u32 index);
  Child *spawn(ChildKind kind, u32 generation, u32 index);
  [[noreturn]] void be_worker(Child &me, u32 generation);
  [[noreturn]] void be_control(Child &me, u32 generation);
  void become_child(Child &me, bool may_fork);
  void first_start_done();
  void enforce_max_reloads();

  // ------------------------------------------------------------- reload.cpp
  void start_check();
  void check_ended(bool good);
  void execute_anew();
  void reload_done(bool success);
  Manifest manifest();

  Invocation invocation_;
  Loop loop_;
  std::unique_ptr<Config> config_; // null: the mistakes of the last reload; the old generation serves
  std::unique_ptr<Service> service_;
  TableSet tables_;
  RingSet rings_;
  Board *board_ = nullptr;
  int board_fd_ = -1;
  Listeners listeners_;
  std::list<Child> children_;
  std::list<Child> buried_; // until the turn ends
  std::unique_ptr<MasterCli> cli_;
  std::unique_ptr<Takeover> takeover_;
  Phase phase_ = Phase::Idle;
  Tick phase_deadline_ = never;
  u32 current_ = 0;  // generation that serves
  u32 starting_ = 0; // generation that is being started
  u32 workers_ = 0;  // of the configuration that is loaded
  u32 reloads_ = 0, failed_reloads_ = 0;
  i64 started_s_ = 0;
  bool hard_reload_ = false;
  bool stop_when_settled_ = false; // SIGUSR1 came while a generation was starting
  bool reload_again_ = false;    // asked for while one was under way
  std::vector<int> askers_;      // wait for the reload under way
  std::vector<int> next_askers_; // wait for the next one
  std::vector<u32> retiring_;    // addresses that refuse new connections, to be closed at retire_at_
  Tick retire_at_ = never;
  Tick surplus_at_ = never;      // the sockets of removed slots are closed
  struct Respawn {
    u32 index;
    Tick at;
  };
  std::vector<Respawn> respawns_;
  std::vector<u32> quick_deaths_; // by worker index, in a row
  enum class Ending : u8 { No, Grace, Soft, Now } ending_ = Ending::No;
  Tick grace_until_ = never;
  int end_signal_ = 0;
  int exit_status_ = 0;
  bool started_once_ = false;

  struct SignalIo : IoHandle {
    Supervisor *supervisor = nullptr;
  } signal_io_;
  struct TickTimer : Timer {
    Supervisor *supervisor = nullptr;
  } tick_timer_;
  struct CheckIo : IoHandle { // the child that checks a new configuration: its messages
    Supervisor *supervisor = nullptr;
    pid_t pid = -1;
    std::string output;
  } check_;
};

} // namespace penstock
