// SPDX-License-Identifier: BSD-2-Clause
// Converters on text (manual, section 7.3.1): case, pieces, joining, comparing, substitution.
#include <algorithm>

#include "shared/base/regex.h"
#include "shared/base/text.h"
#include "worker/rules/rows.h"
#include "worker/stream/vars.h"

namespace penstock {

namespace {

template <char (*change)(char)> bool map_chars(EvalContext &ctx, const Args &, Sample &s) {
  char *p = ctx.scratch.chars(s.str.size() + 1);
  for (size_t i = 0; i < s.str.size(); i++) p[i] = change(s.str[i]);
  return give_str(s, {p, s.str.size()});
}
constexpr char to_lower(char c) { return ascii_lower(c); }
constexpr char to_upper(char c) { return ascii_upper(c); }

PENSTOCK_CONVERTER(length) { return give_int(s, static_cast<i64>(s.str.size())); }

/// Text pieces joined in scratch memory.
string_view join(Arena &arena, std::initializer_list<string_view> parts) {
  size_t size = 0;
  for (string_view p : parts) size += p.size();
  char *out = arena.chars(size + 1), *at = out;
  for (string_view p : parts) {
    if (!p.empty()) std::memcpy(at, p.data(), p.size());
    at += p.size();
  }
  return {out, size};
}

// ------------------------------------------------------------------------------------------- pieces

/// Pieces between delimiters; with `words`, empty ones do not count.
struct Pieces {
  string_view text, delimiters;
  bool words;
  size_t at = 0;
  bool done = false;
  bool next(size_t &begin, size_t &end) {
    while (!done) {
      begin = at;
      end = std::min(text.find_first_of(delimiters, at), text.size());
      done = end == text.size();
      at = end + 1;
      if (!words || end > begin) return true;
    }
    return false;
  }
};

/// The index-th piece (from the end when negative) and, with a count, those next to it; 0: all of them.
template <bool words> bool piece(EvalContext &, const Args &args, Sample &s) {
  i64 index = args[0].num, count = args[2] ? args[2].num : 1, total = 0;
  size_t begin, end;
  for (Pieces p{s.str, args[1].str, words}; p.next(begin, end);) total++;
  if (index == 0 || index > total) return false;
  count = std::min(count, total);
  i64 first, last; // numbers from 0
  if (index > 0) first = index - 1, last = count == 0 ? total - 1 : std::min(total - 1, first + count - 1);
  else last = total + index, first = count == 0 ? 0 : std::max<i64>(0, last - count + 1);
  if (last < 0) return false;
  size_t from = 0, to = 0;
  Pieces p{s.str, args[1].str, words};
  for (i64 i = 0; i <= last && p.next(begin, end); i++) {
    if (i == first) from = begin;
    to = end;
  }
  if (args[2] && count == 0) index > 0 ? to = s.str.size() : from = 0; // delimiters and all
  return give_str(s, s.str.substr(from, to - from));
}
bool check_piece(Args &args, std::string &error) {
  if (args[0].num == 0) error = "the index counts from 1 or, backwards, from -1";
  if (args[2] && args[2].num < 0) error = "the count must not be negative";
  return error.empty();
}

PENSTOCK_CONVERTER(bytes) {
  i64 offset, size = INT64_MAX;
  if (!number_argument(ctx, args[0], offset) || (args[1] && !number_argument(ctx, args[1], size))) return false;
  if (offset < 0 || size < 0) return false;
  offset = std::min(offset, static_cast<i64>(s.str.size()));
  s.set_bin(s.str.substr(static_cast<size_t>(offset), static_cast<size_t>(size)));
  return true;
}

bool check_bytes(Args &args, std::string &error) {
  if (args[0].type == ArgType::Int && args[0].num < 0) error = "the offset must not be negative";
  if (args[1].type == ArgType::Int && args[1].num < 1) error = "the length must be above 0";
  return error.empty();
}

PENSTOCK_CONVERTER(ltrim) {
  size_t from = std::min(s.str.find_first_not_of(args[0].str), s.str.size());
  return give_str(s, s.str.substr(from));
}
PENSTOCK_CONVERTER(rtrim) {
  size_t last = s.str.find_last_not_of(args[0].str);
  return give_str(s, last == string_view::npos ? string_view() : s.str.substr(0, last + 1));
}
PENSTOCK_CONVERTER(cut_crlf) { return give_str(s, s.str.substr(0, s.str.find_first_of("\r\n"))); }

PENSTOCK_CONVERTER(param) {
  string_view rest = s.str, name = args[0].str;
  char delimiter = args[1] && !args[1].str.empty() ? args[1].str[0] : '&';
  for (;;) {
    size_t end = rest.find(delimiter);
    string_view pair = rest.substr(0, end);
    size_t equal = pair.find('=');
    if (pair.substr(0, equal) == name && !pair.empty()) return give_str(s, equal == string_view::npos ? string_view() : pair.substr(equal + 1));
    if (end == string_view::npos) return false;
    rest.remove_prefix(end + 1);
  }
}

/// Splits "host:port", "[v6]:port" or a bare one: at the last colon that no bracket follows.
void split_host(string_view text, string_view &host, string_view &port) {
  size_t colon = text.find_last_of(":]");
  if (colon != string_view::npos && text[colon] == ']') colon = string_view::npos;
  host = text.substr(0, colon);
  port = colon == string_view::npos ? string_view() : text.substr(colon + 1);
}
PENSTOCK_CONVERTER(host_only) {
  string_view host, port;
  split_host(s.str, host, port);
  char *p = ctx.scratch.chars(host.size() + 1);
  for (size_t i = 0; i < host.size(); i++) p[i] = ascii_lower(host[i]);
  return give_str(s, {p, host.size()});
}
PENSTOCK_CONVERTER(port_only) {
  string_view host, port;
  split_host(s.str, host, port);
  auto n = parse_u64(port);
  return give_int(s, n ? static_cast<i64>(*n) : 0);
}

// --------------------------------------------------------------------------------- joining, comparing

PENSTOCK_CONVERTER(concat) {
  string_view value;
  if (args[1]) text_argument(ctx, args[1], value);
  return give_str(s, join(ctx.scratch, {s.str, args[0].str, value, args[2].str}));
}

/// Adds an item to a list: the delimiter only between items.
PENSTOCK_CONVERTER(add_item) {
  string_view value;
  if (args[1] && !text_argument(ctx, args[1], value)) value = {};
  if (value.empty() && args[2].str.empty()) return true;
  return give_str(s, join(ctx.scratch, {s.str, s.str.empty() ? string_view() : string_view(args[0].str), value, args[2].str}));
}
bool check_add_item(Args &args, std::string &error) {
  if (args[1] || args[2]) return true;
  error = "there must be a variable or a suffix to add";
  return false;
}

PENSTOCK_CONVERTER(compare) {
  string_view other;
  if (!text_argument(ctx, args[0], other)) return false;
  size_t common = std::min(s.str.size(), other.size());
  if (int difference = common ? std::memcmp(s.str.data(), other.data(), common) : 0) return give_int(s, difference);
  return give_int(s, s.str.size() == other.size() ? 0 : s.str.size() < other.size() ? -1 : 1);
}

PENSTOCK_CONVERTER(if_then_else) { return give_str(s, s.num ? args[0].str : args[1].str); }

PENSTOCK_CONVERTER(regsub) { return give_str(s, substitute(*args[0].as<Regex>(), s.str, args[1].str, args[2].num, ctx.scratch)); }
bool check_regsub(Args &args, std::string &error) {
  bool fold = args[2].str.find('i') != std::string::npos;
  if (args[2].str.find_first_not_of("gi") != std::string::npos) {
    error = "the flags are g (all matches) and i (ignore case), got '" + args[2].str + "'";
    return false;
  }
  args[2].num = args[2].str.find('g') != std::string::npos;
  auto re = Regex::compile(args[0].str, fold, error);
  args[0].ref = re.get();
  args[0].owner = re;
  return re != nullptr;
}

/// Weights of Accept-Language in thousandths; 1000 without a q parameter.
int weight_of(string_view item) {
  size_t q = item.find("q=");
  if (q == string_view::npos) return 1000;
  string_view text = item.substr(q + 2);
  int weight = !text.empty() && text[0] == '1' ? 1000 : 0, unit = 100;
  for (size_t i = 2; i < text.size() && i < 5 && is_digit(text[i]); i++, unit /= 10) weight += (text[i] - '0') * unit;
  return std::min(weight, 1000);
}
PENSTOCK_CONVERTER(language) {
  int best = 0;
  string_view chosen;
  for (string_view rest = s.str; !rest.empty();) {
    size_t comma = rest.find(',');
    string_view item = trim(rest.substr(0, comma));
    rest = comma == string_view::npos ? string_view() : rest.substr(comma + 1);
    int weight = weight_of(item);
    string_view name = trim(item.substr(0, item.find(';')));
    if (weight <= best) continue;
    for (string_view wanted : {name, name.substr(0, name.find('-'))}) { // the variant, then the language
      string_view list = args[0].str;
      bool found = false;
      while (!list.empty() && !found) {
        size_t end = std::min(list.find(';'), list.size());
        if (list.substr(0, end) == wanted) chosen = list.substr(0, end), best = weight, found = true;
        list.remove_prefix(std::min(end + 1, list.size()));
      }
      if (found) break;
    }
  }
  if (best == 0 && args[1]) chosen = args[1].str;
  return give_some(s, chosen);
}

constexpr ArgSpecs piece_args = {req(ArgType::Int, "index"), req(ArgType::Str, "delimiters"), opt(ArgType::Int, "count")};
constexpr Type S = Type::Str;
constexpr ConverterDef rows[] = {
    {.name = "add_item", .args = {req(ArgType::Str, "delimiter"), opt(ArgType::Var, "variable"), opt(ArgType::Str, "suffix")}, .in = S, .out = S, .doc = {"Adds an item, a variable's value and a suffix, to a list.", "The delimiter goes before it unless the list is empty.", "http-request set-var(req.tags) str(),add_item(:,req.new,x)"}, .eval = add_item, .check = check_add_item},
    {.name = "bytes", .args = {req(ArgType::IntOrVar, "offset"), opt(ArgType::IntOrVar, "length")}, .in = Type::Bin, .out = Type::Bin, .doc = {"A part of a block of bytes.", "From an offset on, to the end or so many; nothing is left of a shorter block.", "http-request set-header X-Part %[path,bytes(1,3)]"}, .eval = bytes, .check = check_bytes},
    {.name = "concat", .args = {opt(ArgType::Str, "start"), opt(ArgType::Var, "variable"), opt(ArgType::Str, "end")}, .in = S, .out = S, .doc = {"Puts text, a variable's value and more text behind.", "", "http-request set-var(txn.ip_port) src,concat(<,txn.port,>)"}, .eval = concat},
    {.name = "cut_crlf", .in = S, .out = S, .doc = {"Cuts text at its first line break.", "", "http-request set-header X-Line %[req.hdrs,cut_crlf]"}, .eval = cut_crlf},
    {.name = "field", .args = piece_args, .in = S, .out = S, .doc = {"The index-th field between delimiters; empty fields count.", "Negative indexes count from the end. A count takes more fields, 0 all.", "http-request set-var(txn.first) path,field(2,/)"}, .eval = piece<false>, .check = check_piece},
    {.name = "host_only", .in = S, .out = S, .doc = {"The host of a Host header's value, without port, in lower case.", "", "http-request set-var(txn.host) req.hdr(host),host_only"}, .eval = host_only},
    {.name = "iif", .args = {req(ArgType::Str, "true"), req(ArgType::Str, "false")}, .in = Type::Bool, .out = S, .doc = {"One text when the value is true, another when it is false.", "", "http-request set-header X-Forwarded-Proto %[ssl_fc,iif(https,http)]"}, .eval = if_then_else},
    {.name = "language", .args = {req(ArgType::Str, "languages"), opt(ArgType::Str, "default")}, .in = S, .out = S, .doc = {"The language that an Accept-Language value likes best of those given.", "Languages are divided by semicolons.", "http-request set-var(txn.lang) req.fhdr(accept-language),language(de;en,en)"}, .eval = language},
    {.name = "length", .in = S, .out = Type::Int, .doc = {"The length of the text.", "", "acl long path,length gt 100"}, .eval = length},
    {.name = "lower", .in = S, .out = S, .doc = {"The text in lower case.", "", "http-request set-var(txn.host) req.hdr(host),lower"}, .eval = map_chars<to_lower>},
    {.name = "ltrim", .args = {req(ArgType::Str, "chars")}, .in = S, .out = S, .doc = {"Takes characters away from the start.", "", "http-request set-var(txn.p) path,ltrim(/)"}, .eval = ltrim},
    {.name = "param", .args = {req(ArgType::Str, "name"), opt(ArgType::Str, "delimiter")}, .in = S, .out = S, .doc = {"The first parameter of a name in a query or form.", "", "http-request set-var(txn.user) query,param(user)"}, .eval = param},
    {.name = "port_only", .in = S, .out = Type::Int, .doc = {"The port of a Host header's value, 0 without one.", "", "http-request set-var(txn.port) req.hdr(host),port_only"}, .eval = port_only},
    {.name = "regsub", .args = {req(ArgType::Str, "regex"), req(ArgType::Str, "replacement"), opt(ArgType::Str, "flags")}, .in = S, .out = S, .doc = {"Replaces what matches a regular expression.", "The first match, or all with the flag g; the flag i ignores case. \\1 to \\9 stand for groups.", "http-request set-path %[path,regsub(/+,/,g)]"}, .eval = regsub, .check = check_regsub},
    {.name = "rtrim", .args = {req(ArgType::Str, "chars")}, .in = S, .out = S, .doc = {"Takes characters away from the end.", "", "http-request set-var(txn.p) path,rtrim(/)"}, .eval = rtrim},
    {.name = "strcmp", .args = {req(ArgType::Var, "variable")}, .in = S, .out = Type::Int, .doc = {"Compares with a variable: 0 when equal, else below or above.", "", "http-request set-var(txn.host) hdr(host)\nhttp-request deny unless { str(www),strcmp(txn.host) eq 0 }"}, .eval = compare},
    {.name = "upper", .in = S, .out = S, .doc = {"The text in upper case.", "", "http-request set-var(txn.m) method,upper"}, .eval = map_chars<to_upper>},
    {.name = "word", .args = piece_args, .in = S, .out = S, .doc = {"The index-th word between delimiters; empty ones do not count.", "Negative indexes count from the end. A count takes more words, 0 all.", "http-request set-var(txn.first) path,word(1,/)"}, .eval = piece<true>, .check = check_piece},
};
static_assert(sorted_and_documented<ConverterDef>(rows));

} // namespace

std::span<const ConverterDef> conv_text() { return rows; }

} // namespace penstock
