// SPDX-License-Identifier: BSD-2-Clause
#include "contrib/mmdb/writer.h"

#include <Poco/JSON/Object.h>
#include <Poco/JSON/Parser.h>

#include <algorithm>
#include <bit>

#include "shared/mmdb/format.h"

namespace penstock {

namespace {

void put(std::string &out, u64 v, u32 bytes) {
  for (u32 i = bytes; i-- > 0;) out += static_cast<char>(v >> (8 * i));
}
/// Type and size of a value.
void head(std::string &out, MmdbType type, size_t size) {
  auto t = static_cast<u32>(type);
  u32 low = size < 29 ? static_cast<u32>(size) : size < 285 ? 29 : size < 65821 ? 30 : 31;
  out += static_cast<char>((t < 8 ? t << 5 : 0) | low);
  if (t >= 8) out += static_cast<char>(t - 7);
  if (low == 29) put(out, size - 29, 1);
  if (low == 30) put(out, size - 285, 2);
  if (low == 31) put(out, size - 65821, 3);
}
void number(std::string &out, MmdbType type, u64 v) {
  u32 bytes = (64 - static_cast<u32>(std::countl_zero(v)) + 7) / 8;
  head(out, type, bytes);
  put(out, v, bytes);
}
void text(std::string &out, string_view s) {
  head(out, MmdbType::String, s.size());
  out += s;
}
/// Size of a pointer's offset: the field of two bits, and what is subtracted.
void pointer(std::string &out, size_t to) {
  u32 kind = to < 2048 ? 0 : to < 526336 ? 1 : to < 134744064 ? 2 : 3;
  static constexpr size_t base[] = {0, 2048, 526336, 0};
  size_t v = to - base[kind];
  u32 high = kind < 3 ? static_cast<u32>(v >> (8 * (kind + 1))) : 0;
  out += static_cast<char>(1 << 5 | kind << 3 | high);
  put(out, v, kind + 1);
}
constexpr size_t worth_a_pointer = 4, most_text = 65821 + 0xffffff;

u32 bit_of(const Ip &ip, u32 i) { return ip.bytes[i / 8] >> (7 - i % 8) & 1; }

} // namespace

bool MmdbWriter::add(const Network &network, const std::string &record, std::string &error) {
  auto known = records_.find(record);
  if (known == records_.end()) {
    try {
      Poco::JSON::Parser parser;
      Poco::Dynamic::Var value = parser.parse(record);
      std::string bytes;
      offsets_.push_back(static_cast<u32>(data_.size()));
      encode(data_, value);
    } catch (const Poco::Exception &e) {
      return error = e.displayText(), false;
    }
    known = records_.emplace(record, static_cast<u32>(offsets_.size() - 1)).first;
  }
  entries_.push_back({network, known->second});
  return true;
}

void MmdbWriter::encode_text(std::string &out, const std::string &s) {
  if (s.size() < worth_a_pointer) return text(out, s);
  auto [it, fresh] = texts_.emplace(s, out.size());
  if (fresh) text(out, s);
  else pointer(out, it->second);
}

void MmdbWriter::encode(std::string &out, const Poco::Dynamic::Var &value) {
  if (value.type() == typeid(Poco::JSON::Object::Ptr)) {
    auto object = value.extract<Poco::JSON::Object::Ptr>();
    std::map<std::string, Poco::Dynamic::Var> members;
    for (const auto &[name, member] : *object)
      if (!member.isEmpty()) members.emplace(name, member);
    head(out, MmdbType::Map, members.size());
    for (const auto &[name, member] : members) {
      encode_text(out, name);
      encode(out, member);
    }
  } else if (value.type() == typeid(Poco::JSON::Array::Ptr)) {
    auto array = value.extract<Poco::JSON::Array::Ptr>();
    head(out, MmdbType::Array, array->size());
    for (const auto &member : *array) encode(out, member);
  } else if (value.isBoolean()) {
    head(out, MmdbType::Boolean, value.convert<bool>());
  } else if (value.isInteger()) {
    if (value.isSigned() && value.convert<Poco::Int64>() < 0) {
      auto v = value.convert<Poco::Int64>();
      if (v < INT32_MIN) throw Poco::RangeException("a negative number has 32 bits at most");
      head(out, MmdbType::Int32, 4);
      put(out, static_cast<u32>(v), 4);
    } else {
      auto v = value.convert<Poco::UInt64>();
      number(out, v <= UINT32_MAX ? MmdbType::Uint32 : MmdbType::Uint64, v);
    }
  } else if (value.isNumeric()) {
    head(out, MmdbType::Double, 8);
    put(out, std::bit_cast<u64>(value.convert<double>()), 8);
  } else {
    auto s = value.convert<std::string>();
    if (s.size() > most_text) throw Poco::RangeException("a text is too long for the format");
    encode_text(out, s);
  }
}

void MmdbWriter::insert(const Entry &e, bool six) {
  Ip ip = e.network.ip;
  u32 bits = e.network.bits;
  if (six && ip.is_v4()) { // IPv4 lies under 96 zeros
    Ip wide;
    wide.family = 6;
    std::copy_n(ip.bytes.begin(), 4, wide.bytes.begin() + 12);
    ip = wide;
    bits += 96;
  }
  i64 leaf = -2 - i64{e.record};
  if (bits == 0) {
    nodes_[0] = {{leaf, leaf}};
    return;
  }
  size_t node = 0;
  for (u32 i = 0; i + 1 < bits; i++) {
    i64 next = nodes_[node].child[bit_of(ip, i)];
    if (next < 0) { // what a shorter prefix has holds for both halves
      nodes_.push_back({{next, next}});
      nodes_[node].child[bit_of(ip, i)] = next = static_cast<i64>(nodes_.size()) - 1;
    }
    node = static_cast<size_t>(next);
  }
  nodes_[node].child[bit_of(ip, bits - 1)] = leaf;
}

std::string MmdbWriter::metadata(u32 nodes) const {
  std::string out = "\xab\xcd\xefMaxMind.com";
  auto entry = [&](string_view name, MmdbType t, u64 v) { text(out, name), number(out, t, v); };
  head(out, MmdbType::Map, 9);
  entry("binary_format_major_version", MmdbType::Uint16, 2);
  entry("binary_format_minor_version", MmdbType::Uint16, 0);
  entry("build_epoch", MmdbType::Uint64, build_epoch);
  text(out, "database_type"), text(out, type);
  text(out, "description"), head(out, MmdbType::Map, 1), text(out, "en"), text(out, description);
  entry("ip_version", MmdbType::Uint16, ip_version);
  text(out, "languages"), head(out, MmdbType::Array, 1), text(out, "en");
  entry("node_count", MmdbType::Uint32, nodes);
  entry("record_size", MmdbType::Uint16, record_size);
  return out;
}

std::string MmdbWriter::tree(u32 bits) const {
  std::string out;
  out.reserve(nodes_.size() * bits / 4);
  for (const Node &n : nodes_) {
    u64 v[2];
    for (int side : {0, 1}) {
      i64 c = n.child[side];
      v[side] = c >= 0 ? static_cast<u64>(c) : c == -1 ? nodes_.size() : nodes_.size() + 16 + offsets_[static_cast<size_t>(-2 - c)];
    }
    if (bits == 28) {
      put(out, v[0] & 0xffffff, 3);
      put(out, (v[0] >> 24) << 4 | v[1] >> 24, 1);
      put(out, v[1] & 0xffffff, 3);
    } else {
      put(out, v[0], bits / 8);
      put(out, v[1], bits / 8);
    }
  }
  return out;
}

std::string MmdbWriter::file(std::string &error) {
  bool any_six = std::any_of(entries_.begin(), entries_.end(), [](const Entry &e) { return e.network.ip.is_v6(); });
  if (ip_version == 0) ip_version = any_six ? 6 : 4;
  if (ip_version == 4 && any_six) return error = "an IPv6 network does not fit in a database for IPv4", "";
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry &a, const Entry &b) {
    return a.network.bits + (a.network.ip.is_v4() ? 96 : 0) < b.network.bits + (b.network.ip.is_v4() ? 96 : 0);
  });
  nodes_.assign(1, {});
  for (const Entry &e : entries_) insert(e, ip_version == 6);
  u64 largest = nodes_.size() + 16 + data_.size();
  u32 least = largest < u64{1} << 24 ? 24 : largest < u64{1} << 28 ? 28 : 32;
  if (largest > UINT32_MAX || (record_size && record_size < least)) return error = "the database is too large for its records", "";
  if (record_size == 0) record_size = least;
  return tree(record_size) + std::string(16, '\0') + data_ + metadata(static_cast<u32>(nodes_.size()));
}

} // namespace penstock
