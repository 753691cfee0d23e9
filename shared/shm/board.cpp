// SPDX-License-Identifier: BSD-2-Clause
#include "shared/shm/board.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <new>

namespace penstock {

Board *make_board(int &fd) {
  fd = memfd_create("penstock board", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return nullptr;
  void *at = MAP_FAILED;
  if (posix_fallocate(fd, 0, sizeof(Board)) == 0) {
    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    at = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  if (at == MAP_FAILED) {
    close(fd);
    fd = -1;
    return nullptr;
  }
  Board *board = new (at) Board;
  board->magic = board_magic;
  board->layout = board_layout;
  return board;
}

Board *map_board(int fd) {
  struct stat st {};
  if (fstat(fd, &st) < 0 || st.st_size != static_cast<off_t>(sizeof(Board))) return nullptr;
  void *at = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return nullptr;
  auto *board = static_cast<Board *>(at);
  if (board->magic == board_magic && board->layout == board_layout) return board;
  munmap(at, sizeof(Board));
  return nullptr;
}

} // namespace penstock
