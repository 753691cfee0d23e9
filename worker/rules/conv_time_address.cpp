// SPDX-License-Identifier: BSD-2-Clause
// Converters of dates and addresses (manual, section 7.3.1).
#include <time.h>

#include <cstdio>

#include "shared/base/text.h"
#include "worker/rules/rows.h"

namespace penstock {

namespace {

/// "s", "ms", "us" as units per second.
bool check_unit(ArgValue &unit, std::string &error) {
  if (!unit) return true;
  unit.num = unit.str == "s" ? 1 : unit.str == "ms" ? 1000 : unit.str == "us" ? 1'000'000 : 0;
  if (!unit.num) error = "expects the unit s, ms or us, got '" + unit.str + "'";
  return unit.num;
}

i64 floor_divide(i64 a, i64 b) { return a / b - (a % b < 0); }

PENSTOCK_CONVERTER(http_date) {
  constexpr char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  i64 v;
  if (__builtin_add_overflow(s.num, args[0].num, &v)) return false;
  time_t at = floor_divide(v, args[1] ? args[1].num : 1);
  tm t;
  if (!gmtime_r(&at, &t)) return false;
  i64 per_second = args[1] ? args[1].num : 1;
  char fraction[8] = "";
  if (per_second > 1) std::snprintf(fraction, sizeof fraction, ".%0*u", per_second == 1000 ? 3 : 6, static_cast<unsigned>(v - at * per_second) % 1'000'000);
  char *p = ctx.scratch.chars(64);
  int n = std::snprintf(p, 64, "%s, %02d %s %04d %02d:%02d:%02d%s GMT", days[t.tm_wday], t.tm_mday, months[t.tm_mon], t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec, fraction);
  return n > 0 && n < 64 && give_str(s, {p, static_cast<size_t>(n)});
}
bool check_http_date(Args &args, std::string &error) { return check_unit(args[1], error); }

/// strftime's format with %N, %3N, … for parts of a second; made ready once per evaluation.
size_t expand_fractions(string_view format, u64 nanos, char *out, size_t capacity) {
  size_t n = 0;
  for (size_t i = 0; i < format.size() && n + 10 < capacity; i++) {
    size_t width = 9, letter = i + 1;
    if (format[i] == '%' && letter < format.size() && is_digit(format[letter])) width = static_cast<size_t>(format[letter++] - '0');
    if (format[i] != '%' || letter >= format.size() || format[letter] != 'N' || width == 0) {
      out[n++] = format[i];
      if (format[i] == '%' && i + 1 < format.size()) out[n++] = format[++i];
      continue;
    }
    u64 unit = 100'000'000;
    for (size_t k = 0; k < width; k++, unit /= 10) out[n++] = static_cast<char>('0' + nanos / unit % 10);
    i = letter;
  }
  out[n] = '\0';
  return n;
}

template <i64 per_second, bool utc> bool format_time(EvalContext &ctx, const Args &args, Sample &s) {
  i64 v;
  if (__builtin_add_overflow(s.num, args[1].num, &v)) return false;
  time_t second = floor_divide(v, per_second);
  u64 nanos = static_cast<u64>(v % per_second + (v % per_second < 0 ? per_second : 0)) * (1'000'000'000 / per_second);
  tm t;
  if (!(utc ? gmtime_r(&second, &t) : localtime_r(&second, &t))) return false;
  constexpr size_t capacity = 512;
  char *out = ctx.scratch.chars(capacity);
  const char *form = args[0].str.c_str();
  if (per_second > 1) {
    char *expanded = ctx.scratch.chars(capacity);
    expand_fractions(args[0].str, nanos, expanded, capacity);
    form = expanded;
  }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  size_t n = strftime(out, capacity, form, &t);
#pragma GCC diagnostic pop
  return give_str(s, {out, n});
}

/// The three forms of RFC 9110, section 5.6.7: "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
/// "Sun Nov  6 08:49:37 1994". The name of the day is not held against the date.
PENSTOCK_CONVERTER(http_time) {
  constexpr const char *forms[] = {"%a, %d %b %Y %H:%M:%S GMT", "%a, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"};
  char copy[64];
  if (s.str.size() >= sizeof copy) return false;
  s.str.copy(copy, s.str.size());
  copy[s.str.size()] = '\0';
  for (const char *form : forms) {
    tm t{};
    const char *end = strptime(copy, form, &t);
    if (end && *end == '\0') return give_int(s, timegm(&t));
  }
  return false;
}

// ---------------------------------------------------------------------------------------- addresses

PENSTOCK_CONVERTER(ip_mask) {
  unsigned keep = static_cast<unsigned>(args[0].num);
  if (s.ip.is_v6()) {
    if (auto v4 = s.ip.to_v4()) s.set_ip(*v4); // an IPv4 client behind an IPv6 socket is the same client
    else if (!args[1]) return false;
    else keep = static_cast<unsigned>(args[1].num);
  }
  Ip ip = s.ip;
  size_t size = ip.is_v4() ? 4 : 16;
  for (size_t i = 0; i < size; i++) {
    unsigned bits = keep >= 8 * (i + 1) ? 8 : keep <= 8 * i ? 0 : keep - static_cast<unsigned>(8 * i);
    ip.bytes[i] &= static_cast<u8>(0xff00 >> bits);
  }
  s.set_ip(ip);
  return true;
}

// ------------------------------------------------------------------------- RFC 7239 (Forwarded)

bool is_token_char(char c) { return is_alpha(c) || is_digit(c) || string_view("!#$%&'*+-.^_`|~").find(c) != string_view::npos; }
bool is_obfuscated(string_view s) {
  if (s.size() < 2 || s[0] != '_') return false;
  for (char c : s.substr(1))
    if (!is_alpha(c) && !is_digit(c) && c != '.' && c != '_' && c != '-') return false;
  return true;
}

/// One name=value of an element; the value without its quotes. False at the end or on a mistake (`bad`).
bool next_pair(string_view text, size_t &at, string_view &name, string_view &value, bool &bad) {
  if (at >= text.size()) return false;
  if (at > 0 && text[at++] != ';') return bad = true, false;
  size_t begin = at;
  while (at < text.size() && is_token_char(text[at])) at++;
  name = text.substr(begin, at - begin);
  if (name.empty() || at >= text.size() || text[at] != '=') return bad = true, false;
  at++;
  if (at < text.size() && text[at] == '"') {
    size_t close = text.find('"', at + 1);
    if (close == string_view::npos) return bad = true, false;
    value = text.substr(at + 1, close - at - 1);
    at = close + 1;
  } else {
    begin = at;
    while (at < text.size() && is_token_char(text[at])) at++;
    value = text.substr(begin, at - begin);
  }
  return true;
}

/// Cuts a node "name:port" in two; "[v6]" keeps its brackets.
bool split_node(string_view node, string_view &name, string_view &port) {
  size_t close = node.starts_with('[') ? node.find(']') : string_view::npos;
  if (node.starts_with('[') && close == string_view::npos) return false;
  size_t colon = node.find(':', close == string_view::npos ? 0 : close);
  name = node.substr(0, colon);
  port = colon == string_view::npos ? string_view() : node.substr(colon + 1);
  bool good_port = colon == string_view::npos || is_obfuscated(port);
  if (auto n = parse_u64(port); n && *n < 65536) good_port = true;
  if (!good_port) return false;
  if (name.starts_with('[')) {
    auto ip = parse_ip(name.substr(1, name.size() - 2));
    return ip && ip->is_v6();
  }
  auto ip = parse_ip(name);
  return name == "unknown" || is_obfuscated(name) || (ip && ip->is_v4());
}

bool valid_forwarded(string_view text) {
  size_t at = 0;
  bool bad = false, any = false;
  string_view name, value, node, port;
  u32 seen = 0;
  while (next_pair(text, at, name, value, bad)) {
    any = true;
    u32 bit = name == "proto" ? 1 : name == "for" ? 2 : name == "by" ? 4 : name == "host" ? 8 : 0;
    if (!bit || seen & bit) return false; // each once
    seen |= bit;
    if (bit == 1 && value != "http" && value != "https") return false;
    if (bit & 6 && !split_node(value, node, port)) return false;
    if (bit == 8 && value.empty()) return false;
  }
  return any && !bad;
}

PENSTOCK_CONVERTER(forwarded_valid) { return give_bool(s, valid_forwarded(s.str)); }
PENSTOCK_CONVERTER(forwarded_field) {
  if (!valid_forwarded(s.str)) return false;
  size_t at = 0;
  bool bad = false;
  string_view name, value;
  while (next_pair(s.str, at, name, value, bad))
    if (name == args[0].str) return give_str(s, value);
  return false;
}
bool check_forwarded_field(Args &args, std::string &error) {
  for (string_view f : {"proto", "host", "for", "by"})
    if (args[0].str == f) return true;
  error = "the fields are proto, host, for and by, not '" + args[0].str + "'";
  return false;
}
PENSTOCK_CONVERTER(node_name) {
  string_view name, port;
  if (!split_node(s.str, name, port)) return false;
  if (name.starts_with('[')) name = name.substr(1, name.size() - 2);
  if (auto ip = parse_ip(name)) return s.set_ip(*ip), true;
  return give_str(s, name);
}
PENSTOCK_CONVERTER(node_port) {
  string_view name, port;
  if (!split_node(s.str, name, port) || port.empty()) return false;
  if (auto n = parse_u64(port)) return give_int(s, static_cast<i64>(*n));
  return give_str(s, port);
}

string_view with_underscore(Arena &arena, string_view text) {
  char *p = arena.chars(text.size() + 1);
  p[0] = '_';
  if (!text.empty()) std::memcpy(p + 1, text.data(), text.size());
  return {p, text.size() + 1};
}
PENSTOCK_CONVERTER(make_node_name) {
  if (s.type == Type::Ipv6) {
    char *p = ctx.scratch.chars(50);
    p[0] = '[';
    size_t n = s.ip.write(p + 1);
    p[n + 1] = ']';
    return give_str(s, {p, n + 2});
  }
  if (s.type == Type::Ipv4) return cast(s, Type::Str, ctx.scratch);
  if (!cast(s, Type::Str, ctx.scratch)) return false;
  if (s.str.empty()) return give_str(s, "unknown");
  string_view text = with_underscore(ctx.scratch, s.str);
  return is_obfuscated(text) && give_str(s, text);
}
PENSTOCK_CONVERTER(make_node_port) {
  if (s.type == Type::Int) return cast(s, Type::Str, ctx.scratch);
  if (!cast(s, Type::Str, ctx.scratch)) return false;
  string_view text = with_underscore(ctx.scratch, s.str);
  return is_obfuscated(text) && give_str(s, text);
}

constexpr ArgSpecs time_args = {req(ArgType::Str, "format"), opt(ArgType::Int, "offset")};
constexpr Type S = Type::Str, I = Type::Int;
constexpr string_view time_text = "The format is that of strftime(3). The offset is added before.";
constexpr string_view fraction_text = "The format is that of strftime(3), and %N with an optional width gives parts of a second. The offset is added before.";
constexpr ConverterDef rows[] = {
    {.name = "date", .in = Type::Str, .out = Type::Int, .doc = {"The seconds since 1970 of a date as header fields write it.", "All three forms of HTTP are read; what is none of them gives no value.", "http-request set-var(txn.since) req.fhdr(if-modified-since),date"}, .eval = http_time},
    {.name = "http_date", .args = {opt(ArgType::Int, "offset"), opt(ArgType::Str, "unit")}, .in = I, .out = S, .doc = {"A date as HTTP headers write it.", "The input and the offset are in seconds, or in the unit ms or us.", "http-response set-header Expires %[date(3600),http_date]"}, .eval = http_date, .check = check_http_date},
    {.name = "ipmask", .args = {req(ArgType::Mask4, "mask4"), opt(ArgType::Mask6, "mask6")}, .in = Type::Addr, .out = Type::Addr, .doc = {"The address with all but its first bits zeroed.", "One mask for IPv4, another for IPv6.", "http-request set-header X-Net %[src,ipmask(24,64)]"}, .eval = ip_mask},
    {.name = "ltime", .args = time_args, .in = I, .out = S, .doc = {"A date in seconds as local time in a format.", time_text, "http-response set-header X-Time %[date,ltime(%H:%M)]"}, .eval = format_time<1, false>},
    {.name = "ms_ltime", .args = time_args, .in = I, .out = S, .doc = {"A date in milliseconds as local time in a format.", fraction_text, "http-response set-header X-Time %[date(0,ms),ms_ltime(%S.%3N)]"}, .eval = format_time<1000, false>},
    {.name = "ms_utime", .args = time_args, .in = I, .out = S, .doc = {"A date in milliseconds as UTC in a format.", fraction_text, "http-response set-header X-Time %[date(0,ms),ms_utime(%S.%3N)]"}, .eval = format_time<1000, true>},
    {.name = "rfc7239_field", .args = {req(ArgType::Str, "field")}, .in = S, .out = S, .doc = {"One parameter of a Forwarded header: proto, host, for or by.", "", "http-request set-var(req.host) req.hdr(forwarded),rfc7239_field(host)"}, .eval = forwarded_field, .check = check_forwarded_field},
    {.name = "rfc7239_is_valid", .in = S, .out = Type::Bool, .doc = {"Whether the text is a valid Forwarded header.", "", "acl good req.hdr(forwarded),rfc7239_is_valid"}, .eval = forwarded_valid},
    {.name = "rfc7239_n2nn", .in = S, .out = Type::Any, .doc = {"The name of a node of a Forwarded header: an address or a text.", "", "http-request set-var(req.from) req.hdr(forwarded),rfc7239_field(for),rfc7239_n2nn"}, .eval = node_name},
    {.name = "rfc7239_n2np", .in = S, .out = Type::Any, .doc = {"The port of a node of a Forwarded header: a number or a text.", "", "http-request set-var(req.port) req.hdr(forwarded),rfc7239_field(for),rfc7239_n2np"}, .eval = node_port},
    {.name = "rfc7239_nn", .in = Type::Any, .out = S, .doc = {"An address or text as a node's name of a Forwarded header.", "", "http-request set-header X-For %[src,rfc7239_nn]"}, .eval = make_node_name},
    {.name = "rfc7239_np", .in = Type::Any, .out = S, .doc = {"A number or text as a node's port of a Forwarded header.", "", "http-request set-header X-Port %[src_port,rfc7239_np]"}, .eval = make_node_port},
    {.name = "us_ltime", .args = time_args, .in = I, .out = S, .doc = {"A date in microseconds as local time in a format.", fraction_text, "http-response set-header X-Time %[date(0,us),us_ltime(%S.%6N)]"}, .eval = format_time<1'000'000, false>},
    {.name = "us_utime", .args = time_args, .in = I, .out = S, .doc = {"A date in microseconds as UTC in a format.", fraction_text, "http-response set-header X-Time %[date(0,us),us_utime(%S.%6N)]"}, .eval = format_time<1'000'000, true>},
    {.name = "utime", .args = time_args, .in = I, .out = S, .doc = {"A date in seconds as UTC in a format.", time_text, "http-response set-header X-Time %[date,utime(%H:%M)]"}, .eval = format_time<1, true>},
};
static_assert(sorted_and_documented<ConverterDef>(rows));

} // namespace

std::span<const ConverterDef> conv_time_address() { return rows; }

} // namespace penstock
