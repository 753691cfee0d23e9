// SPDX-License-Identifier: BSD-2-Clause
// Fields of Protocol Buffers messages, bare or behind gRPC's frame header (manual, section 7.3.1).
#include <algorithm>
#include <cstring>

#include "shared/base/text.h"
#include "worker/rules/rows.h"

namespace penstock {

namespace {

enum class Wire : u8 { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };
enum class Kind : u8 { Plain, ZigZag, Signed, Unsigned, Real };
struct FieldType {
  string_view name;
  Wire wire;
  Kind kind;
};
constexpr FieldType field_types[] = {
    {"bool", Wire::Varint, Kind::Plain},      {"double", Wire::Fixed64, Kind::Real},     {"enum", Wire::Varint, Kind::Plain},
    {"fixed32", Wire::Fixed32, Kind::Unsigned}, {"fixed64", Wire::Fixed64, Kind::Signed}, {"float", Wire::Fixed32, Kind::Real},
    {"int32", Wire::Varint, Kind::Plain},     {"int64", Wire::Varint, Kind::Plain},      {"sfixed32", Wire::Fixed32, Kind::Signed},
    {"sfixed64", Wire::Fixed64, Kind::Signed}, {"sint32", Wire::Varint, Kind::ZigZag},    {"sint64", Wire::Varint, Kind::ZigZag},
    {"uint32", Wire::Varint, Kind::Plain},    {"uint64", Wire::Varint, Kind::Plain},
};

bool read_varint(string_view &b, u64 &v) {
  v = 0;
  for (unsigned shift = 0; !b.empty() && shift < 70; shift += 7) {
    auto byte = static_cast<unsigned char>(b[0]);
    b.remove_prefix(1);
    if (shift < 64) v |= u64{byte & 127u} << shift;
    if (byte < 128) return true;
  }
  return false;
}

/// The next field of a message: its number, how it is coded, its bytes.
bool next_field(string_view &b, u64 &number, Wire &wire, string_view &bytes) {
  u64 key, size = 0;
  if (!read_varint(b, key)) return false;
  number = key >> 3;
  wire = static_cast<Wire>(key & 7);
  const char *begin = b.data();
  switch (wire) {
    case Wire::Varint:
      if (!read_varint(b, size)) return false;
      bytes = {begin, static_cast<size_t>(b.data() - begin)};
      return true;
    case Wire::Fixed64: size = 8; break;
    case Wire::Fixed32: size = 4; break;
    case Wire::Bytes:
      if (!read_varint(b, size)) return false;
      break;
    default: return false;
  }
  if (b.size() < size) return false;
  bytes = b.substr(0, size);
  b.remove_prefix(size);
  return true;
}

bool give_typed(const FieldType &type, string_view bytes, Sample &s) {
  if (type.wire == Wire::Varint) {
    u64 v;
    if (!read_varint(bytes, v)) return false;
    return give_int(s, static_cast<i64>(type.kind == Kind::ZigZag ? v >> 1 ^ (0 - (v & 1)) : v));
  }
  u64 v = 0;
  for (size_t i = bytes.size(); i-- > 0;) v = v << 8 | static_cast<unsigned char>(bytes[i]);
  if (type.kind == Kind::Real) {
    double real;
    if (type.wire == Wire::Fixed64) std::memcpy(&real, &v, 8);
    else {
      float single;
      u32 low = static_cast<u32>(v);
      std::memcpy(&single, &low, 4);
      real = single;
    }
    if (!(real > -9.2e18 && real < 9.2e18)) return false;
    return give_int(s, static_cast<i64>(real));
  }
  if (type.wire == Wire::Fixed32 && type.kind == Kind::Signed) return give_int(s, static_cast<i32>(v));
  return give_int(s, static_cast<i64>(v));
}

/// Follows "48.59.1" into nested messages; the first field of each number counts.
bool find_field(string_view b, const ArgValue &path, const ArgValue &type, Sample &s) {
  const auto *wanted = type.as<FieldType>();
  for (string_view rest = path.str;;) {
    size_t dot = rest.find('.');
    auto number = parse_u64(rest.substr(0, dot));
    u64 n;
    Wire wire;
    string_view bytes;
    do {
      if (!next_field(b, n, wire, bytes)) return false;
    } while (n != *number);
    if (dot == string_view::npos) {
      if (!wanted) return s.set_bin(bytes), true;
      return wire == wanted->wire && give_typed(*wanted, bytes, s);
    }
    if (wire != Wire::Bytes) return false;
    b = bytes;
    rest.remove_prefix(dot + 1);
  }
}

bool check_field(Args &args, std::string &error) {
  for (string_view rest = args[0].str;;) {
    size_t dot = rest.find('.');
    auto n = parse_u64(rest.substr(0, dot));
    if (!n || *n == 0 || *n >= 1 << 29) {
      error = "a field is a number, or numbers divided by dots, such as 48.59.1, got '" + args[0].str + "'";
      return false;
    }
    if (dot == string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  if (!args[1]) return true;
  for (const FieldType &t : field_types)
    if (t.name == args[1].str) return args[1].ref = &t, true;
  error = "unknown field type '" + args[1].str + "'; there are";
  for (const FieldType &t : field_types) error += (&t == field_types ? " " : ", ") + std::string(t.name);
  return false;
}

PENSTOCK_CONVERTER(protobuf) { return find_field(s.str, args[0], args[1], s); }
/// A byte (compressed or not), four of length, the message.
PENSTOCK_CONVERTER(ungrpc) {
  if (s.str.size() < 5) return false;
  size_t size = 0;
  for (char c : s.str.substr(1, 4)) size = size << 8 | static_cast<unsigned char>(c);
  string_view message = s.str.substr(5);
  return message.size() >= size && find_field(message.substr(0, size), args[0], args[1], s);
}

constexpr ArgSpecs field_args = {req(ArgType::Str, "field"), opt(ArgType::Str, "type")};
constexpr string_view path_text = "The field's number, or a path of numbers divided by dots into nested messages; where a field is repeated the first counts. "
                                  "Without a type its bytes come out. Types: int32, int64, uint32, uint64, sint32, sint64, bool, enum, fixed32, fixed64, "
                                  "sfixed32, sfixed64, float and double; reals lose what is behind the point.";
constexpr ConverterDef rows[] = {
    {.name = "protobuf", .args = field_args, .in = Type::Bin, .out = Type::Any, .doc = {"A field of a Protocol Buffers message.", path_text, "http-request set-var(txn.lat) req.body,protobuf(48.59.1,int32)"}, .eval = protobuf, .check = check_field},
    {.name = "ungrpc", .args = field_args, .in = Type::Bin, .out = Type::Any, .doc = {"A field of the Protocol Buffers message in a gRPC body.", path_text, "http-request set-var(txn.lat) req.body,ungrpc(48.59),protobuf(1,int32)"}, .eval = ungrpc, .check = check_field},
};
static_assert(sorted_and_documented<ConverterDef>(rows));

} // namespace

std::span<const ConverterDef> conv_protobuf() { return rows; }

} // namespace penstock
