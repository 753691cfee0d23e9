// SPDX-License-Identifier: BSD-2-Clause
// Messages of the Financial Information eXchange protocol: "8=FIX.4.4|9=LENGTH|35=…|…|10=SUM|", where |
// stands for the byte 1 (manual, section 7.3.1). Only the first message of a connection is looked at.
#include <algorithm>

#include "shared/base/text.h"
#include "worker/rules/rows.h"

namespace penstock {

namespace {

constexpr char separator = 1;
enum Tag : u64 { begin_string = 8, body_length = 9, checksum = 10, message_type = 35 };

/// One tag=value and what is behind its separator. False: malformed, or its end is missing.
bool next_tag(string_view &rest, u64 &tag, string_view &value) {
  size_t end = rest.find(separator), equal = rest.find('=');
  if (end == string_view::npos || equal == string_view::npos || equal > end) return false;
  auto n = parse_u64(rest.substr(0, equal));
  if (!n || equal + 1 == end) return false;
  tag = *n;
  value = rest.substr(equal + 1, end - equal - 1);
  rest.remove_prefix(end + 1);
  return true;
}

bool known_version(string_view v) {
  constexpr string_view versions[] = {"FIX.4.0", "FIX.4.1", "FIX.4.2", "FIX.4.3", "FIX.4.4", "FIXT.1.1"};
  return std::find(std::begin(versions), std::end(versions), v) != std::end(versions);
}

enum class Finding : u8 { Valid, Invalid, NoMessage };

/// Order of the first three tags, the length, and the sum at the end.
Finding examine(string_view message) {
  string_view rest = message, value;
  u64 tag;
  if (!next_tag(rest, tag, value)) return Finding::NoMessage;
  if (tag != begin_string || !known_version(value)) return Finding::Invalid;
  if (!next_tag(rest, tag, value)) return Finding::NoMessage;
  auto length = parse_u64(value);
  if (tag != body_length || !length) return Finding::Invalid;
  const char *body = rest.data();
  bool first = true;
  for (;; first = false) {
    const char *begin = rest.data();
    if (!next_tag(rest, tag, value)) return Finding::NoMessage;
    if (first && tag != message_type) return Finding::Invalid;
    if (tag != checksum) continue;
    auto wanted = parse_u64(value);
    u8 sum = 0;
    for (const char *p = message.data(); p < begin; p++) sum = static_cast<u8>(sum + static_cast<u8>(*p));
    bool good = static_cast<u64>(begin - body) == *length && value.size() == 3 && wanted && *wanted == sum;
    return good ? Finding::Valid : Finding::Invalid;
  }
}

PENSTOCK_CONVERTER(is_valid) {
  Finding v = examine(s.str);
  return v != Finding::NoMessage && give_bool(s, v == Finding::Valid);
}
PENSTOCK_CONVERTER(tag_value) {
  string_view rest = s.str, value;
  u64 tag;
  while (next_tag(rest, tag, value)) {
    if (tag == static_cast<u64>(args[0].num)) return s.set_bin(value), true;
    if (tag == checksum) break;
  }
  return false;
}
bool check_tag(Args &args, std::string &error) {
  struct Row { string_view name; i64 tag; };
  constexpr Row rows[] = {{"BeginString", 8}, {"BodyLength", 9}, {"CheckSum", 10}, {"MsgType", 35}, {"SenderCompID", 49}, {"TargetCompID", 56}};
  if (auto n = parse_u64(args[0].str); n && *n > 0) return args[0].num = static_cast<i64>(*n), true;
  for (const Row &r : rows)
    if (r.name == args[0].str) return args[0].num = r.tag, true;
  error = "a tag is a number, or one of BeginString, BodyLength, CheckSum, MsgType, SenderCompID and TargetCompID, got '" + args[0].str + "'";
  return false;
}

constexpr ConverterDef rows[] = {
    {.name = "fix_is_valid", .in = Type::Bin, .out = Type::Bool, .doc = {"Whether the bytes begin with a valid FIX message.", "Checks the order of the first tags, the version, the length and the sum at the end. No value while the message is not whole, or where a tag is no number or has no value.", "tcp-request inspect-delay 10s\ntcp-request content reject unless { req.payload(0,0),fix_is_valid }"}, .eval = is_valid},
    {.name = "fix_tag_value", .args = {req(ArgType::Str, "tag")}, .in = Type::Bin, .out = Type::Bin, .doc = {"The value of a tag in a FIX message.", "By number, or by name: BeginString, BodyLength, CheckSum, MsgType, SenderCompID, TargetCompID. The message is not checked: see fix_is_valid.", "tcp-request inspect-delay 10s\ntcp-request content set-var(txn.type) req.payload(0,0),fix_tag_value(MsgType)"}, .eval = tag_value, .check = check_tag},
};
static_assert(sorted_and_documented<ConverterDef>(rows));

} // namespace

std::span<const ConverterDef> conv_fix() { return rows; }

} // namespace penstock
