// SPDX-License-Identifier: BSD-2-Clause
// Look-ups in MaxMind databases with libmaxminddb. The library is given the bytes of the shared store (its own
// way would be to map the operator's file, see shared/mmdb/store.h), which are checked before anybody sees them.
// Each worker remembers what it found, by the network that the answer holds for; an entry bears the version of the
// database that it came from, so a new version makes all of them void at once.
#include <maxminddb.h>

#include <charconv>
#include <cstring>

#include "shared/mmdb/store.h"
#include "worker/rules/rows.h"
#include "worker/worker.h"

namespace penstock {

namespace {

enum class Special : u8 { None, Network, First };
constexpr string_view default_mark = "default=";
constexpr size_t json_limit = 16384;

/// One use of the converter in the configuration.
struct Site {
  MmdbStore *store = nullptr;
  u16 number = 0;
  Special special = Special::None;
  std::vector<std::string> path;
  std::vector<const char *> path_z; // for the library
  bool has_default = false;
  std::string fallback;
  // The library's view of the version that this process saw last.
  mutable u64 version = 0;
  mutable MMDB_s db{};
};

/// What a network has at a site.
struct Remembered {
  u64 high = 0, low = 0;
  u64 version = 0; // 0: empty
  u16 site = 0, prefix = 0;
  bool whole = false; // holds for the whole /24 or /48
  MMDB_entry_data_s data{};
};

struct Memory {
  std::vector<Remembered> places; // a power of two, or none
};
Memory memory;

void prepare_memory() {
  size_t n = 1;
  while (n < mmdb_cache_size) n *= 2;
  if (memory.places.empty() && mmdb_cache_size) memory.places.resize(n);
}

// --------------------------------------------------------------------------------------- the library's view

void view_version(const Site &site, u64 version) {
  MmdbView view;
  std::string unused;
  string_view bytes = site.store->bytes(version);
  view.open(bytes, unused); // it was checked when it came
  const MmdbMeta &meta = view.meta();
  auto *content = reinterpret_cast<const u8 *>(bytes.data());
  MMDB_s &db = site.db;
  db = {};
  db.flags = MMDB_MODE_MMAP;
  db.file_size = static_cast<ssize_t>(bytes.size());
  db.file_content = content;
  db.data_section = content + meta.tree_bytes + 16;
  // To the end of the file, as the library itself has it: it takes records for broken that lie in the last 16 bytes.
  db.data_section_size = static_cast<u32>(bytes.size()) - meta.tree_bytes - 16;
  db.metadata_section = reinterpret_cast<const u8 *>(view.metadata().data());
  db.metadata_section_size = static_cast<u32>(view.metadata().size());
  db.full_record_byte_size = static_cast<u16>(meta.record_size / 4);
  db.depth = static_cast<u16>(view.bits());
  db.metadata.node_count = meta.node_count;
  db.metadata.record_size = static_cast<u16>(meta.record_size);
  db.metadata.ip_version = static_cast<u16>(meta.ip_version);
  db.metadata.binary_format_major_version = 2;
  u32 taken;
  db.ipv4_start_node.node_value = view.ipv4_start(taken);
  db.ipv4_start_node.netmask = static_cast<u16>(taken);
  site.version = version;
}

/// An address as 128 bits; IPv4 in its mapped form.
struct Key {
  u64 high = 0, low = 0;
  bool v4 = false;
};
constexpr u64 mapped = u64{0xffff} << 32;
u64 load64(const u8 *p) {
  u64 v;
  std::memcpy(&v, p, 8);
  return __builtin_bswap64(v);
}
Key key_of(const Ip &ip) {
  if (ip.is_v4()) return {0, mapped | ip.v4_host_order(), true};
  Key k{load64(ip.bytes.data()), load64(ip.bytes.data() + 8), false};
  k.v4 = k.high == 0 && k.low >> 32 == 0xffff;
  return k;
}
constexpr u32 coarse_v4 = 24, coarse_v6 = 48;
Key coarse(const Key &k) {
  return k.v4 ? Key{0, k.low & ~u64{0xff}, true} : Key{k.high & ~u64{0xffff}, 0, false};
}

MMDB_lookup_result_s search_tree(const MMDB_s &db, const Key &k) {
  int error = 0;
  if (k.v4) {
    sockaddr_in sa{};
    sa.sin_family = AF_INET;
    sa.sin_addr.s_addr = __builtin_bswap32(static_cast<u32>(k.low));
    return MMDB_lookup_sockaddr(&db, reinterpret_cast<sockaddr *>(&sa), &error);
  }
  sockaddr_in6 sa{};
  sa.sin6_family = AF_INET6;
  u64 high = __builtin_bswap64(k.high), low = __builtin_bswap64(k.low);
  std::memcpy(sa.sin6_addr.s6_addr, &high, 8);
  std::memcpy(sa.sin6_addr.s6_addr + 8, &low, 8);
  return MMDB_lookup_sockaddr(&db, reinterpret_cast<sockaddr *>(&sa), &error);
}

/// Asks the database itself.
void ask(const Site &site, const Key &k, Remembered &r) {
  r.data = {};
  r.prefix = 128;
  if (!k.v4 && site.db.metadata.ip_version == 4) return;
  MMDB_lookup_result_s found = search_tree(site.db, k);
  // Of IPv4 the library counts the bits of the whole tree.
  u32 prefix = found.netmask;
  if (k.v4 && site.db.depth == 128) prefix = prefix > 96 ? prefix - 96 : 0;
  r.prefix = static_cast<u16>(prefix);
  if (!found.found_entry) return;
  if (site.special != Special::None) {
    r.data.has_data = true;
    return;
  }
  if (MMDB_aget_value(&found.entry, &r.data, site.path_z.data()) != MMDB_SUCCESS) r.data = {};
}

// ------------------------------------------------------------------------------------------------ memory

u64 mix(u64 high, u64 low, u64 site) {
  u64 h = (high * 0x9e3779b97f4a7c15) ^ (low * 0xc2b2ae3d27d4eb4f) ^ (site * 0x165667b19e3779f9);
  return h ^ h >> 29;
}
Remembered *place_of(const Site &site, const Key &k, bool whole) {
  u64 h = mix(k.high, k.low + whole, site.number);
  return &memory.places[(h * 0x9e3779b97f4a7c15 >> 32) & (memory.places.size() - 1)];
}
bool is_about(const Remembered &r, const Site &site, const Key &k, bool whole) {
  return r.version == site.version && r.low == k.low && r.high == k.high && r.site == site.number && r.whole == whole;
}

/// What the pinned version has for the address.
const Remembered &recall(const Site &site, const Key &k, MmdbCell &cell, Remembered &scratch) {
  bool remembers = !memory.places.empty();
  Key wide = coarse(k);
  if (remembers) {
    Remembered *r = place_of(site, wide, true);
    if (!is_about(*r, site, wide, true)) r = place_of(site, k, false);
    if (is_about(*r, site, r->whole ? wide : k, r->whole)) {
      cell.cached.store(cell.cached.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return *r;
    }
  }
  ask(site, k, scratch);
  if (!remembers) return scratch;
  bool whole = scratch.prefix <= (k.v4 ? coarse_v4 : coarse_v6);
  const Key &as = whole ? wide : k;
  Remembered *r = place_of(site, as, whole);
  *r = scratch;
  r->high = as.high, r->low = as.low, r->whole = whole;
  r->site = site.number;
  r->version = site.version;
  return *r;
}

// ------------------------------------------------------------------------------------------------ values

Ip first_address(const Key &k, u32 prefix) {
  Ip ip;
  if (k.v4) return Ip::v4(prefix == 0 ? 0 : static_cast<u32>(k.low) & ~u32{0} << (32 - std::min(prefix, 32u)));
  ip.family = 6;
  u64 high = k.high, low = k.low;
  if (prefix < 64) high = prefix ? high & ~u64{0} << (64 - prefix) : 0, low = 0;
  else if (prefix < 128) low = prefix == 64 ? 0 : low & ~u64{0} << (128 - prefix);
  high = __builtin_bswap64(high), low = __builtin_bswap64(low);
  std::memcpy(ip.bytes.data(), &high, 8);
  std::memcpy(ip.bytes.data() + 8, &low, 8);
  return ip;
}

bool give_network(const Site &site, const Key &k, u32 prefix, Arena &arena, Sample &s) {
  Ip first = first_address(k, prefix);
  if (site.special == Special::First) return s.set_ip(first), true;
  char *text = arena.chars(52);
  size_t n = first.write(text);
  text[n++] = '/';
  n = static_cast<size_t>(std::to_chars(text + n, text + 52, prefix).ptr - text);
  return s.set_str({text, n}), true;
}

bool give_real(double v, bool narrow, Arena &arena, Sample &s) {
  char *text = arena.chars(40);
  char *end = narrow ? std::to_chars(text, text + 40, static_cast<float>(v)).ptr : std::to_chars(text, text + 40, v).ptr;
  return s.set_str({text, static_cast<size_t>(end - text)}), true;
}
bool give_text(const std::string &text, Arena &arena, Sample &s) { return s.set_str(arena.copy(text)), true; }

bool give_value(const Site &site, const MMDB_entry_data_s &d, Arena &arena, Sample &s) {
  switch (d.type) {
    case MMDB_DATA_TYPE_UTF8_STRING: return s.set_str(arena.copy({d.utf8_string, d.data_size})), true;
    case MMDB_DATA_TYPE_BYTES: return s.set_bin(arena.copy({reinterpret_cast<const char *>(d.bytes), d.data_size})), true;
    case MMDB_DATA_TYPE_UINT16: return s.set_int(d.uint16), true;
    case MMDB_DATA_TYPE_UINT32: return s.set_int(d.uint32), true;
    case MMDB_DATA_TYPE_INT32: return s.set_int(d.int32), true;
    case MMDB_DATA_TYPE_UINT64: return d.uint64 <= INT64_MAX ? (s.set_int(static_cast<i64>(d.uint64)), true) : give_text(std::to_string(d.uint64), arena, s);
    case MMDB_DATA_TYPE_BOOLEAN: return s.set_bool(d.boolean), true;
    case MMDB_DATA_TYPE_DOUBLE: return give_real(d.double_value, false, arena, s);
    case MMDB_DATA_TYPE_FLOAT: return give_real(static_cast<double>(d.float_value), true, arena, s);
    default: break;
  }
  string_view data(reinterpret_cast<const char *>(site.db.data_section), site.db.data_section_size);
  if (d.type == MMDB_DATA_TYPE_UINT128) {
    MmdbValue v;
    return mmdb_read_through(data, d.offset, v) && give_text(mmdb_decimal(data.substr(v.at, v.size)), arena, s);
  }
  std::string json;
  return mmdb_json(data, d.offset, json, json_limit) && give_text(json, arena, s);
}

bool look_up_pinned(const Site &site, u64 version, MmdbCell &cell, Arena &arena, Sample &s) {
  if (version == 0) return false;
  if (version != site.version) view_version(site, version);
  Key k = key_of(s.ip);
  Remembered scratch;
  const Remembered &r = recall(site, k, cell, scratch);
  if (!r.data.has_data) return false;
  if (site.special != Special::None ? !give_network(site, k, r.prefix, arena, s) : !give_value(site, r.data, arena, s)) return false;
  cell.found.store(cell.found.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return true;
}

PENSTOCK_CONVERTER(look_up) {
  const Site &site = *args[0].as<Site>();
  if (memory.places.empty()) prepare_memory();
  Worker *worker = this_worker();
  u32 slot = worker ? worker->slot : MmdbStore::other_cell;
  MmdbCell &cell = site.store->cell(slot);
  u64 version = site.store->pin(slot);
  cell.lookups.store(cell.lookups.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  bool found = look_up_pinned(site, version, cell, ctx.scratch, s);
  site.store->unpin(slot);
  s.is_const = false;
  if (found || !site.has_default) return found;
  s.set_str(site.fallback);
  s.is_const = true;
  return true;
}

u16 sites_made = 0;

bool check_look_up(Args &args, std::string &error) {
  auto site = std::make_shared<Site>();
  site->store = need_mmdb(args[0].str, error);
  if (!site->store) return false;
  for (size_t i = 1; i < args.size() && args[i]; i++) {
    string_view word = args[i].str;
    if (site->has_default) return error = "nothing can follow 'default='", false;
    if (word.starts_with(default_mark)) site->has_default = true, site->fallback = word.substr(default_mark.size());
    else if (word == "@network") site->special = Special::Network;
    else if (word == "@first") site->special = Special::First;
    else if (word.starts_with('@')) return error = "'" + std::string(word) + "' is none of '@network' and '@first'", false;
    else site->path.emplace_back(word);
  }
  if (site->special != Special::None && !site->path.empty()) return error = "'@network' and '@first' stand alone", false;
  for (const std::string &p : site->path) site->path_z.push_back(p.c_str());
  site->path_z.push_back(nullptr);
  site->number = ++sites_made;
  args[0].ref = site.get();
  args[0].owner = site;
  return true;
}

constexpr ArgSpecs lookup_args = {req(ArgType::Str, "name"), opt(ArgType::Str, "path"), opt(ArgType::Str, "path"), opt(ArgType::Str, "path"), opt(ArgType::Str, "path"), opt(ArgType::Str, "path")};
constexpr string_view lookup_text =
    "The name is one that 'maxmind-load' gave, or the path of a file. The words that follow lead to the value: keys of maps, "
    "positions in lists from 0, negative ones from the end. Without any the whole record comes. Numbers and booleans keep their type, "
    "fractions become text, maps and lists JSON. '@network' instead of a path gives the network that the answer holds for, such as "
    "192.0.2.0/24, and '@first' its first address, which suits as the key of a stick table. An address that the database does not "
    "know, or a path that its record lacks, gives no value, unless the last word is 'default=' and a text. What is no address gives no value in any case.";
constexpr ConverterDef rows[] = {
    {.name = "maxmind-lookup", .args = lookup_args, .in = Type::Addr, .out = Type::Any,
     .doc = {"What a MaxMind database says about the address.", lookup_text,
             "global\n    maxmind-load CITY /nonexistent.mmdb optional\nfrontend fe\n    mode http\n    http-request set-header X-Country %[src,maxmind-lookup(\"CITY\",\"country\",\"iso_code\")]"}, .eval = look_up, .check = check_look_up},
    {.name = "mmdb", .args = lookup_args, .in = Type::Addr, .out = Type::Any,
     .doc = {"What a MaxMind database says about the address: the short name of maxmind-lookup.", "",
             "global\n    maxmind-load ASN /nonexistent.mmdb optional\nfrontend fe\n    mode http\n    http-request set-header X-AS %[src,mmdb(ASN,autonomous_system_number,default=0)]"}, .eval = look_up, .check = check_look_up},
};
static_assert(sorted_and_documented<ConverterDef>(rows));

} // namespace

std::span<const ConverterDef> conv_maxmind() { return rows; }

} // namespace penstock
