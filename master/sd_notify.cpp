// SPDX-License-Identifier: BSD-2-Clause
#include "master/sd_notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "shared/base/time.h"

namespace penstock {
namespace {

bool enabled = false;

void send_datagram(const std::string &text) {
  const char *path = getenv("NOTIFY_SOCKET");
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  if (!enabled || !path || (*path != '/' && *path != '@') || strlen(path) >= sizeof un.sun_path) return;
  memcpy(un.sun_path, path, strlen(path));
  if (*path == '@') un.sun_path[0] = '\0'; // an abstract name
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + strlen(path));
  sendto(fd, text.data(), text.size(), MSG_NOSIGNAL, reinterpret_cast<sockaddr *>(&un), length);
  close(fd);
}

} // namespace

void notify_enable() { enabled = true; }

void notify_ready(string_view status) {
  send_datagram("READY=1\nMAINPID=" + std::to_string(getpid()) + "\nSTATUS=" + std::string(status) + "\n");
}

void notify_reloading(string_view status) {
  send_datagram("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(monotonic_us()) + "\nSTATUS=" + std::string(status) + "\n");
}

void notify_stopping(string_view status) { send_datagram("STOPPING=1\nSTATUS=" + std::string(status) + "\n"); }

} // namespace penstock
