// SPDX-License-Identifier: BSD-2-Clause
// Making, attaching and reading the service's memory, and its directory of identities. What happens
// when a worker ends is in fold.cpp, the rows of a configuration in assign_rows.cpp.
#include "shared/shm/service.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "shared/base/time.h"

namespace penstock {

namespace {

constexpr size_t directory_capacity = size_t{64} << 20;
constexpr size_t service_at = 64; // behind the segment's header
constexpr size_t stripes_at = block_layout::paged(service_at + sizeof(ServiceRow));
constexpr size_t directory_at = stripes_at + block_layout::paged(sizeof(RobustStripe) * (stripe_count + 1));
constexpr size_t servers_at = directory_at + directory_capacity;
constexpr size_t proxies_at = servers_at + block_layout::paged(sizeof(ServerRow) * max_server_rows);
constexpr size_t blocks_at = proxies_at + block_layout::paged(sizeof(ProxyRow) * max_proxy_rows);
constexpr size_t all_bytes = blocks_at + block_layout::bytes * (max_slots + 1);

constexpr u64 layout_version = 1; // bump when a meaning changes that no size shows

constexpr u64 layout() {
  u64 h = 0xcbf29ce484222325;
  for (u64 v : {layout_version, u64{sizeof(SegmentHeader)}, u64{sizeof(ServiceRow)}, u64{sizeof(RobustStripe)}, u64{stripe_count},
                u64{directory_capacity}, u64{sizeof(ServerRow)}, u64{sizeof(ProxyRow)}, u64{sizeof(SlotHeader)}, u64{sizeof(ServerCell)},
                u64{sizeof(ProxyCell)}, u64{sizeof(ProxyCounters)}, u64{sizeof(Waiter)}, u64{max_slots}, u64{all_bytes}})
    h = layout_mix(h, v);
  return h;
}

/// An entry of the directory; its text follows, padded to four bytes.
struct DirectoryEntry {
  u32 kind, row, length;
};
constexpr size_t entry_bytes(size_t text) { return sizeof(DirectoryEntry) + ((text + 3) & ~size_t{3}); }

std::string directory_key(RowKind kind, string_view identity) {
  return std::string(1, static_cast<char>('0' + static_cast<int>(kind))) + std::string(identity);
}

} // namespace

static_assert(std::is_trivially_copyable_v<DirectoryEntry> && std::is_standard_layout_v<ServerCell> && std::is_standard_layout_v<ProxyCell>);
static_assert(sizeof(SegmentHeader) <= service_at);

bool Service::lay_out(std::unique_ptr<Segment> segment) {
  if (!segment) return false;
  segment_ = std::move(segment);
  service_ = segment_->at<ServiceRow>(service_at);
  stripes_ = segment_->at<RobustStripe>(stripes_at);
  directory_ = segment_->at<char>(directory_at);
  servers_ = segment_->at<ServerRow>(servers_at);
  proxies_ = segment_->at<ProxyRow>(proxies_at);
  blocks_ = segment_->at<char>(blocks_at);
  return true;
}

std::unique_ptr<Service> Service::create(std::string &error) {
  std::unique_ptr<Service> made(new Service);
  if (!made->lay_out(Segment::create("penstock-service", layout(), all_bytes, all_bytes, error))) return nullptr;
  if (!made->segment_->reserve(0, directory_at)) {
    error = std::string("cannot reserve shared memory: ") + std::strerror(errno);
    return nullptr;
  }
  new (made->service_) ServiceRow{};
  for (u32 i = 0; i <= stripe_count; i++) init_stripe(made->stripes_[i]);
  made->service_->started_wall_s = wall_us() / 1'000'000;
  made->service_->started_ms = monotonic_ms();
  u64 seed = 0;
  if (getrandom(&seed, sizeof seed, 0) == ssize_t{sizeof seed}) made->service_->random_seed = seed;
  for (u32 s = 0; s < max_slots; s++) {
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (fd < 0) {
      error = std::string("cannot create a wake-up descriptor: ") + std::strerror(errno);
      return nullptr;
    }
    made->wake_fds_.push_back(fd);
  }
  return made;
}

std::unique_ptr<Service> Service::attach(const std::vector<int> &fds, std::string &error) {
  if (fds.size() != max_slots + 1) {
    error = "wrong number of descriptors for the service's memory";
    return nullptr;
  }
  std::unique_ptr<Service> made(new Service);
  if (!made->lay_out(Segment::attach(fds[0], layout(), all_bytes, error))) return nullptr;
  made->wake_fds_.assign(fds.begin() + 1, fds.end());
  for (int fd : fds) fcntl(fd, F_SETFD, FD_CLOEXEC);
  made->read_directory();
  return made;
}

Service::~Service() {
  for (int fd : wake_fds_) close(fd);
}

std::vector<int> Service::descriptors() const {
  std::vector<int> out{segment_->fd()};
  out.insert(out.end(), wake_fds_.begin(), wake_fds_.end());
  return out;
}

// ------------------------------------------------------------------------------------------ directory

void Service::read_directory() {
  size_t at = 0;
  for (u32 n = service_->directory_entries; n > 0; n--) {
    auto *entry = reinterpret_cast<DirectoryEntry *>(directory_ + at);
    string_view text(reinterpret_cast<char *>(entry + 1), entry->length);
    rows_.emplace(directory_key(static_cast<RowKind>(entry->kind), text), entry->row);
    at += entry_bytes(entry->length);
  }
}

u32 Service::row_of(RowKind kind, string_view identity) {
  auto [found, fresh] = rows_.try_emplace(directory_key(kind, identity), no_row);
  if (!fresh) return found->second;
  bool is_server = kind == RowKind::Server, is_listener = kind == RowKind::Listener;
  std::atomic<u32> &used = is_server ? service_->server_rows : is_listener ? service_->listener_rows : service_->proxy_rows;
  u32 limit = is_server ? max_server_rows : is_listener ? max_listener_rows : max_proxy_rows;
  size_t at = service_->directory_bytes, bytes = entry_bytes(identity.size());
  if (used >= limit || at + bytes > directory_capacity || !segment_->reserve(directory_at + at, bytes)) {
    rows_.erase(found);
    return no_row;
  }
  u32 row = used;
  if (is_server) new (&servers_[row]) ServerRow{};
  if (!is_server && !is_listener) new (&proxies_[row]) ProxyRow{};
  auto *entry = new (directory_ + at) DirectoryEntry{static_cast<u32>(kind), row, static_cast<u32>(identity.size())};
  std::memcpy(entry + 1, identity.data(), identity.size());
  service_->directory_bytes = at + bytes;
  service_->directory_entries++;
  used.store(row + 1, std::memory_order_release);
  return found->second = row;
}

std::optional<u32> Service::claim_slot(u32 generation, u32 index) {
  for (u32 s = 0; s < max_slots; s++) {
    if (slot_in_use(s)) continue;
    if (!segment_->reserve(static_cast<size_t>(reinterpret_cast<char *>(&slot(s)) - segment_->base()), sizeof(SlotHeader))) return std::nullopt;
    auto *header = new (&slot(s)) SlotHeader{};
    header->generation = generation;
    header->index = index;
    header->started_ms = monotonic_ms();
    header->state.store(static_cast<u32>(SlotState::Claimed), std::memory_order_release);
    u64 stale;
    while (read(wake_fds_[s], &stale, sizeof stale) > 0) {
    }
    return s;
  }
  return std::nullopt;
}

// ------------------------------------------------------------------------------------------- reading

/// Base and slots added up, again if totals moved between them meanwhile. `get` gives a slot's set.
template <class Set, class Get> Set Service::sum(Get get) const {
  constexpr size_t n = sizeof(Set) / sizeof(Counter);
  Set out;
  for (int attempt = 0; attempt < 1000; attempt++) {
    u64 version = service_->fold_version.load(std::memory_order_acquire);
    if (version & 1) {
      sched_yield();
      continue;
    }
    out = Set{};
    auto *to = reinterpret_cast<Counter *>(&out);
    for (u32 s = 0; s <= base_slot; s++) {
      if (s != base_slot && !slot_in_use(s)) continue;
      auto *from = reinterpret_cast<const Counter *>(&get(s));
      for (size_t i = 0; i < n; i++) to[i].value += from[i].get();
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (service_->fold_version.load(std::memory_order_relaxed) == version) break;
  }
  return out;
}

ServerCounters Service::sum_server(u32 r) const {
  return sum<ServerCounters>([&](u32 s) -> const ServerCounters & { return server_cell(s, r).counters; });
}
ProxyCounters Service::sum_proxy(u32 r) const {
  return sum<ProxyCounters>([&](u32 s) -> const ProxyCounters & { return proxy_cell(s, r).counters; });
}
ProxyCounters Service::sum_listener(u32 r) const {
  return sum<ProxyCounters>([&](u32 s) -> const ProxyCounters & { return listener_counters(s, r); });
}
ProcessCounters Service::sum_process() const {
  return sum<ProcessCounters>([&](u32 s) -> const ProcessCounters & { return slot(s).process; });
}

// -------------------------------------------------------------------------------------------- waking

void Service::wake(u32 s) const {
  u64 one = 1;
  [[maybe_unused]] ssize_t n = write(wake_fds_[s], &one, sizeof one); // full: it is readable already
}

void Service::wake_many(u64 slots) const {
  for (; slots; slots &= slots - 1) wake(static_cast<u32>(__builtin_ctzll(slots)));
}

void Service::wake_all() const {
  for (u32 s = 0; s < max_slots; s++)
    if (slot_in_use(s)) wake(s);
}

} // namespace penstock
