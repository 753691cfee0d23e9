// SPDX-License-Identifier: BSD-2-Clause
// Header fields and cookies of both directions: req.hdr, res.hdr, req.cook and their kin (manual, 7.3.6).
#include "shared/base/text.h"
#include "shared/expr/var_name.h"
#include "worker/rules/http_view.h"
#include "worker/rules/rows.h"

namespace penstock {

bool next_list_value(string_view list, u32 &at, string_view &value) {
  if (at > list.size()) return false;
  bool quoted = false;
  size_t end = at;
  for (; end < list.size(); end++) {
    char c = list[end];
    if (c == '"') quoted = !quoted;
    else if (c == '\\' && quoted) end++;
    else if (c == ',' && !quoted) break;
  }
  end = std::min(end, list.size());
  value = trim(list.substr(at, end - at));
  at = static_cast<u32>(end + 1);
  return true;
}

/// Fields of that name; all fields without one.
static size_t find_field(const HttpMessage &msg, const ArgValue &name, size_t from) {
  if (!name) return from < msg.size() ? from : HttpMessage::npos;
  return msg.find(static_cast<Header>(name.num), name.str, from);
}

bool field_value(const HttpMessage &msg, const ArgValue &name, i64 occurrence, bool whole, string_view &out) {
  if (occurrence == 0) return false;
  constexpr i64 remembered = 10; // how far back negative numbers reach
  string_view last[remembered];
  i64 count = 0;
  for (size_t i = find_field(msg, name, 0); i != HttpMessage::npos; i = find_field(msg, name, i + 1)) {
    string_view line = msg.value(i), value = line;
    u32 at = 0;
    while (whole ? at++ == 0 : next_list_value(line, at, value)) {
      last[count++ % remembered] = value;
      if (count == occurrence) return out = value, true;
    }
  }
  if (occurrence > 0 || -occurrence > count || -occurrence > remembered) return false;
  out = last[(count + occurrence) % remembered];
  return true;
}

namespace {

using Side = HttpMessage *(*)(const EvalContext &);

bool check_field(Args &args, std::string &error) {
  if (args.empty() || !args[0]) return true;
  args[0].num = static_cast<i64>(header_of(args[0].str));
  if (args.size() > 1 && args[1] && (args[1].num < -10 || args[1].num == 0)) {
    error = "the occurrence counts from 1 or, backwards, from -1 to -10";
    return false;
  }
  return true;
}

/// One value: every one in turn for ACLs, else the one asked for, else the last.
template <Side side, bool whole> bool next_field_value(EvalContext &ctx, const Args &args, FetchCursor &cursor, Sample &out) {
  const HttpMessage *msg = side(ctx);
  if (!msg) return false;
  string_view value;
  if (!cursor.iterate || args[1]) {
    if (!field_value(*msg, args[0], args[1] ? args[1].num : -1, whole, value)) return false;
    return give_str(out, value);
  }
  for (;;) {
    size_t i = find_field(*msg, args[0], cursor.position);
    if (i == HttpMessage::npos) return false;
    string_view line = msg->value(i);
    if (i != cursor.position) cursor.part = 0;
    cursor.position = static_cast<u32>(i);
    if (whole) value = line, cursor.position++;
    else if (!next_list_value(line, cursor.part, value)) {
      cursor.position++, cursor.part = 0;
      continue;
    }
    out.may_change = true;
    return give_str(out, value);
  }
}

template <Side side, bool whole> bool count_fields(EvalContext &ctx, const Args &args, FetchCursor &, Sample &out) {
  const HttpMessage *msg = side(ctx);
  if (!msg) return false;
  i64 count = 0;
  for (size_t i = find_field(*msg, args[0], 0); i != HttpMessage::npos; i = find_field(*msg, args[0], i + 1)) {
    string_view value;
    u32 at = 0;
    if (whole) count++;
    else while (next_list_value(msg->value(i), at, value)) count++;
  }
  return give_int(out, count);
}

template <Side side> bool field_number(EvalContext &ctx, const Args &args, FetchCursor &cursor, Sample &out) {
  bool again;
  do {
    if (!next_field_value<side, false>(ctx, args, cursor, out)) return false;
    again = out.may_change;
  } while (!cast(out, Type::Int, ctx.scratch) && again);
  return out.type == Type::Int;
}

/// Addresses may carry a port ("192.0.2.1:5060", "[2001:db8::1]:443"), as proxies write them.
std::optional<Ip> address_in(string_view text) {
  if (auto ip = parse_ip(text)) return ip;
  if (text.starts_with('[')) {
    size_t close = text.find(']');
    return close == string_view::npos ? std::nullopt : parse_ip(text.substr(1, close - 1));
  }
  size_t colon = text.find(':');
  if (colon == string_view::npos || !parse_u64(text.substr(colon + 1))) return std::nullopt;
  return parse_ip(text.substr(0, colon));
}

template <Side side> bool field_address(EvalContext &ctx, const Args &args, FetchCursor &cursor, Sample &out) {
  for (;;) {
    out.may_change = false;
    if (!next_field_value<side, false>(ctx, args, cursor, out)) return false;
    if (auto ip = address_in(out.str)) {
      out.set_ip(*ip);
      return true;
    }
    if (!out.may_change) return false;
  }
}

/// Joins words with a delimiter in scratch memory.
class Joined {
 public:
  Joined(Arena &arena, size_t capacity) : text_(arena.chars(capacity + 1)) {}
  void add(string_view s) {
    s.copy(text_ + size_, s.size());
    size_ += s.size();
  }
  void add_lower(string_view s) {
    for (char c : s) text_[size_++] = ascii_lower(c);
  }
  bool empty() const { return size_ == 0; }
  string_view text() const { return {text_, size_}; }

 private:
  char *text_;
  size_t size_ = 0;
};

template <Side side> bool field_names(EvalContext &ctx, const Args &args, FetchCursor &, Sample &out) {
  const HttpMessage *msg = side(ctx);
  if (!msg) return false;
  string_view delimiter = args[0] ? string_view(args[0].str) : ",";
  Joined names(ctx.scratch, msg->text_bytes() + msg->size() * delimiter.size());
  for (size_t i = 0; i < msg->size(); i++) {
    if (i) names.add(delimiter);
    names.add_lower(msg->name(i));
  }
  return give_str(out, names.text());
}

template <Side side> bool all_fields(EvalContext &ctx, const Args &, FetchCursor &, Sample &out) {
  const HttpMessage *msg = side(ctx);
  if (!msg) return false;
  Joined text(ctx.scratch, msg->wire_size());
  for (size_t i = 0; i < msg->size(); i++) {
    text.add_lower(msg->name(i));
    text.add(": ");
    text.add(msg->value(i));
    text.add("\r\n");
  }
  text.add("\r\n");
  return give_str(out, text.text());
}

/// The form of agents: length and text of name and value, in variable-length integers, closed by two empty ones.
void add_length(Joined &out, u64 n) {
  char byte;
  if (n < 240) {
    byte = static_cast<char>(n);
    return out.add({&byte, 1});
  }
  byte = static_cast<char>(n | 240);
  out.add({&byte, 1});
  for (n = (n - 240) >> 4; n >= 128; n = (n - 128) >> 7) {
    byte = static_cast<char>(n | 128);
    out.add({&byte, 1});
  }
  byte = static_cast<char>(n);
  out.add({&byte, 1});
}

template <Side side> bool all_fields_binary(EvalContext &ctx, const Args &, FetchCursor &, Sample &out) {
  const HttpMessage *msg = side(ctx);
  if (!msg) return false;
  Joined text(ctx.scratch, msg->wire_size() + msg->size() * 8 + 2);
  for (size_t i = 0; i < msg->size(); i++) {
    add_length(text, msg->name(i).size());
    text.add_lower(msg->name(i));
    add_length(text, msg->value(i).size());
    text.add(msg->value(i));
  }
  text.add(string_view("\0\0", 2));
  out.set_bin(text.text());
  return true;
}

// ------------------------------------------------------------------------------------------ cookies

/// Walks the cookies of a Cookie line, or the single one of a Set-Cookie line.
bool next_pair(string_view line, bool set_cookie, u32 &at, string_view &name, string_view &value) {
  while (at < line.size() && (line[at] == ' ' || line[at] == ';' || line[at] == '\t')) at++;
  if (at >= line.size() || (set_cookie && at > 0 && line.substr(0, at).find(';') != string_view::npos)) return false;
  size_t end = line.find(';', at);
  if (end == string_view::npos) end = line.size();
  string_view pair = line.substr(at, end - at);
  size_t equal = pair.find('=');
  name = trim(pair.substr(0, equal));
  value = equal == string_view::npos ? string_view() : trim(pair.substr(equal + 1));
  at = static_cast<u32>(set_cookie ? line.size() : end);
  return true;
}

/// ACLs see every cookie of the name, other expressions the last one.
template <Side side, bool set_cookie> bool next_cookie_value(EvalContext &ctx, const Args &args, FetchCursor &cursor, Sample &out) {
  const HttpMessage *msg = side(ctx);
  if (!msg) return false;
  constexpr Header header = set_cookie ? Header::SetCookie : Header::Cookie;
  string_view name, value, last;
  size_t i;
  while ((i = msg->find(header, cursor.position)) != HttpMessage::npos) {
    if (i != cursor.position) cursor.part = 0;
    cursor.position = static_cast<u32>(i);
    while (next_pair(msg->value(i), set_cookie, cursor.part, name, value)) {
      if (args[0] && name != args[0].str) continue;
      if (set_cookie) value = value.substr(0, value.find(','));
      out.may_change = cursor.iterate;
      if (cursor.iterate || !args[0]) return give_str(out, value);
      last = value.data() ? value : string_view("");
    }
    cursor.position++, cursor.part = 0;
  }
  return last.data() && give_str(out, last);
}

template <Side side, bool set_cookie> bool cookie_number(EvalContext &ctx, const Args &args, FetchCursor &cursor, Sample &out) {
  return next_cookie_value<side, set_cookie>(ctx, args, cursor, out) && cast(out, Type::Int, ctx.scratch);
}

template <Side side, bool set_cookie> bool count_cookies(EvalContext &ctx, const Args &args, FetchCursor &, Sample &out) {
  FetchCursor walk;
  walk.iterate = true;
  i64 count = 0;
  Sample s;
  while (next_cookie_value<side, set_cookie>(ctx, args, walk, s)) count++;
  return side(ctx) && give_int(out, count);
}

template <Side side, bool set_cookie> bool cookie_names(EvalContext &ctx, const Args &args, FetchCursor &, Sample &out) {
  const HttpMessage *msg = side(ctx);
  if (!msg) return false;
  string_view delimiter = args[0] ? string_view(args[0].str) : ",";
  Joined names(ctx.scratch, msg->text_bytes() * (1 + delimiter.size()));
  constexpr Header header = set_cookie ? Header::SetCookie : Header::Cookie;
  for (size_t i = msg->find(header); i != HttpMessage::npos; i = msg->find(header, i + 1)) {
    string_view name, value;
    for (u32 at = 0; next_pair(msg->value(i), set_cookie, at, name, value);) {
      if (!names.empty()) names.add(delimiter);
      names.add(name);
    }
  }
  return give_str(out, names.text());
}

constexpr ArgSpecs name_occ = {opt(ArgType::Str, "name"), opt(ArgType::Int, "occurrence")};
constexpr ArgSpecs name_only = {opt(ArgType::Str, "name")};
constexpr ArgSpecs delimiter_only = {opt(ArgType::Str, "delimiter")};
constexpr string_view occurrence_text =
    "Values of a list, divided by commas, count one by one. An ACL looks at each of them; elsewhere it is the last one, or the one "
    "that the number names: 1 is the first, -1 the last.";
constexpr string_view line_text = "A line is one value, commas included, as dates and user agents need it. Which one is chosen as req.hdr does.";
constexpr string_view cookie_text = "Names are compared with case. An ACL looks at every cookie of the name; elsewhere it is the first.";
constexpr string_view old_name = "An older name.";

constexpr FetchDef rows[] = {
    {.name = "cook", .args = name_only, .out = Type::Str, .needs = needs_req_head, .doc = {"A cookie of the request: req.cook.", old_name, "acl known cook(id) -m found"}, .eval = next_cookie_value<request_of, false>},
    {.name = "cook_cnt", .args = name_only, .out = Type::Int, .needs = needs_req_head, .doc = {"Number of cookies of the request: req.cook_cnt.", old_name, "acl many cook_cnt gt 20"}, .eval = count_cookies<request_of, false>},
    {.name = "cook_val", .args = name_only, .out = Type::Int, .needs = needs_req_head, .doc = {"A cookie of the request as a number: req.cook_val.", old_name, "acl big cook_val(n) gt 20"}, .eval = cookie_number<request_of, false>},
    {.name = "cookie", .args = name_only, .out = Type::Str, .needs = needs_req_head, .doc = {"A cookie of the request: req.cook.", old_name, "acl known cookie(id) -m found"}, .eval = next_cookie_value<request_of, false>},
    {.name = "hdr", .args = name_occ, .out = Type::Str, .needs = needs_any_head, .doc = {"A value of a header field of the message that the rule looks at.", occurrence_text, "acl api hdr(host) -i api.example.com"}, .eval = next_field_value<message_of, false>, .check = check_field},
    {.name = "hdr_cnt", .args = name_only, .out = Type::Int, .needs = needs_any_head, .doc = {"Number of values of a field of the message that the rule looks at.", "", "acl two_hosts hdr_cnt(host) gt 1"}, .eval = count_fields<message_of, false>, .check = check_field},
    {.name = "hdr_ip", .args = name_occ, .out = Type::Addr, .needs = needs_any_head, .doc = {"A value of a field of the message that the rule looks at, as an address.", occurrence_text, "acl inside hdr_ip(x-forwarded-for) 10.0.0.0/8"}, .eval = field_address<message_of>, .check = check_field},
    {.name = "hdr_val", .args = name_occ, .out = Type::Int, .needs = needs_any_head, .doc = {"A value of a field of the message that the rule looks at, as a number.", occurrence_text, "acl large hdr_val(content-length) gt 100000"}, .eval = field_number<message_of>, .check = check_field},
    {.name = "req.cook", .args = name_only, .out = Type::Str, .needs = needs_req_head, .doc = {"The value of a cookie of the request.", cookie_text, "acl known req.cook(id) -m found"}, .eval = next_cookie_value<request_of, false>},
    {.name = "req.cook_cnt", .args = name_only, .out = Type::Int, .needs = needs_req_head, .doc = {"Number of cookies of the request, or of those of one name.", "", "acl many req.cook_cnt gt 20"}, .eval = count_cookies<request_of, false>},
    {.name = "req.cook_names", .args = delimiter_only, .out = Type::Str, .needs = needs_req_head, .doc = {"The names of the request's cookies in order, divided by commas or the text given.", "", "http-request set-header X-Cookies %[req.cook_names]"}, .eval = cookie_names<request_of, false>},
    {.name = "req.cook_val", .args = name_only, .out = Type::Int, .needs = needs_req_head, .doc = {"The value of a cookie of the request as a number.", "", "acl big req.cook_val(n) gt 20"}, .eval = cookie_number<request_of, false>},
    {.name = "req.fhdr", .args = name_occ, .out = Type::Str, .needs = needs_req_head, .doc = {"A whole line of a header field of the request.", line_text, "http-request set-var(txn.ua) req.fhdr(user-agent)"}, .eval = next_field_value<request_of, true>, .check = check_field},
    {.name = "req.fhdr_cnt", .args = name_only, .out = Type::Int, .needs = needs_req_head, .doc = {"Number of lines of a header field of the request, or of all.", "", "http-request deny if { req.fhdr_cnt gt 80 }"}, .eval = count_fields<request_of, true>, .check = check_field},
    {.name = "req.hdr", .args = name_occ, .out = Type::Str, .needs = needs_req_head, .doc = {"A value of a header field of the request.", occurrence_text, "acl api req.hdr(host) -i api.example.com"}, .eval = next_field_value<request_of, false>, .check = check_field},
    {.name = "req.hdr_cnt", .args = name_only, .out = Type::Int, .needs = needs_req_head, .doc = {"Number of values of a header field of the request.", "Without a name every field counts.", "http-request deny if { req.hdr_cnt(host) gt 1 }"}, .eval = count_fields<request_of, false>, .check = check_field},
    {.name = "req.hdr_ip", .args = name_occ, .out = Type::Addr, .needs = needs_req_head, .doc = {"A value of a header field of the request as an address.", "A port behind it is left out. An ACL looks at every value that is an address.", "http-request set-src req.hdr_ip(x-forwarded-for,-1)"}, .eval = field_address<request_of>, .check = check_field},
    {.name = "req.hdr_names", .args = delimiter_only, .out = Type::Str, .needs = needs_req_head, .doc = {"The names of the request's fields in order, in lower case, divided by commas or the text given.", "", "http-request set-var(txn.shape) req.hdr_names"}, .eval = field_names<request_of>},
    {.name = "req.hdr_val", .args = name_occ, .out = Type::Int, .needs = needs_req_head, .doc = {"A value of a header field of the request as a number.", occurrence_text, "http-request deny if { req.hdr_val(content-length) gt 1000000 }"}, .eval = field_number<request_of>, .check = check_field},
    {.name = "req.hdrs", .out = Type::Str, .needs = needs_req_head, .doc = {"All header fields of the request as text, the empty line at the end included.", "", "http-request set-var(txn.head) req.hdrs"}, .eval = all_fields<request_of>},
    {.name = "req.hdrs_bin", .out = Type::Bin, .needs = needs_req_head, .doc = {"All header fields of the request with their lengths, in the form that agents read.", "", "http-request set-var(txn.head) req.hdrs_bin"}, .eval = all_fields_binary<request_of>},
    {.name = "res.cook", .args = name_only, .out = Type::Str, .needs = needs_res_head, .doc = {"The value of a cookie that the response sets.", cookie_text, "http-response set-header X-Sets-Id yes if { res.cook(id) -m found }"}, .eval = next_cookie_value<response_of, true>},
    {.name = "res.cook_cnt", .args = name_only, .out = Type::Int, .needs = needs_res_head, .doc = {"Number of cookies that the response sets.", "", "http-response set-header X-Cookies %[res.cook_cnt]"}, .eval = count_cookies<response_of, true>},
    {.name = "res.cook_names", .args = delimiter_only, .out = Type::Str, .needs = needs_res_head, .doc = {"The names of the cookies that the response sets, in order.", "", "http-response set-header X-Cookies %[res.cook_names]"}, .eval = cookie_names<response_of, true>},
    {.name = "res.cook_val", .args = name_only, .out = Type::Int, .needs = needs_res_head, .doc = {"The value of a cookie that the response sets, as a number.", "", "http-response del-header Set-Cookie if { res.cook_val(n) 0 }"}, .eval = cookie_number<response_of, true>},
    {.name = "res.fhdr", .args = name_occ, .out = Type::Str, .needs = needs_res_head, .doc = {"A whole line of a header field of the response.", line_text, "http-response set-header X-Expires %[res.fhdr(expires)]"}, .eval = next_field_value<response_of, true>, .check = check_field},
    {.name = "res.fhdr_cnt", .args = name_only, .out = Type::Int, .needs = needs_res_head, .doc = {"Number of lines of a header field of the response, or of all.", "", "http-response set-header X-Lines %[res.fhdr_cnt]"}, .eval = count_fields<response_of, true>, .check = check_field},
    {.name = "res.hdr", .args = name_occ, .out = Type::Str, .needs = needs_res_head, .doc = {"A value of a header field of the response.", occurrence_text, "http-response set-header X-Type %[res.hdr(content-type)]"}, .eval = next_field_value<response_of, false>, .check = check_field},
    {.name = "res.hdr_cnt", .args = name_only, .out = Type::Int, .needs = needs_res_head, .doc = {"Number of values of a header field of the response.", "", "http-response set-header X-Varies 1 if { res.hdr_cnt(vary) gt 0 }"}, .eval = count_fields<response_of, false>, .check = check_field},
    {.name = "res.hdr_ip", .args = name_occ, .out = Type::Addr, .needs = needs_res_head, .doc = {"A value of a header field of the response as an address.", "", "http-response set-var(txn.from) res.hdr_ip(x-origin)"}, .eval = field_address<response_of>, .check = check_field},
    {.name = "res.hdr_names", .args = delimiter_only, .out = Type::Str, .needs = needs_res_head, .doc = {"The names of the response's fields in order, in lower case.", "", "http-response set-header X-Names %[res.hdr_names]"}, .eval = field_names<response_of>},
    {.name = "res.hdr_val", .args = name_occ, .out = Type::Int, .needs = needs_res_head, .doc = {"A value of a header field of the response as a number.", occurrence_text, "http-response set-header X-Large 1 if { res.hdr_val(content-length) gt 100000 }"}, .eval = field_number<response_of>, .check = check_field},
    {.name = "res.hdrs", .out = Type::Str, .needs = needs_res_head, .doc = {"All header fields of the response as text, the empty line at the end included.", "", "http-response set-var(txn.head) res.hdrs"}, .eval = all_fields<response_of>},
    {.name = "res.hdrs_bin", .out = Type::Bin, .needs = needs_res_head, .doc = {"All header fields of the response with their lengths, in the form that agents read.", "", "http-response set-var(txn.head) res.hdrs_bin"}, .eval = all_fields_binary<response_of>},
    {.name = "scook", .args = name_only, .out = Type::Str, .needs = needs_res_head, .doc = {"A cookie that the response sets: res.cook.", old_name, "http-response set-header X-Id 1 if { scook(id) -m found }"}, .eval = next_cookie_value<response_of, true>},
    {.name = "scook_cnt", .args = name_only, .out = Type::Int, .needs = needs_res_head, .doc = {"Number of cookies that the response sets: res.cook_cnt.", old_name, "http-response set-header X-N %[scook_cnt]"}, .eval = count_cookies<response_of, true>},
    {.name = "scook_val", .args = name_only, .out = Type::Int, .needs = needs_res_head, .doc = {"A cookie that the response sets as a number: res.cook_val.", old_name, "http-response set-header X-N %[scook_val(n)]"}, .eval = cookie_number<response_of, true>},
    {.name = "set-cookie", .args = name_only, .out = Type::Str, .needs = needs_res_head, .doc = {"A cookie that the response sets: res.cook.", old_name, "http-response set-header X-Id 1 if { set-cookie(id) -m found }"}, .eval = next_cookie_value<response_of, true>},
    {.name = "shdr", .args = name_occ, .out = Type::Str, .needs = needs_res_head, .doc = {"A value of a header field of the response: res.hdr.", old_name, "http-response set-header X-Type %[shdr(content-type)]"}, .eval = next_field_value<response_of, false>, .check = check_field},
    {.name = "shdr_cnt", .args = name_only, .out = Type::Int, .needs = needs_res_head, .doc = {"Number of values of a response field: res.hdr_cnt.", old_name, "http-response set-header X-N %[shdr_cnt(vary)]"}, .eval = count_fields<response_of, false>, .check = check_field},
    {.name = "shdr_ip", .args = name_occ, .out = Type::Addr, .needs = needs_res_head, .doc = {"A response field as an address: res.hdr_ip.", old_name, "http-response set-var(txn.from) shdr_ip(x-origin)"}, .eval = field_address<response_of>, .check = check_field},
    {.name = "shdr_val", .args = name_occ, .out = Type::Int, .needs = needs_res_head, .doc = {"A response field as a number: res.hdr_val.", old_name, "http-response set-header X-N %[shdr_val(age)]"}, .eval = field_number<response_of>, .check = check_field},
};
static_assert(sorted_and_documented<FetchDef>(rows));

} // namespace

std::span<const FetchDef> fetch_fields() { return rows; }

} // namespace penstock
