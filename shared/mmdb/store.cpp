// SPDX-License-Identifier: BSD-2-Clause
#include "shared/mmdb/store.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace penstock {

namespace {

constexpr size_t page = 4096, least_area = size_t{64} << 20;
constexpr size_t largest_file = UINT32_MAX - page;
constexpr u64 layout = layout_mix(layout_mix(0xcbf29ce484222325, sizeof(MmdbCell)), max_slots);

size_t whole_pages(size_t n) { return (n + page - 1) & ~(page - 1); }

} // namespace

// ---------------------------------------------------------------------------------------------- MmdbStore

std::unique_ptr<MmdbStore> MmdbStore::load(std::string name, std::string path, bool optional, std::string &error) {
  std::unique_ptr<MmdbStore> store(new MmdbStore(std::move(name), std::move(path)));
  size_t slash = store->path_.rfind('/');
  std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : store->path_.substr(0, slash);
  store->file_name_ = slash == std::string::npos ? store->path_ : store->path_.substr(slash + 1);
  store->folder_ = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  struct stat st;
  bool there = fstatat(store->folder_, store->file_name_.c_str(), &st, 0) == 0;
  if (!store->make_segment(there ? static_cast<size_t>(st.st_size) : 0, error)) return nullptr;
  MmdbLoad load(*store);
  while (load.step(SIZE_MAX) == MmdbLoad::State::More) {}
  error = load.error();
  if (!error.empty() && !(optional && load.missing())) return nullptr;
  error.clear();
  return store;
}

MmdbStore::~MmdbStore() {
  if (folder_ >= 0) close(folder_);
}

/// Room for two versions of up to four times the size; untouched room costs nothing.
bool MmdbStore::make_segment(size_t file_bytes, std::string &error) {
  area_bytes_ = whole_pages(std::max(least_area, std::min(file_bytes, largest_file) * 4));
  segment_ = Segment::create("penstock-mmdb", layout, areas_at + 2 * area_bytes_, areas_at + 2 * area_bytes_, error);
  return segment_ != nullptr;
}

string_view MmdbStore::bytes(u64 version) const {
  return version == 0 ? string_view() : string_view(area(version), head().sizes[version & 1]);
}

const MmdbMeta &MmdbStore::meta(u64 version) {
  if (version != meta_version_) {
    MmdbView view;
    std::string error;
    meta_ = view.open(bytes(version), error) ? view.meta() : MmdbMeta{};
    meta_version_ = version;
  }
  return meta_;
}

/// From its first look-up on a process can only read the databases.
void MmdbStore::protect() {
  read_only_ = true;
  mprotect(segment_->base() + areas_at, 2 * area_bytes_, PROT_READ);
}

bool MmdbStore::pinned(u64 version) const {
  return std::any_of(std::begin(head().cells), std::end(head().cells), [&](const MmdbCell &c) { return c.pinned.load(std::memory_order_seq_cst) == version; });
}

bool MmdbStore::file_changed() {
  struct stat st;
  if (fstatat(folder_, file_name_.c_str(), &st, 0) < 0) return false;
  return tried_ != Stamp{st.st_dev, st.st_ino, static_cast<u64>(st.st_size), st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
}

bool MmdbStore::release_old() {
  u64 old = current() - 1;
  if (current() < 2 || head().sizes[old & 1] == 0) return true;
  if (pinned(old)) return false;
  fallocate(segment_->fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, area(old) - segment_->base(), static_cast<off_t>(area_bytes_));
  head().sizes[old & 1] = 0;
  return true;
}

// ----------------------------------------------------------------------------------------------- MmdbLoad

MmdbLoad::MmdbLoad(MmdbStore &store) : store_(store) {
  fd_ = openat(store.folder_, store.file_name_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat st;
  if (fd_ < 0 || fstat(fd_, &st) < 0) {
    missing_ = errno == ENOENT || store.folder_ < 0;
    fail(std::string("cannot be opened: ") + std::strerror(store.folder_ < 0 ? ENOENT : errno));
    return;
  }
  store.tried_ = {st.st_dev, st.st_ino, static_cast<u64>(st.st_size), st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
  size_ = static_cast<size_t>(st.st_size);
  if (!S_ISREG(st.st_mode)) fail("is no file");
  else if (size_ > std::min(store.area_bytes_, largest_file)) fail("is too large: it has " + std::to_string(size_) + " bytes, there is room for " + std::to_string(std::min(store.area_bytes_, largest_file)) + "; a reload makes more");
  else if (!store.release_old()) fail("cannot be taken up now: the version before the current one is still read");
  else if (u64 version = store.current() + 1; size_ && !store.segment_->reserve(static_cast<size_t>(store.area(version) - store.segment_->base()), whole_pages(size_))) fail(std::string("finds no memory: ") + std::strerror(errno));
  else version_ = version;
}

MmdbLoad::~MmdbLoad() {
  if (fd_ >= 0) close(fd_);
}

MmdbLoad::State MmdbLoad::fail(std::string why) {
  error_ = std::move(why);
  if (version_) { // what was copied is given back
    char *at = store_.area(version_);
    fallocate(store_.segment_->fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at - store_.segment_->base(), static_cast<off_t>(store_.area_bytes_));
  }
  return State::Failed;
}

MmdbLoad::State MmdbLoad::step(size_t budget) {
  if (!error_.empty()) return State::Failed;
  if (copied_ < size_) return copy(budget);
  if (!check_) check_ = std::make_unique<MmdbCheck>(string_view(store_.area(version_), size_));
  switch (check_->step(budget)) {
    case MmdbCheck::State::More: return State::More;
    case MmdbCheck::State::Bad: return fail(check_->error());
    case MmdbCheck::State::Good: break;
  }
  return publish();
}

MmdbLoad::State MmdbLoad::copy(size_t budget) {
  // By pread into the segment rather than through our mapping, which may be read-only.
  while (copied_ < size_ && budget > 0) {
    char piece[16384];
    ssize_t n = pread(fd_, piece, std::min({sizeof piece, size_ - copied_, budget}), static_cast<off_t>(copied_));
    if (n < 0) return fail(std::string("cannot be read: ") + std::strerror(errno));
    if (n == 0) return fail("became shorter while it was read");
    off_t to = store_.area(version_) - store_.segment_->base() + static_cast<off_t>(copied_);
    if (pwrite(store_.segment_->fd(), piece, static_cast<size_t>(n), to) != n) return fail(std::string("cannot be copied: ") + std::strerror(errno));
    copied_ += static_cast<size_t>(n);
    budget -= static_cast<size_t>(n);
  }
  return State::More;
}

MmdbLoad::State MmdbLoad::publish() {
  struct stat st;
  if (fstat(fd_, &st) < 0 || static_cast<size_t>(st.st_size) != size_ || st.st_mtim.tv_sec != store_.tried_.seconds || st.st_mtim.tv_nsec != store_.tried_.nanoseconds)
    return fail("was changed while it was read");
  store_.head().sizes[version_ & 1] = size_;
  store_.head().current.store(version_, std::memory_order_seq_cst);
  return State::Done;
}

// ----------------------------------------------------------------------------- those of the configuration

static std::vector<std::unique_ptr<MmdbStore>> stores;

const std::vector<std::unique_ptr<MmdbStore>> &all_mmdb() { return stores; }
void add_mmdb(std::unique_ptr<MmdbStore> store) { stores.push_back(std::move(store)); }

MmdbStore *find_mmdb(string_view name) {
  auto it = std::find_if(stores.begin(), stores.end(), [&](const auto &s) { return s->name() == name; });
  return it == stores.end() ? nullptr : it->get();
}

MmdbStore *need_mmdb(string_view name, std::string &error) {
  if (MmdbStore *known = find_mmdb(name)) return known;
  auto it = std::find_if(stores.begin(), stores.end(), [&](const auto &s) { return s->path() == name; });
  if (it != stores.end()) return it->get();
  if (name.find('/') == string_view::npos) {
    error = "no database is called '" + std::string(name) + "': 'maxmind-load' in a global section further up gives names, and a file is written with its path";
    return nullptr;
  }
  auto store = MmdbStore::load(std::string(name), std::string(name), false, error);
  if (!store) {
    error = "'" + std::string(name) + "' " + error;
    return nullptr;
  }
  add_mmdb(std::move(store));
  return stores.back().get();
}

} // namespace penstock
