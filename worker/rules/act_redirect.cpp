// SPDX-License-Identifier: BSD-2-Clause
// The action `redirect` of http-request and http-response, and behind the keyword `redirect` (manual, 4.3).
#include "shared/http/names.h"
#include "shared/table/registry.h"
#include "worker/http/redirect.h"
#include "worker/stream/error_page.h"
#include "worker/stream/reply.h"

namespace penstock {

namespace {

struct Redirect : ActionData {
  RedirectForm form;
  LogFormat value;
  u16 code = 302;
  bool ignore_empty = false;
  std::string cookie;   // the whole Set-Cookie value; empty: none
  LogFormat cookie_format;
};

/// Reads the words of one rule.
class RedirectReader {
 public:
  RedirectReader(Compiler &compiler, Redirect &out)
      : compiler_(compiler), words_(compiler.words()), out_(out), literal_(compiler.words().subject() == "redirect") {}

  bool read() {
    while (!words_.at_end() && words_.peek() != "if" && words_.peek() != "unless")
      if (!read_word()) return false;
    if (have_target_) return true;
    words_.alert("'redirect' expects 'location', 'prefix' or 'scheme' and a value");
    return false;
  }

 private:
  using Reader = bool (RedirectReader::*)();
  struct Row {
    string_view word;
    Reader read;
  };

  bool read_word() {
    static constexpr Row rows[] = {
        {"location", &RedirectReader::target<RedirectKind::Location>},
        {"prefix", &RedirectReader::target<RedirectKind::Prefix>},
        {"scheme", &RedirectReader::target<RedirectKind::Scheme>},
        {"code", &RedirectReader::code},
        {"set-cookie", &RedirectReader::set_cookie},
        {"set-cookie-fmt", &RedirectReader::set_cookie_format},
        {"clear-cookie", &RedirectReader::clear_cookie},
        {"drop-query", &RedirectReader::flag<&RedirectForm::drop_query>},
        {"append-slash", &RedirectReader::flag<&RedirectForm::append_slash>},
        {"keep-query", &RedirectReader::flag<&RedirectForm::keep_query>},
        {"ignore-empty", &RedirectReader::ignore_empty},
    };
    for (const Row &row : rows)
      if (words_.take(row.word)) return (this->*row.read)();
    NearMiss near(words_.peek());
    for (const Row &row : rows) near.consider(row.word);
    words_.alert("unknown word '" + std::string(words_.peek()) + "' of a redirect", near.hint());
    return false;
  }

  bool format_word(string_view what, LogFormat &into) {
    auto text = words_.need(what);
    if (!text) return false;
    if (literal_) {
      into.text = *text;
      LogNode node;
      node.text = *text;
      into.nodes.clear();
      into.nodes.push_back(std::move(node));
      return true;
    }
    auto format = compiler_.log_format(*text, words_.place_of(words_.position() - 1));
    if (format) into = std::move(*format);
    return format.has_value();
  }

  template <RedirectKind Kind> bool target() {
    out_.form.kind = Kind;
    have_target_ = true;
    return format_word("a value for the Location", out_.value);
  }
  template <bool RedirectForm::*Flag> bool flag() { return out_.form.*Flag = true; }
  bool ignore_empty() { return out_.ignore_empty = true; }

  bool code() {
    auto v = words_.need_int("one of 301 302 303 307 308", 301, 308);
    if (!v) return false;
    if (*v > 303 && *v < 307) {
      words_.alert_last("a redirect has one of the codes 301 302 303 307 308");
      return false;
    }
    out_.code = static_cast<u16>(*v);
    return true;
  }

  bool set_cookie() {
    auto text = words_.need("NAME or NAME=value");
    if (text) out_.cookie = std::string(*text) + "; path=/;";
    return text.has_value();
  }
  bool clear_cookie() {
    auto text = words_.need("NAME or NAME=");
    if (text) out_.cookie = std::string(*text) + "; path=/; Max-Age=0;";
    return text.has_value();
  }
  bool set_cookie_format() { return format_word("a log format that gives NAME or NAME=value", out_.cookie_format); }

  Compiler &compiler_;
  Words &words_;
  Redirect &out_;
  bool literal_; // the old keyword `redirect` takes its words as they are
  bool have_target_ = false;
};

bool parse_redirect(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  auto data = std::make_unique<Redirect>();
  if (!RedirectReader(compiler, *data).read()) return false;
  out = std::move(data);
  return true;
}

Verdict run_redirect(EvalContext &ctx, const ActionData *data) {
  const auto &r = *static_cast<const Redirect *>(data);
  Stream &s = *ctx.stream;
  string_view value = format(ctx, r.value);
  if (value.empty() && r.ignore_empty) return Verdict::Next;
  HttpMessage &request = s.request();
  string_view location = s.arena().copy(redirect_location(r.form, value, request.target(), request.get(Header::Host), ctx.scratch));
  string_view cookie = r.cookie;
  if (!r.cookie_format.empty()) {
    string_view made = format(ctx, r.cookie_format);
    constexpr string_view tail = "; path=/;";
    char *p = s.arena().chars(made.size() + tail.size());
    made.copy(p, made.size());
    tail.copy(p + made.size(), tail.size());
    cookie = {p, made.size() + tail.size()};
  }
  s.begin_own_response();
  HttpMessage &head = s.response();
  head.make_response(r.code, reason_for(r.code));
  head.add(Header::ContentLength, "0");
  head.add(Header::Location, location);
  if (r.code != 301 && r.code != 308) head.add(Header::CacheControl, "no-cache"); // the others may be remembered
  if (!cookie.empty()) head.add(Header::SetCookie, cookie);
  s.answer.status = r.code;
  s.answer.ready = s.answer.intercepted = true;
  return Verdict::Done;
}

constexpr ActionDef entries[] = {
    {.name = "redirect", .sets = at_http_request | at_http_response,
     .doc = {.summary = "Answers with a redirect to another address.",
             .text = "'location' gives the whole address, 'prefix' what to put before the request's path and query, 'scheme' the scheme to ask for "
                     "the same address with; all three are log formats in http-request and http-response rules. 'code' is one of 301, 302 (the default), 303, 307 "
                     "and 308. 'drop-query' leaves the query out and 'append-slash' makes the path end in a slash (prefix, scheme); 'keep-query' adds the "
                     "request's query to a location. 'set-cookie NAME[=value]' and 'clear-cookie NAME[=]' send a cookie along, 'set-cookie-fmt' one that is "
                     "evaluated. With 'ignore-empty' the rule is passed over when its value is empty.",
             .example = "frontend web\n    mode http\n    http-request redirect scheme https code 301 unless { ssl_fc }"},
     .parse = parse_redirect, .run = run_redirect, .is_final = true},
};
static_assert(sorted_and_documented<ActionDef>(entries));

} // namespace

std::span<const ActionDef> act_redirect() { return entries; }

} // namespace penstock
