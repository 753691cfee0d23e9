// SPDX-License-Identifier: BSD-2-Clause
#include "master/bind_sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>

#include "shared/base/switches.h"

namespace penstock {
namespace {

constexpr int on = 1;

std::string because(string_view what, int error) { return std::string(what) + " (" + strerror(error) + ")"; }

bool set(int fd, int level, int option, int value) { return setsockopt(fd, level, option, &value, sizeof value) == 0; }

bool is_wildcard(const Address &a) { return std::ranges::all_of(a.ip.bytes, [](u8 b) { return b == 0; }); }

/// A wildcard v6 socket takes v4 as well unless told otherwise; any other never does.
bool only_v6(const Bind &bind) { return bind.v6only || (!bind.v4v6 && !is_wildcard(bind.address)); }

string_view protocol_of(const Bind &bind) {
  switch (bind.address.family) {
    case AF_INET: return bind.stream ? "tcpv4" : "udp4";
    case AF_INET6: return bind.stream ? "tcpv6" : "udp6";
    case AF_UNIX: return bind.address.path.starts_with('\0') ? "abns_stream" : "unix_stream";
    default: return "fd";
  }
}

/// What must be said before bind(); `mine`: with SO_REUSEPORT.
bool prepare(const Bind &bind, int fd, std::string &error) {
  set(fd, SOL_SOCKET, SO_REUSEADDR, on);
  if (switches.reuseport) set(fd, SOL_SOCKET, SO_REUSEPORT, on);
  if (bind.address.family == AF_INET6) set(fd, IPPROTO_IPV6, IPV6_V6ONLY, only_v6(bind));
  if (!bind.interface.empty() &&
      setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, bind.interface.c_str(), static_cast<socklen_t>(bind.interface.size() + 1)) < 0) {
    error = because("cannot bind listener to device", errno);
    return false;
  }
  if (!bind.transparent) return true;
  bool v6 = bind.address.family == AF_INET6;
  if (set(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_TRANSPARENT : IP_TRANSPARENT, on) ||
      set(fd, IPPROTO_IP, IP_FREEBIND, on))
    return true;
  error = because("cannot make listening socket transparent", errno);
  return false;
}

bool bind_address(int fd, const Address &address) {
  sockaddr_storage ss;
  socklen_t len = address.to_sockaddr(ss);
  return ::bind(fd, reinterpret_cast<sockaddr *>(&ss), len) == 0;
}

int inet_socket(const Bind &bind, std::string &error) {
  int fd = socket(bind.address.family, (bind.stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) {
    error = because("cannot create receiving socket", errno);
    return -1;
  }
  if (prepare(bind, fd, error)) {
    if (bind_address(fd, bind.address)) return fd;
    error = because("cannot bind socket", errno);
  }
  close(fd);
  return -1;
}

int abstract_socket(const Bind &bind, std::string &error) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) error = because("cannot create receiving socket", errno);
  else if (bind_address(fd, bind.address)) return fd;
  else error = because("cannot bind UNIX socket", errno);
  if (fd >= 0) close(fd);
  return -1;
}

std::string unix_path(const Bind &bind, const Global &global) {
  return bind.address.path.starts_with('\0') ? bind.address.path : global.unix_bind_prefix + bind.address.path;
}

/// What the line does not say comes from `unix-bind`.
void apply_unix_owner(const Bind &bind, const Global &global, const std::string &path) {
  u32 mode = bind.mode ? bind.mode : global.unix_bind_mode;
  i32 uid = bind.uid >= 0 ? bind.uid : global.unix_bind_uid;
  i32 gid = bind.gid >= 0 ? bind.gid : global.unix_bind_gid;
  if ((uid >= 0 || gid >= 0) && chown(path.c_str(), static_cast<uid_t>(uid), static_cast<gid_t>(gid)) < 0) return;
  if (mode) chmod(path.c_str(), static_cast<mode_t>(mode));
}

/// A path is bound under another name first and renamed over the old one, so that there is no moment without it.
int path_socket(const Bind &bind, const Global &global, std::string &error) {
  std::string path = unix_path(bind, global);
  std::string aside = path + "." + std::to_string(getpid()) + ".new";
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  if (aside.size() >= sizeof un.sun_path) {
    error = "socket path too long";
    return -1;
  }
  memcpy(un.sun_path, aside.c_str(), aside.size() + 1);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  unlink(aside.c_str());
  if (fd < 0) error = because("cannot create receiving socket", errno);
  else if (::bind(fd, reinterpret_cast<sockaddr *>(&un), sizeof un) < 0) error = because("cannot bind UNIX socket", errno);
  else {
    apply_unix_owner(bind, global, aside);
    if (rename(aside.c_str(), path.c_str()) == 0) return fd;
    error = because("cannot rename UNIX socket into place", errno);
    unlink(aside.c_str());
  }
  if (fd >= 0) close(fd);
  return -1;
}

} // namespace

std::string socket_key(const Bind &bind, const Global &global) {
  if (bind.inherited_fd >= 0) return "fd@" + std::to_string(bind.inherited_fd);
  std::string key = bind.stream ? "stream " : "dgram ";
  if (bind.address.family == AF_UNIX) {
    // abstract names begin with NUL: written as '@' so that a key is one line of text
    key += bind.address.path.starts_with('\0') ? (bind.address.abns_full ? "abns@" : "abnsz@") + bind.address.path.substr(1)
                                               : "unix@" + unix_path(bind, global);
    return key;
  }
  key += bind.address.text();
  if (bind.address.scope_id) key += "%" + std::to_string(bind.address.scope_id);
  if (bind.address.family == AF_INET6) key += only_v6(bind) ? " v6only" : " v4v6";
  if (!bind.interface.empty()) key += " interface " + bind.interface;
  if (!bind.namespace_.empty()) key += " namespace " + bind.namespace_;
  if (bind.transparent) key += " transparent";
  return key;
}

bool socket_per_worker(const Bind &bind) { return bind.inherited_fd < 0 && bind.address.is_inet() && switches.reuseport; }

bool address_taken(const Bind &bind) {
  if (!bind.address.is_inet() || !bind.stream || bind.address.port == 0) return false;
  int fd = socket(bind.address.family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  set(fd, SOL_SOCKET, SO_REUSEADDR, on);
  if (bind.address.family == AF_INET6) set(fd, IPPROTO_IPV6, IPV6_V6ONLY, only_v6(bind));
  bool taken = !bind_address(fd, bind.address) && errno == EADDRINUSE;
  close(fd);
  return taken;
}

int make_socket(const Bind &bind, const Global &global, std::string &error) {
  if (bind.address.family != AF_UNIX) return inet_socket(bind, error);
  return bind.address.path.starts_with('\0') ? abstract_socket(bind, error) : path_socket(bind, global, error);
}

int adopt_socket(const Bind &bind, std::string &error) {
  int type = 0;
  socklen_t len = sizeof type;
  if (getsockopt(bind.inherited_fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0) {
    error = because("inherited descriptor is no socket", errno);
    return -1;
  }
  if (type != (bind.stream ? SOCK_STREAM : SOCK_DGRAM)) {
    error = std::string("inherited socket is of another kind (expected ") + (bind.stream ? "stream" : "dgram") + ")";
    return -1;
  }
  fcntl(bind.inherited_fd, F_SETFL, fcntl(bind.inherited_fd, F_GETFL) | O_NONBLOCK);
  return bind.inherited_fd;
}

void apply_options(const Bind &bind, const Global &global, int fd) {
  if (bind.address.family == AF_UNIX && !bind.address.path.starts_with('\0') && bind.inherited_fd < 0)
    apply_unix_owner(bind, global, unix_path(bind, global));
  if (!bind.address.is_inet() || !bind.stream) return;
  set(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, bind.defer_accept);
  if (bind.tfo) set(fd, IPPROTO_TCP, TCP_FASTOPEN, backlog_of(bind));
  if (bind.mss) set(fd, IPPROTO_TCP, TCP_MAXSEG, static_cast<int>(bind.mss));
  if (bind.tcp_ut) set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(bind.tcp_ut));
}

int backlog_of(const Bind &bind) {
  u32 wanted = bind.backlog;
  if (!wanted && bind.proxy) wanted = bind.proxy->backlog ? bind.proxy->backlog : bind.proxy->maxconn.value_or(0);
  return static_cast<int>(std::max<u32>(wanted ? wanted : 4096, 16)); // the kernel cuts it to somaxconn
}

std::string bind_message_start(const Bind &bind) {
  std::string out = "Binding [";
  out += bind.place.file ? bind.place.file : "?";
  out += ":" + std::to_string(bind.place.line) + "] for ";
  out += bind.proxy ? (bind.proxy->is_backend ? "proxy " : "frontend ") + bind.proxy->name : std::string("stats socket");
  return out + ": protocol " + std::string(protocol_of(bind)) + ": ";
}

} // namespace penstock
