// SPDX-License-Identifier: BSD-2-Clause
#include "contrib/mmdb/input.h"

#include <Poco/JSON/Object.h>
#include <Poco/JSON/Parser.h>

#include <algorithm>
#include <istream>
#include <sstream>

#include "shared/base/text.h"
#include "shared/mmdb/format.h"

namespace penstock {

namespace {

/// Fields of a CSV line (RFC 4180, one line a record).
std::vector<std::string> csv_fields(string_view line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); i++) {
    char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') out.back() += line[++i];
    else if (c == '"') quoted = !quoted;
    else if (c == ',' && !quoted) out.emplace_back();
    else out.back() += c;
  }
  return out;
}

using Wide = unsigned __int128;
Wide number_of(const Ip &ip) {
  Wide v = 0;
  for (u32 i = 0; i < (ip.is_v4() ? 4u : 16u); i++) v = v << 8 | ip.bytes[i];
  return v;
}
Ip ip_of(Wide v, u8 family) {
  Ip ip;
  ip.family = family;
  for (u32 i = family == 4 ? 4 : 16; i-- > 0; v >>= 8) ip.bytes[i] = static_cast<u8>(v);
  return ip;
}

/// The networks that make up a range of addresses.
std::vector<Network> networks_between(const Ip &first, const Ip &last) {
  std::vector<Network> out;
  Wide at = number_of(first), end = number_of(last);
  u32 bits = first.is_v4() ? 32 : 128;
  while (at <= end) {
    u32 free = 0; // low bits that one network may cover
    while (free < bits && (at >> free & 1) == 0 && at + ((Wide{1} << free << 1) - 1) <= end && (Wide{1} << free << 1) != 0) free++;
    if (free == bits - 1 && bits == 128 && at == 0 && end == ~Wide{0}) free = 128;
    out.push_back({ip_of(at, first.family), static_cast<u8>(bits - free)});
    if (free >= bits) break;
    Wide next = at + (Wide{1} << free);
    if (next <= at) break;
    at = next;
  }
  return out;
}

/// A value of a CSV column: a number stays one.
std::string json_of(const std::string &field) {
  bool digits = !field.empty() && field.size() <= 19 && std::all_of(field.begin(), field.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits && (field.size() == 1 || field[0] != '0')) return field;
  std::string out;
  mmdb_quote(out, field);
  return out;
}

bool add_all(MmdbWriter &writer, const std::vector<Network> &networks, const std::string &record, std::string &error) {
  return std::all_of(networks.begin(), networks.end(), [&](const Network &n) { return writer.add(n, record, error); });
}

bool plain_line(const BuildInput &input, string_view line, MmdbWriter &writer, std::string &error) {
  size_t blank = line.find_first_of(" \t");
  auto network = parse_network(line.substr(0, blank));
  if (!network) return error = "'" + std::string(line.substr(0, blank)) + "' is no network", false;
  std::string record = "{";
  mmdb_quote(record, input.field);
  record += ':';
  mmdb_quote(record, blank == string_view::npos ? string_view() : trim(line.substr(blank)));
  return writer.add(*network, record + "}", error);
}

bool csv_line(const std::vector<std::string> &columns, string_view line, MmdbWriter &writer, std::string &error) {
  std::vector<std::string> fields = csv_fields(line);
  std::string record = "{";
  std::optional<Network> network;
  std::optional<Ip> first, last;
  for (size_t i = 0; i < std::min(fields.size(), columns.size()); i++) {
    const std::string &name = columns[i];
    if (name == "network") network = parse_network(fields[i]);
    else if (name == "start") first = parse_ip(fields[i]);
    else if (name == "end") last = parse_ip(fields[i]);
    else if (!name.empty() && !fields[i].empty()) {
      if (record.size() > 1) record += ',';
      mmdb_quote(record, name);
      record += ':' + json_of(fields[i]);
    }
  }
  record += '}';
  if (network) return writer.add(*network, record, error);
  if (!first || !last || first->family != last->family || number_of(*last) < number_of(*first)) return error = "a column 'network', or 'start' and 'end', must hold a network", false;
  return add_all(writer, networks_between(*first, *last), record, error);
}

bool json_line(const std::string &line, MmdbWriter &writer, std::string &error) {
  try {
    Poco::JSON::Parser parser;
    auto object = parser.parse(line).extract<Poco::JSON::Object::Ptr>();
    auto network = parse_network(object->optValue<std::string>("network", ""));
    if (!network) return error = "'network' must hold a network", false;
    std::ostringstream record;
    if (object->has("data")) Poco::JSON::Stringifier::stringify(object->get("data"), record);
    else object->remove("network"), object->stringify(record);
    return writer.add(*network, record.str(), error);
  } catch (const Poco::Exception &e) {
    return error = e.displayText(), false;
  }
}

} // namespace

bool read_networks(std::istream &in, const BuildInput &input, MmdbWriter &writer, std::string &error) {
  std::vector<std::string> columns = input.columns;
  std::string line;
  for (size_t number = 1; std::getline(in, line); number++) {
    string_view text = trim(line);
    if (text.empty() || text.front() == '#') continue;
    bool good = true;
    if (input.form == BuildInput::Csv && columns.empty()) columns = csv_fields(text);
    else if (input.form == BuildInput::Csv) good = csv_line(columns, text, writer, error);
    else if (input.form == BuildInput::JsonLines) good = json_line(std::string(text), writer, error);
    else good = plain_line(input, text, writer, error);
    if (!good) return error = "line " + std::to_string(number) + ": " + error, false;
  }
  return true;
}

} // namespace penstock
