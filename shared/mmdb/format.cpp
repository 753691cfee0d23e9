// SPDX-License-Identifier: BSD-2-Clause
#include "shared/mmdb/format.h"

#include <bit>
#include <charconv>

#include "shared/base/text.h"

namespace penstock {

namespace {

constexpr string_view marker = "\xab\xcd\xefMaxMind.com";
constexpr u64 latest_build = 253'402'300'799; // end of the year 9999
constexpr size_t marker_window = 128 * 1024; // the metadata is within so many bytes of the end

u64 big_endian(string_view s) {
  u64 v = 0;
  for (char c : s) v = v << 8 | static_cast<u8>(c);
  return v;
}

bool sane_size(MmdbType t, u32 size) {
  switch (t) {
    case MmdbType::Double: return size == 8;
    case MmdbType::Float: return size == 4;
    case MmdbType::Uint16: return size <= 2;
    case MmdbType::Uint32: case MmdbType::Int32: return size <= 4;
    case MmdbType::Uint64: return size <= 8;
    case MmdbType::Uint128: return size <= 16;
    case MmdbType::Boolean: return size <= 1;
    case MmdbType::String: case MmdbType::Bytes: case MmdbType::Map: case MmdbType::Array: return true;
    default: return false;
  }
}
bool has_payload(MmdbType t) { return t != MmdbType::Map && t != MmdbType::Array && t != MmdbType::Boolean; }

bool read_pointer(string_view s, u8 control, size_t at, MmdbValue &out) {
  static constexpr u32 base[] = {0, 2048, 526336, 0};
  u32 kind = control >> 3 & 3, bytes = kind + 1;
  if (at + bytes > s.size()) return false;
  u64 v = big_endian(s.substr(at, bytes));
  if (kind < 3) v |= u64{control & 7u} << (8 * bytes);
  v += base[kind];
  if (v >= s.size()) return false;
  out = {MmdbType::Pointer, 0, 0, static_cast<u32>(at + bytes), static_cast<u32>(v)};
  return true;
}

void append_real(std::string &out, double v) {
  char text[40];
  auto end = std::to_chars(text, text + sizeof text, v).ptr;
  out.append(text, end);
}

bool json(string_view section, u32 offset, std::string &out, size_t limit, u32 depth, u32 &next) {
  MmdbValue v;
  if (depth > mmdb_max_depth || out.size() > limit || !mmdb_read_through(section, offset, v)) return false;
  next = v.next;
  string_view raw = has_payload(v.type) ? section.substr(v.at, v.size) : string_view();
  switch (v.type) {
    case MmdbType::String: mmdb_quote(out, raw); return true;
    case MmdbType::Double: append_real(out, std::bit_cast<double>(big_endian(raw))); return true;
    case MmdbType::Float: append_real(out, static_cast<double>(std::bit_cast<float>(static_cast<u32>(big_endian(raw))))); return true;
    case MmdbType::Bytes: {
      out += '"';
      for (char c : raw) for (int shift : {4, 0}) out += "0123456789ABCDEF"[static_cast<u8>(c) >> shift & 15];
      out += '"';
      return true;
    }
    case MmdbType::Boolean: out += v.size ? "true" : "false"; return true;
    case MmdbType::Int32: out += std::to_string(static_cast<i32>(big_endian(raw))); return true;
    case MmdbType::Uint16: case MmdbType::Uint32: case MmdbType::Uint64: case MmdbType::Uint128: out += mmdb_decimal(raw); return true;
    default: break;
  }
  bool map = v.type == MmdbType::Map;
  out += map ? '{' : '[';
  u32 at = v.at;
  for (u32 i = 0; i < v.size; i++) {
    if (i) out += ',';
    if (map) {
      MmdbValue key;
      if (!mmdb_read_through(section, at, key) || key.type != MmdbType::String) return false;
      mmdb_quote(out, section.substr(key.at, key.size));
      out += ':';
      at = key.next;
    }
    if (!json(section, at, out, limit, depth + 1, at)) return false;
  }
  out += map ? '}' : ']';
  // A pointer's `next` follows the pointer, a container's own follows its members.
  MmdbValue written;
  mmdb_read(section, offset, written);
  if (written.type != MmdbType::Pointer) next = at;
  return true;
}

/// Passes over one value as it is written.
bool skip(string_view section, u32 offset, u32 depth, u32 &next) {
  MmdbValue v;
  if (depth > mmdb_max_depth || !mmdb_read(section, offset, v)) return false;
  next = v.next;
  if (v.type != MmdbType::Map && v.type != MmdbType::Array) return true;
  u64 members = v.type == MmdbType::Map ? u64{v.size} * 2 : v.size;
  next = v.at;
  for (u64 i = 0; i < members; i++)
    if (!skip(section, next, depth + 1, next)) return false;
  return true;
}

} // namespace

bool mmdb_read(string_view s, u32 offset, MmdbValue &out) {
  if (offset >= s.size()) return false;
  u8 control = static_cast<u8>(s[offset]);
  size_t at = offset + 1;
  u32 type = control >> 5;
  if (type == static_cast<u32>(MmdbType::Pointer)) return read_pointer(s, control, at, out);
  if (type == 0) {
    if (at >= s.size()) return false;
    type = static_cast<u8>(s[at++]) + 7u;
    if (type < 8 || type > 15) return false;
  }
  u32 size = control & 31;
  if (size >= 29) {
    static constexpr u32 base[] = {29, 285, 65821};
    u32 bytes = size - 28;
    if (at + bytes > s.size()) return false;
    size = static_cast<u32>(big_endian(s.substr(at, bytes))) + base[bytes - 1];
    at += bytes;
  }
  auto t = static_cast<MmdbType>(type);
  if (!sane_size(t, size)) return false;
  size_t next = at + (has_payload(t) ? size : 0);
  // every member of a container takes a byte or more
  if (next > s.size() || (!has_payload(t) && t != MmdbType::Boolean && size > s.size() - at)) return false;
  out = {t, size, static_cast<u32>(at), static_cast<u32>(next), 0};
  return true;
}

bool mmdb_read_through(string_view s, u32 offset, MmdbValue &out) {
  if (!mmdb_read(s, offset, out)) return false;
  if (out.type != MmdbType::Pointer) return true;
  u32 next = out.next;
  if (!mmdb_read(s, out.pointee, out) || out.type == MmdbType::Pointer) return false;
  out.next = next;
  return true;
}

u64 mmdb_number(string_view section, const MmdbValue &v) {
  if (v.type == MmdbType::Boolean) return v.size;
  return v.size <= 8 ? big_endian(section.substr(v.at, v.size)) : 0;
}

bool mmdb_json(string_view section, u32 offset, std::string &out, size_t limit) {
  u32 next;
  return json(section, offset, out, limit, 0, next) && out.size() <= limit;
}

void mmdb_quote(std::string &out, string_view text) {
  out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') (out += '\\') += c;
    else if (static_cast<u8>(c) < 0x20) {
      out += "\\u00";
      for (int shift : {4, 0}) out += "0123456789abcdef"[static_cast<u8>(c) >> shift & 15];
    } else out += c;
  }
  out += '"';
}

std::string mmdb_decimal(string_view big) {
  unsigned __int128 v = 0;
  for (char c : big.substr(0, 16)) v = v << 8 | static_cast<u8>(c);
  std::string out;
  do out.insert(out.begin(), static_cast<char>('0' + static_cast<int>(v % 10)));
  while (v /= 10);
  return out;
}

bool MmdbView::open(string_view file, std::string &error) {
  file_ = file;
  size_t window = file.size() > marker_window ? file.size() - marker_window : 0;
  size_t at = file.substr(window).rfind(marker);
  if (at == string_view::npos) return error = "is no MaxMind database: it has no metadata", false;
  metadata_ = file.substr(window + at + marker.size());
  meta_ = {};
  MmdbValue top;
  if (!mmdb_read(metadata_, 0, top) || top.type != MmdbType::Map) return error = "has metadata that are no map", false;
  u32 place = top.at;
  u64 major = 0, seen = 0;
  for (u32 i = 0; i < top.size; i++) {
    MmdbValue key, v;
    if (!mmdb_read_through(metadata_, place, key) || key.type != MmdbType::String || !mmdb_read_through(metadata_, key.next, v))
      return error = "has broken metadata", false;
    string_view name = metadata_.substr(key.at, key.size);
    auto number = [&](u64 &into, u64 bit) {
      bool good = v.type == MmdbType::Uint16 || v.type == MmdbType::Uint32 || v.type == MmdbType::Uint64;
      if (good) into = mmdb_number(metadata_, v), seen |= bit;
      else error = "has metadata whose '" + std::string(name) + "' is no number of a usual size";
      return good;
    };
    u64 n = 0;
    if (name == "node_count") { if (!number(n, 1)) return false; meta_.node_count = n <= UINT32_MAX ? static_cast<u32>(n) : 0; }
    else if (name == "record_size") { if (!number(n, 2)) return false; meta_.record_size = static_cast<u32>(n); }
    else if (name == "ip_version") { if (!number(n, 4)) return false; meta_.ip_version = static_cast<u32>(n); }
    else if (name == "binary_format_major_version") { if (!number(major, 8)) return false; }
    else if (name == "build_epoch") { if (!number(meta_.build_epoch, 0)) return false; }
    else if (name == "database_type" && v.type == MmdbType::String) meta_.type = metadata_.substr(v.at, v.size);
    else if (name == "description" && v.type == MmdbType::Map) {
      std::string en = "en";
      if (auto found = [&]() -> std::optional<u32> {
            u32 p = v.at;
            for (u32 k = 0; k < v.size; k++) {
              MmdbValue language;
              if (!mmdb_read_through(metadata_, p, language) || language.type != MmdbType::String) return {};
              if (metadata_.substr(language.at, language.size) == en) return language.next;
              if (!skip(metadata_, language.next, 0, p)) return {};
            }
            return {};
          }()) {
        MmdbValue text;
        if (mmdb_read_through(metadata_, *found, text) && text.type == MmdbType::String) meta_.description = metadata_.substr(text.at, text.size);
      }
    }
    if (!skip(metadata_, key.next, 0, place)) return error = "has broken metadata", false;
    // Well-formed, but current readers of such files, libmaxminddb among them, look past the end then.
    if (v.size == 0 && (v.type == MmdbType::Map || v.type == MmdbType::Array) && place == metadata_.size())
      return error = "has metadata that end in an empty map or array, which is not safe to read", false;
  }
  if (seen != 15) return error = "has metadata without node count, record size, address family or version", false;
  if (major != 2) return error = "is in version " + std::to_string(major) + " of the format; version 2 is known", false;
  if (meta_.ip_version != 4 && meta_.ip_version != 6) return error = "is neither for IPv4 nor for IPv6", false;
  if (meta_.record_size != 24 && meta_.record_size != 28 && meta_.record_size != 32)
    return error = "has records of " + std::to_string(meta_.record_size) + " bits; 24, 28 and 32 exist", false;
  if (meta_.node_count == 0) return error = "has a search tree without nodes", false;
  if (meta_.build_epoch > latest_build) return error = "has a build date beyond the year 9999", false;
  u64 tree = u64{meta_.node_count} * (meta_.record_size / 4);
  u64 end = window + at; // where the marker is
  if (tree + 16 > end || end > UINT32_MAX) return error = "is shorter than the search tree of " + std::to_string(meta_.node_count) + " nodes that its metadata tell", false;
  meta_.tree_bytes = static_cast<u32>(tree);
  meta_.data_bytes = static_cast<u32>(end - tree - 16);
  return true;
}

u32 MmdbView::record(u32 node, u32 side) const {
  const u8 *p = reinterpret_cast<const u8 *>(file_.data()) + size_t{node} * (meta_.record_size / 4);
  switch (meta_.record_size) {
    case 24: p += side * 3; return u32{p[0]} << 16 | u32{p[1]} << 8 | p[2];
    case 28:
      return side ? (p[3] & 15u) << 24 | u32{p[4]} << 16 | u32{p[5]} << 8 | p[6] : (p[3] & 0xf0u) << 20 | u32{p[0]} << 16 | u32{p[1]} << 8 | p[2];
    default: p += side * 4; return u32{p[0]} << 24 | u32{p[1]} << 16 | u32{p[2]} << 8 | p[3];
  }
}

u32 MmdbView::ipv4_start(u32 &taken) const {
  u32 node = 0;
  for (taken = 0; meta_.ip_version == 6 && taken < 96 && node < meta_.node_count; taken++) node = record(node, 0);
  return node;
}

MmdbView::Found MmdbView::find(const Ip &ip) const {
  Found found;
  if (ip.is_v6() && meta_.ip_version == 4) return found;
  u32 node = 0, taken = 0, bits = ip.is_v4() ? 32 : 128;
  if (ip.is_v4()) node = ipv4_start(taken);
  while (node < meta_.node_count && found.prefix < bits) {
    node = record(node, ip.bytes[found.prefix / 8] >> (7 - found.prefix % 8) & 1);
    found.prefix++;
  }
  if (node > meta_.node_count && node - meta_.node_count >= 16 && node - meta_.node_count - 16 < meta_.data_bytes)
    found.offset = node - meta_.node_count - 16;
  return found;
}

std::optional<u32> MmdbView::follow(u32 offset, const std::string *path, size_t length) const {
  string_view s = data();
  for (size_t i = 0; i < length; i++) {
    MmdbValue v;
    if (!mmdb_read_through(s, offset, v)) return {};
    u32 at = v.at, wanted = 0;
    if (v.type == MmdbType::Array) {
      auto index = parse_i64(path[i]);
      if (!index || *index >= i64{v.size} || *index < -i64{v.size}) return {};
      wanted = static_cast<u32>(*index < 0 ? *index + v.size : *index);
      for (u32 k = 0; k < wanted; k++)
        if (!skip(s, at, 0, at)) return {};
      offset = at;
      continue;
    }
    if (v.type != MmdbType::Map) return {};
    bool there = false;
    for (u32 k = 0; k < v.size && !there; k++) {
      MmdbValue key;
      if (!mmdb_read_through(s, at, key) || key.type != MmdbType::String) return {};
      there = s.substr(key.at, key.size) == path[i];
      at = key.next;
      if (!there && !skip(s, at, 0, at)) return {};
    }
    if (!there) return {};
    offset = at;
  }
  return offset;
}

} // namespace penstock
