// SPDX-License-Identifier: BSD-2-Clause
// The first packets of an MQTT connection, CONNECT and CONNACK, of versions 3.1, 3.1.1 and 5.0 (manual,
// section 7.3.1; MQTT 5.0, sections 2 and 3).
#include <algorithm>

#include "shared/base/text.h"
#include "worker/rules/rows.h"

namespace penstock {

namespace {

constexpr unsigned connect = 1, connack = 2; // types of packets

/// How a property's value is coded, and in which packets it may stand.
enum class Coding : u8 { Byte, Two, Four, Text, Pair };
enum Place : u8 { in_connect = 1, in_will = 2, in_connack = 4 };
struct Property {
  u8 id;
  Coding coding;
  u8 places;
};
constexpr Property properties[] = {
    {1, Coding::Byte, in_will},        {2, Coding::Four, in_will},         {3, Coding::Text, in_will},
    {8, Coding::Text, in_will},        {9, Coding::Text, in_will},         {17, Coding::Four, in_connect | in_connack},
    {18, Coding::Text, in_connack},    {19, Coding::Two, in_connack},      {21, Coding::Text, in_connect | in_connack},
    {22, Coding::Text, in_connect | in_connack}, {23, Coding::Byte, in_connect}, {24, Coding::Four, in_will},
    {25, Coding::Byte, in_connect},    {26, Coding::Text, in_connack},     {28, Coding::Text, in_connack},
    {31, Coding::Text, in_connack},    {33, Coding::Two, in_connect | in_connack}, {34, Coding::Two, in_connect | in_connack},
    {36, Coding::Byte, in_connack},    {37, Coding::Byte, in_connack},     {38, Coding::Pair, in_connect | in_will | in_connack},
    {39, Coding::Four, in_connect | in_connack}, {40, Coding::Byte, in_connack}, {41, Coding::Byte, in_connack},
    {42, Coding::Byte, in_connack},
};
const Property *property_of(u64 id) {
  for (const Property &p : properties)
    if (p.id == id) return &p;
  return nullptr;
}

struct Reader {
  string_view rest;
  bool bad = false;
  u32 number(unsigned bytes) {
    u32 v = 0;
    for (char c : take(bytes)) v = v << 8 | static_cast<unsigned char>(c);
    return v;
  }
  string_view take(size_t n) {
    if (rest.size() < n) return bad = true, rest = {}, string_view();
    string_view b = rest.substr(0, n);
    rest.remove_prefix(n);
    return b;
  }
  string_view text() { return take(number(2)); }
  /// A length in one to four bytes of seven bits.
  u32 length() {
    u32 v = 0;
    for (unsigned shift = 0; shift < 28; shift += 7) {
      u32 byte = number(1);
      v |= (byte & 127) << shift;
      if (byte < 128) return v;
    }
    bad = true;
    return 0;
  }
};

/// A packet taken to pieces; texts are parts of its bytes.
struct Message {
  unsigned type = 0, flags = 0, version = 0, keepalive = 0, reason = 0;
  string_view protocol, client, will_topic, will_payload, user, password;
  string_view properties, will_properties;
};

/// Walks properties; with `wanted` until that one, whose value goes to `s`.
bool walk(string_view bytes, u8 place, u64 wanted, Sample *s) {
  Reader r{bytes};
  while (!r.rest.empty() && !r.bad) {
    const Property *p = property_of(r.length());
    if (!p || !(p->places & place)) return false;
    u32 number = 0;
    string_view text;
    switch (p->coding) {
      case Coding::Byte: number = r.number(1); break;
      case Coding::Two: number = r.number(2); break;
      case Coding::Four: number = r.number(4); break;
      case Coding::Text: text = r.text(); break;
      case Coding::Pair: r.text(), r.text(); break;
    }
    if (r.bad) return false;
    if (!s || p->id != wanted || p->coding == Coding::Pair) continue;
    if (p->coding == Coding::Text) s->set_bin(text);
    else s->set_int(number);
    return true;
  }
  return !r.bad && !s;
}

bool read_connect(Reader r, Message &m) {
  m.protocol = r.text();
  m.version = r.number(1);
  m.flags = r.number(1);
  m.keepalive = r.number(2);
  if (r.bad || (m.protocol != "MQTT" && m.protocol != "MQIsdp")) return false;
  if (m.version < 3 || m.version > 5 || m.flags & 1) return false;
  if (m.version == 5) m.properties = r.take(r.length());
  m.client = r.text();
  if (m.flags & 4) {
    if (m.version == 5) m.will_properties = r.take(r.length());
    m.will_topic = r.text();
    m.will_payload = r.text();
  } else if (m.flags & 0x38) {
    return false; // how to treat a will that is none
  }
  if (m.flags & 0x80) m.user = r.text();
  if (m.flags & 0x40) m.password = r.text();
  return !r.bad && walk(m.properties, in_connect, 0, nullptr) && walk(m.will_properties, in_will, 0, nullptr);
}

bool read_connack(Reader r, Message &m) {
  m.version = r.rest.size() > 2 ? 5 : 4; // only version 5 says more
  m.flags = r.number(1);
  m.reason = r.number(1);
  if (r.bad || m.flags & ~1u) return false;
  if (m.version == 5) m.properties = r.take(r.length());
  return !r.bad && walk(m.properties, in_connack, 0, nullptr);
}

enum class Finding : u8 { Valid, Invalid, Short };
Finding read_message(string_view bytes, Message &m) {
  if (bytes.empty()) return Finding::Short;
  Reader r{bytes};
  unsigned first = r.number(1);
  m.type = first >> 4;
  if ((m.type != connect && m.type != connack) || first & 15) return Finding::Invalid;
  bool long_enough = r.rest.size() >= 4;
  u32 size = r.length();
  if (r.bad) return long_enough ? Finding::Invalid : Finding::Short;
  if (r.rest.size() < size) return Finding::Short;
  Reader body{r.rest.substr(0, size)};
  return (m.type == connect ? read_connect(body, m) : read_connack(body, m)) ? Finding::Valid : Finding::Invalid;
}

PENSTOCK_CONVERTER(is_valid) {
  Message m;
  Finding f = read_message(s.str, m);
  return f != Finding::Short && give_bool(s, f == Finding::Valid);
}

// -------------------------------------------------------------------------------------------- fields

struct Field {
  string_view name;
  unsigned packet;
  bool (*give)(const Message &, Sample &);
};
bool give_text(Sample &s, string_view text) { return s.set_bin(text), true; }
template <unsigned Message::*member> bool number(const Message &m, Sample &s) { return give_int(s, m.*member); }
template <string_view Message::*member, unsigned flag> bool text(const Message &m, Sample &s) { return (m.flags & flag) == flag && give_text(s, m.*member); }
constexpr Field fields[] = {
    {"client_identifier", connect, text<&Message::client, 0>}, {"flags", connect, number<&Message::flags>},
    {"flags", connack, number<&Message::flags>},               {"keepalive", connect, number<&Message::keepalive>},
    {"password", connect, text<&Message::password, 0x40>},     {"protocol_name", connect, text<&Message::protocol, 0>},
    {"protocol_version", connect, number<&Message::version>},  {"protocol_version", connack, number<&Message::version>},
    {"reason_code", connack, number<&Message::reason>},        {"username", connect, text<&Message::user, 0x80>},
    {"will_payload", connect, text<&Message::will_payload, 4>}, {"will_topic", connect, text<&Message::will_topic, 4>},
};

/// A property that is not sent has its default, 0, where it is a number.
bool give_property(const Message &m, const Property &p, Sample &s) {
  if (m.version != 5) return false;
  u8 place = m.type == connack ? in_connack : p.places & in_connect ? in_connect : in_will;
  if (walk(place == in_will ? m.will_properties : m.properties, place, p.id, &s)) return true;
  return p.coding != Coding::Text && give_int(s, 0);
}

PENSTOCK_CONVERTER(field_value) {
  Message m;
  if (read_message(s.str, m) != Finding::Valid || m.type != static_cast<unsigned>(args[0].num)) return false;
  if (const Field *f = args[1].as<Field>()) return f->give(m, s);
  const Property *p = property_of(static_cast<u64>(args[1].num));
  return p && give_property(m, *p, s);
}
bool check_field(Args &args, std::string &error) {
  string_view packet = args[0].str;
  args[0].num = packet == "1" || iequals(packet, "connect") ? connect : packet == "2" || iequals(packet, "connack") ? connack : 0u;
  if (!args[0].num) {
    error = "packets are CONNECT (1) and CONNACK (2), not '" + args[0].str + "'";
    return false;
  }
  if (auto id = parse_u64(args[1].str)) {
    const Property *p = property_of(*id);
    u8 places = args[0].num == connect ? in_connect | in_will : in_connack;
    args[1].num = static_cast<i64>(*id);
    if (!p || !(p->places & places) || p->coding == Coding::Pair) error = "no property " + args[1].str + " with one value stands in that packet";
    return error.empty();
  }
  error = "the fields of that packet are";
  for (const Field &f : fields) {
    if (f.packet != static_cast<unsigned>(args[0].num)) continue;
    if (iequals(f.name, args[1].str)) return args[1].ref = &f, error.clear(), true;
    error += " " + std::string(f.name) + ",";
  }
  error += " or the number of a property, got '" + args[1].str + "'";
  return false;
}

constexpr ConverterDef rows[] = {
    {.name = "mqtt_field_value", .args = {req(ArgType::Str, "packet"), req(ArgType::Str, "field")}, .in = Type::Bin, .out = Type::Any,
     .doc = {"A field or property of an MQTT packet.",
             "The packet is CONNECT (1) or CONNACK (2). Fields of CONNECT: flags, protocol_name, protocol_version, client_identifier, will_topic, will_payload, "
             "username, password, keepalive; of CONNACK: flags, protocol_version, reason_code. Properties of version 5 go by their number. Names go in any case.",
             "tcp-request inspect-delay 10s\ntcp-request content set-var(txn.user) req.payload(0,0),mqtt_field_value(connect,username)"},
     .eval = field_value, .check = check_field},
    {.name = "mqtt_is_valid", .in = Type::Bin, .out = Type::Bool, .doc = {"Whether the bytes begin with a valid MQTT packet, CONNECT or CONNACK.", "Versions 3.1, 3.1.1 and 5.0. No value while the packet is not whole.", "tcp-request inspect-delay 10s\ntcp-request content reject unless { req.payload(0,0),mqtt_is_valid }"}, .eval = is_valid},
};
static_assert(sorted_and_documented<ConverterDef>(rows));

} // namespace

std::span<const ConverterDef> conv_mqtt() { return rows; }

} // namespace penstock
