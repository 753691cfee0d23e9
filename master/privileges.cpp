// SPDX-License-Identifier: BSD-2-Clause
#include "master/privileges.h"

#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace penstock {
namespace {

bool failed(std::string &error, string_view what) {
  error = std::string(what) + ": " + strerror(errno);
  return false;
}

bool enter_chroot(const std::string &path, std::string &error) {
  if (path.empty()) return true;
  if (chroot(path.c_str()) < 0) return failed(error, "cannot chroot to " + path);
  return chdir("/") == 0 || failed(error, "cannot enter the root directory");
}

bool change_identity(const Global &global, std::string &error) {
  auto uid = static_cast<uid_t>(global.uid);
  auto gid = static_cast<gid_t>(global.gid);
  if (gid && getgid() != gid) {
    if (getuid() == 0 && setgroups(0, nullptr) < 0) return failed(error, "cannot drop supplementary groups");
    if (setgid(gid) < 0) return failed(error, "cannot set gid " + std::to_string(gid));
  }
  if (uid && getuid() != uid && setuid(uid) < 0) return failed(error, "cannot set uid " + std::to_string(uid));
  return true;
}

} // namespace

bool drop_privileges(const Global &global, bool may_fork, pid_t parent, std::string &error) {
  if (!enter_chroot(global.chroot, error) || !change_identity(global, error)) return false;
  if (global.set_dumpable) prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  if (!global.insecure_setuid_wanted) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (!may_fork && !global.insecure_fork_wanted) {
    rlimit none{0, 0};
    setrlimit(RLIMIT_NPROC, &none);
  }
  prctl(PR_SET_PDEATHSIG, SIGUSR1, 0, 0, 0);
  if (getppid() == parent) return true;
  error = "the master is gone";
  return false;
}

void pin_worker(const Global &global, u32 index) {
  if (index >= global.cpu_map.size() || global.cpu_map[index].empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (u32 cpu : global.cpu_map[index]) CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

u32 usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) < 0) return 1;
  return static_cast<u32>(std::max(1, CPU_COUNT(&set)));
}

} // namespace penstock
