// SPDX-License-Identifier: BSD-2-Clause
#include "master/daemonize.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

namespace penstock {

int daemonize() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) return -1;
  pid_t pid = fork();
  if (pid < 0) return -1;
  if (pid == 0) {
    close(ends[0]);
    setsid();
    return ends[1];
  }
  close(ends[1]);
  char word;
  ssize_t n;
  do n = read(ends[0], &word, 1);
  while (n < 0 && errno == EINTR);
  if (n == 1) _exit(0);
  int status = 0;
  waitpid(pid, &status, 0);
  _exit(WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : 1);
}

bool write_pidfile(const std::string &path, std::string &error) {
  std::string text = std::to_string(getpid()) + "\n";
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool good = fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!good) error = "cannot write the pid file " + path + ": " + strerror(errno);
  if (fd >= 0) close(fd);
  return good;
}

} // namespace penstock
