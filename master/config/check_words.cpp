// SPDX-License-Identifier: BSD-2-Clause
#include "master/config/check_words.h"

#include "master/config/choice.h"
#include "shared/base/regex.h"
#include "shared/base/text.h"
#include "shared/expr/var_name.h"

namespace penstock {

namespace {

/// A word of a line and what reads what follows it.
struct WordRow {
  string_view word;
  bool (*read)(LineContext &, CheckStep &);
};

bool alert_unknown(Words &words, std::span<const WordRow> rows, std::span<const WordRow> more = {}) {
  NearMiss near(words.peek());
  std::string all;
  for (auto list : {rows, more})
    for (const WordRow &r : list) {
      near.consider(r.word);
      all += (all.empty() ? "" : ", ") + std::string(r.word);
    }
  alert_expected(words, all, near.hint());
  return false;
}

const WordRow *find(string_view word, std::span<const WordRow> rows) {
  for (const WordRow &r : rows)
    if (r.word == word) return &r;
  return nullptr;
}

/// All words of a line by their rows.
bool read_all(LineContext &ctx, CheckStep &step, std::span<const WordRow> rows) {
  while (!ctx.words.at_end()) {
    const WordRow *row = find(ctx.words.peek(), rows);
    if (!row) return alert_unknown(ctx.words, rows);
    ctx.words.next();
    if (!row->read(ctx, step)) return false;
  }
  return true;
}

template <auto Field> bool text(LineContext &ctx, CheckStep &step) {
  auto v = ctx.words.need("a value");
  if (v) step.*Field = *v;
  return v.has_value();
}
template <auto Field> bool flag(LineContext &, CheckStep &step) { return step.*Field = true; }

Compiler compiler_of(LineContext &ctx) { return Compiler(ctx.words, ctx.config, ctx.proxy, needs_check); }

template <auto Field> bool format(LineContext &ctx, CheckStep &step) {
  auto word = ctx.words.need("a log format");
  if (!word) return false;
  auto made = compiler_of(ctx).log_format(*word, ctx.words.place_of(ctx.words.position() - 1));
  if (made) step.*Field = std::move(*made);
  return made.has_value();
}

bool not_yet(LineContext &ctx, string_view what) {
  ctx.words.alert_last("'" + std::string(what) + "' in checks is known but not implemented yet");
  return false;
}
bool tls(LineContext &ctx, CheckStep &) { return not_yet(ctx, ctx.words.all()[ctx.words.position() - 1].text); }

// ------------------------------------------------------------------------------------------- connect

/// A number, or an expression that yields one.
bool connect_port(LineContext &ctx, CheckStep &step) {
  auto word = ctx.words.need("a port or an expression");
  if (!word) return false;
  if (auto n = parse_u64(*word)) {
    if (*n >= 1 && *n <= 65535) return step.port = static_cast<u16>(*n), true;
    ctx.words.alert_last("'" + std::string(*word) + "' is not a port between 1 and 65535");
    return false;
  }
  auto expr = compiler_of(ctx).expression_in(*word, ctx.words.place_of(ctx.words.position() - 1));
  if (expr) step.port_expr = std::make_shared<Expr>(std::move(*expr));
  return expr.has_value();
}

bool connect_address(LineContext &ctx, CheckStep &step) {
  AddressWord a;
  if (!parse_address(ctx.words, {}, a)) return false;
  step.address = a.address;
  if (a.port_low && !step.port) step.port = a.port_low;
  return true;
}

bool connect_proto(LineContext &ctx, CheckStep &step) {
  constexpr Choice<string_view> protocols[] = {{"h1", "h1"}, {"none", "none"}};
  const auto *v = need_choice(ctx.words, protocols);
  if (v) step.proto = *v;
  return v != nullptr;
}

constexpr WordRow connect_rows[] = {
    {"addr", connect_address},
    {"alpn", tls},
    {"comment", text<&CheckStep::comment>},
    {"default", flag<&CheckStep::use_default>},
    {"linger", flag<&CheckStep::linger>},
    {"port", connect_port},
    {"proto", connect_proto},
    {"send-proxy", flag<&CheckStep::send_proxy>},
    {"sni", tls},
    {"ssl", tls},
    {"via-socks4", tls},
};

// ---------------------------------------------------------------------------------------------- send

bool send_header(LineContext &ctx, CheckStep &step) {
  auto name = ctx.words.need("the name of a header");
  if (!name) return false;
  std::string header(*name);
  auto value = ctx.words.need("a log format");
  if (!value) return false;
  auto made = compiler_of(ctx).log_format(*value, ctx.words.place_of(ctx.words.position() - 1));
  if (!made) return false;
  // The codec writes these itself.
  if (!iequals(header, "content-length") && !iequals(header, "transfer-encoding")) step.headers.emplace_back(std::move(header), std::move(*made));
  return true;
}

bool send_version(LineContext &ctx, CheckStep &step) {
  constexpr Choice<string_view> versions[] = {{"HTTP/1.0", "HTTP/1.0"}, {"HTTP/1.1", "HTTP/1.1"}};
  const auto *v = need_choice(ctx.words, versions);
  if (v) step.version = *v;
  return v != nullptr;
}

bool send_uri(LineContext &ctx, CheckStep &step) {
  step.uri_is_format = false;
  return text<&CheckStep::uri>(ctx, step);
}
bool send_uri_format(LineContext &ctx, CheckStep &step) {
  step.uri_is_format = true;
  return format<&CheckStep::uri_format>(ctx, step);
}
bool send_body(LineContext &ctx, CheckStep &step) {
  step.body_is_format = false;
  return text<&CheckStep::body>(ctx, step);
}
bool send_body_format(LineContext &ctx, CheckStep &step) {
  step.body_is_format = true;
  return format<&CheckStep::body_format>(ctx, step);
}

constexpr WordRow http_send_rows[] = {
    {"body", send_body},     {"body-lf", send_body_format},     {"comment", text<&CheckStep::comment>}, {"hdr", send_header},
    {"meth", text<&CheckStep::method>}, {"uri", send_uri}, {"uri-lf", send_uri_format}, {"ver", send_version},
};
constexpr WordRow comment_rows[] = {{"comment", text<&CheckStep::comment>}};

// -------------------------------------------------------------------------------------------- expect

template <auto Field, size_t N> bool one_of(LineContext &ctx, CheckStep &step, const Choice<string_view> (&choices)[N]) {
  const auto *v = need_choice(ctx.words, choices);
  if (v) step.*Field = *v;
  return v != nullptr;
}
bool ok_status(LineContext &ctx, CheckStep &step) {
  constexpr Choice<string_view> all[] = {{"L4OK", "L4OK"}, {"L6OK", "L6OK"}, {"L7OK", "L7OK"}, {"L7OKC", "L7OKC"}};
  return one_of<&CheckStep::ok_status>(ctx, step, all);
}
bool error_status(LineContext &ctx, CheckStep &step) {
  constexpr Choice<string_view> all[] = {{"L4CON", "L4CON"}, {"L6RSP", "L6RSP"}, {"L7OKC", "L7OKC"}, {"L7RSP", "L7RSP"}, {"L7STS", "L7STS"}};
  return one_of<&CheckStep::error_status>(ctx, step, all);
}
bool timeout_status(LineContext &ctx, CheckStep &step) {
  constexpr Choice<string_view> all[] = {{"L4TOUT", "L4TOUT"}, {"L6TOUT", "L6TOUT"}, {"L7TOUT", "L7TOUT"}};
  return one_of<&CheckStep::timeout_status>(ctx, step, all);
}

bool min_recv(LineContext &ctx, CheckStep &step) {
  auto v = ctx.words.need_int("a number of bytes, or -1", -1, 2'147'483'647);
  if (v) step.min_recv = static_cast<i32>(*v);
  return v.has_value();
}

bool status_code(LineContext &ctx, CheckStep &step) {
  auto word = ctx.words.need("an expression");
  if (!word) return false;
  auto expr = compiler_of(ctx).expression_in(*word, ctx.words.place_of(ctx.words.position() - 1));
  if (expr) step.status_code = std::make_shared<Expr>(std::move(*expr));
  return expr.has_value();
}

constexpr WordRow expect_rows[] = {
    {"comment", text<&CheckStep::comment>},
    {"error-status", error_status},
    {"min-recv", min_recv},
    {"ok-status", ok_status},
    {"on-error", format<&CheckStep::on_error>},
    {"on-success", format<&CheckStep::on_success>},
    {"status-code", status_code},
    {"tout-status", timeout_status},
};

template <CheckStep::Match Match> bool plain_pattern(LineContext &ctx, CheckStep &step) {
  step.match = Match;
  return text<&CheckStep::pattern>(ctx, step);
}

template <CheckStep::Match Match> bool regex_pattern(LineContext &ctx, CheckStep &step) {
  if (!plain_pattern<Match>(ctx, step)) return false;
  std::string error;
  if (Regex::compile(step.pattern, false, error)) return true;
  ctx.words.alert_last(error);
  return false;
}

template <CheckStep::Match Match> bool format_pattern(LineContext &ctx, CheckStep &step) {
  step.match = Match;
  return format<&CheckStep::pattern_format>(ctx, step);
}

bool binary_pattern(LineContext &ctx, CheckStep &step) {
  if (!plain_pattern<CheckStep::Binary>(ctx, step)) return false;
  if (is_hex_text(step.pattern)) return true;
  ctx.words.alert_last("'binary' expects an even number of hexadecimal digits, got '" + step.pattern + "'");
  return false;
}

bool status_pattern(LineContext &ctx, CheckStep &step) {
  if (!plain_pattern<CheckStep::Status>(ctx, step)) return false;
  for (string_view piece : split(step.pattern, ',')) {
    size_t dash = piece.find('-');
    auto low = parse_u64(piece.substr(0, dash));
    auto high = dash == string_view::npos ? low : parse_u64(piece.substr(dash + 1));
    if (low && high && *low <= *high && *high <= 999) continue;
    ctx.words.alert_last("'status' expects codes and ranges such as 200,301-304, got '" + step.pattern + "'");
    return false;
  }
  return true;
}

/// `[-m METHOD] TEXT` of a header's name or value.
bool text_test(LineContext &ctx, bool is_format, std::string &method, std::string &written, LogFormat &made) {
  constexpr Choice<string_view> methods[] = {{"str", "str"}, {"beg", "beg"}, {"end", "end"}, {"sub", "sub"}, {"reg", "reg"}};
  method = "str";
  if (ctx.words.take("-m")) {
    const auto *m = need_choice(ctx.words, methods);
    if (!m) return false;
    method = *m;
  }
  auto word = ctx.words.need("a text");
  if (!word) return false;
  if (is_format) {
    if (method == "reg") {
      ctx.words.alert_last("a log format cannot be a regular expression");
      return false;
    }
    auto f = compiler_of(ctx).log_format(*word, ctx.words.place_of(ctx.words.position() - 1));
    if (f) made = std::move(*f);
    return f.has_value();
  }
  written = *word;
  std::string error;
  if (method != "reg" || Regex::compile(written, false, error)) return true;
  ctx.words.alert_last(error);
  return false;
}

template <CheckStep::Match Match> bool header_pattern(LineContext &ctx, CheckStep &step) {
  Words &words = ctx.words;
  step.match = Match;
  if (words.peek() != "name" && words.peek() != "name-lf") {
    alert_expected(words, "'name' or 'name-lf' after 'hdr'");
    return false;
  }
  bool is_format = words.next() == "name-lf";
  if (!text_test(ctx, is_format, step.name_match, step.pattern, step.pattern_format)) return false;
  if (words.peek() != "value" && words.peek() != "value-lf") return true;
  is_format = words.next() == "value-lf";
  return text_test(ctx, is_format, step.value_match, step.pattern2, step.value_format);
}

constexpr WordRow http_match_rows[] = {
    {"fhdr", header_pattern<CheckStep::FHeader>}, {"hdr", header_pattern<CheckStep::Header>},
    {"rstatus", regex_pattern<CheckStep::RStatus>}, {"rstring", regex_pattern<CheckStep::Regex>},
    {"status", status_pattern}, {"string", plain_pattern<CheckStep::String>}, {"string-lf", format_pattern<CheckStep::StringFormat>},
};
constexpr WordRow tcp_match_rows[] = {
    {"binary", binary_pattern}, {"binary-lf", format_pattern<CheckStep::BinaryFormat>}, {"rbinary", regex_pattern<CheckStep::BinaryRegex>},
    {"rstring", regex_pattern<CheckStep::Regex>}, {"string", plain_pattern<CheckStep::String>}, {"string-lf", format_pattern<CheckStep::StringFormat>},
};

/// Options, then `[!] MATCH PATTERN`; blanks may stand after the '!'.
bool read_expect(LineContext &ctx, CheckStep &step, std::span<const WordRow> matches) {
  Words &words = ctx.words;
  step.kind = CheckStep::Expect;
  bool matched = false;
  while (!words.at_end()) {
    string_view word = words.peek();
    if (const WordRow *row = find(word, expect_rows)) {
      words.next();
      if (!row->read(ctx, step)) return false;
      continue;
    }
    bool negated = word.starts_with('!');
    while (word.starts_with('!')) word.remove_prefix(1);
    if (negated && word.empty()) {
      words.next();
      word = words.peek();
    }
    const WordRow *row = find(word, matches);
    if (!row || matched) return alert_unknown(words, matches, expect_rows);
    words.next();
    step.negate = negated;
    matched = true;
    if (!row->read(ctx, step)) return false;
  }
  if (!matched) return alert_unknown(words, matches, expect_rows);
  return true;
}

} // namespace

bool is_hex_text(string_view text) {
  for (char c : text)
    if (hex_digit(c) < 0) return false;
  return text.size() % 2 == 0;
}

bool read_check_connect(LineContext &ctx, CheckStep &step) {
  step.kind = CheckStep::Connect;
  return read_all(ctx, step, connect_rows);
}

bool read_http_send(LineContext &ctx, CheckStep &step) {
  step.kind = CheckStep::SendHttp;
  return read_all(ctx, step, http_send_rows);
}

bool read_tcp_send(LineContext &ctx, CheckStep &step, CheckStep::Kind kind, bool is_format) {
  step.kind = kind;
  step.is_format = is_format;
  bool read = is_format ? format<&CheckStep::format>(ctx, step) : text<&CheckStep::data>(ctx, step);
  if (!read) return false;
  if (kind == CheckStep::SendBinary && !is_format && !is_hex_text(step.data)) {
    ctx.words.alert_last("'" + std::string(ctx.words.subject()) + "' expects an even number of hexadecimal digits, got '" + step.data + "'");
    return false;
  }
  return read_all(ctx, step, comment_rows);
}

bool read_http_expect(LineContext &ctx, CheckStep &step) { return read_expect(ctx, step, http_match_rows); }
bool read_tcp_expect(LineContext &ctx, CheckStep &step) { return read_expect(ctx, step, tcp_match_rows); }

bool read_check_comment(LineContext &ctx, CheckStep &step) {
  step.kind = CheckStep::Comment;
  return text<&CheckStep::comment>(ctx, step);
}

bool read_check_variable(LineContext &ctx, CheckStep &step, string_view word) {
  size_t open = word.find('(');
  string_view verb = word.substr(0, open), name = word.substr(open + 1);
  if (!name.ends_with(')') || name.size() < 2) {
    ctx.words.alert_last("'" + std::string(verb) + "' expects the name of a variable in parentheses, such as (check.x)");
    return false;
  }
  name.remove_suffix(1);
  std::string error;
  auto id = parse_variable(name, ctx.config, error);
  if (!id) {
    ctx.words.alert_last(error);
    return false;
  }
  step.var = name;
  step.var_id = id->packed();
  step.kind = verb == "unset-var" ? CheckStep::UnsetVar : CheckStep::SetVar;
  if (verb == "unset-var") return true;
  if (verb == "set-var-fmt") {
    step.is_format = true;
    return format<&CheckStep::format>(ctx, step);
  }
  auto expr = compiler_of(ctx).expression();
  if (expr) step.expr = std::make_shared<Expr>(std::move(*expr));
  return expr.has_value();
}

} // namespace penstock
