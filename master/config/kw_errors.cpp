// SPDX-License-Identifier: BSD-2-Clause
// Error pages: `errorfile`, `errorfiles`, `errorloc…`, `http-error` (manual, section 4.2). Each fills one or
// several entries of error_replies; the last line wins. References to http-errors sections are replaced
// when all files are read (resolve_errors.cpp).
#include "master/config/choice.h"
#include "master/config/kw_proxy.h"
#include "shared/base/text.h"
#include "shared/expr/http_reply.h"

namespace penstock {

namespace {

/// A status that has an error page.
std::optional<u16> need_status(Words &words) {
  auto word = words.need("a status");
  if (!word) return std::nullopt;
  auto v = parse_u64(*word);
  if (v && *v < 600 && has_error_page(static_cast<u16>(*v))) return static_cast<u16>(*v);
  std::string all;
  for (u16 s : error_page_statuses()) all += " " + std::to_string(s);
  words.alert_last("'" + std::string(words.subject()) + "' expects a status out of" + all + ", got '" + std::string(*word) + "'");
  return std::nullopt;
}

std::map<u16, ReplyPtr> &replies_of(LineContext &ctx) {
  return ctx.http_errors ? ctx.http_errors->replies : ctx.settings->error_replies;
}

void errorfile(LineContext &ctx) {
  auto status = need_status(ctx.words);
  if (!status) return;
  auto path = ctx.words.need("the name of a file");
  if (!path) return;
  std::string error;
  auto reply = load_error_file(std::string(*path), *status, error);
  if (!reply) return ctx.words.alert_last("the error file '" + std::string(*path) + "' cannot be used: " + error);
  if (ctx.words.end()) replies_of(ctx)[*status] = std::make_shared<HttpReply>(std::move(*reply));
}

void add_reference(LineContext &ctx, u16 status, string_view section, Place place) {
  ReplyPtr &slot = ctx.settings->error_replies[status];
  auto reply = std::make_shared<HttpReply>();
  reply->status = status;
  reply->kind = HttpReply::Errorfiles;
  reply->errorfiles = section;
  reply->place = place;
  reply->otherwise = slot;
  slot = std::move(reply);
}

void errorfiles(LineContext &ctx) {
  Place place = ctx.words.place();
  auto name = ctx.words.need("the name of an http-errors section");
  if (!name) return;
  std::string section(*name);
  if (ctx.words.at_end()) {
    for (u16 status : error_page_statuses()) add_reference(ctx, status, section, place);
    return;
  }
  while (!ctx.words.at_end()) {
    auto status = need_status(ctx.words);
    if (!status) return;
    add_reference(ctx, *status, section, place);
  }
}

template <u16 Code> void errorloc(LineContext &ctx) {
  auto status = need_status(ctx.words);
  if (!status) return;
  auto url = ctx.words.need("a URL");
  if (!url || !ctx.words.end()) return;
  auto reply = std::make_shared<HttpReply>();
  reply->status = *status;
  reply->kind = HttpReply::Default;
  reply->redirect_to = *url;
  reply->redirect_code = Code;
  ctx.settings->error_replies[*status] = std::move(reply);
}

void http_error(LineContext &ctx) {
  constexpr u32 seen = needs_client | needs_session | needs_req_bytes | needs_req_head | needs_stream;
  auto reply = std::make_shared<HttpReply>();
  reply->place = ctx.words.line_place();
  Compiler compiler(ctx.words, ctx.config, ctx.proxy, seen);
  if (!parse_http_reply(compiler, ReplyUse::HttpError, *reply) || !ctx.words.end()) return;
  u16 status = reply->status;
  auto &replies = ctx.settings->error_replies;
  if (reply->kind == HttpReply::Default) {
    replies.erase(status);
    return;
  }
  if (reply->kind == HttpReply::Errorfiles) {
    if (auto old = replies.find(status); old != replies.end()) reply->otherwise = old->second;
  }
  replies[status] = std::move(reply);
}

constexpr KeywordDef rows[] = {
    {.name = "errorfile", .sections = in_proxies | in_http_errors,
     .doc = {"A file that holds the whole HTTP response for a status.",
             "It is read with the configuration and kept in memory. An empty file closes the connection without an answer.",
             "defaults\n    mode http\n    errorfile 503 /dev/null"},
     .parse = errorfile},
    {.name = "errorfiles", .sections = in_proxies,
     .doc = {"Takes error pages from an http-errors section: all, or those of the statuses that follow.", "",
             "http-errors site\n    errorfile 503 /dev/null\nfrontend web\n    mode http\n    errorfiles site 503"},
     .parse = errorfiles},
    {.name = "errorloc", .sections = in_proxies,
     .doc = {"Answers an error with a redirect (302).", "", "frontend web\n    mode http\n    errorloc 503 http://www.example.com/sorry"}, .parse = errorloc<302>},
    {.name = "errorloc302", .sections = in_proxies,
     .doc = {"Answers an error with a redirect (302).", "The client repeats the request's method.", "frontend web\n    mode http\n    errorloc302 503 http://www.example.com/sorry"},
     .parse = errorloc<302>},
    {.name = "errorloc303", .sections = in_proxies,
     .doc = {"Answers an error with a redirect (303).", "The client follows with GET.", "frontend web\n    mode http\n    errorloc303 503 http://www.example.com/sorry"},
     .parse = errorloc<303>},
    {.name = "http-error", .sections = in_proxies,
     .doc = {"The answer for an error: a file, a text or a log format, with headers.",
             "http-error status CODE [content-type TYPE] [errorfile F | errorfiles NAME | file F | lf-file F | string S | lf-string S | default-errorfiles] [hdr NAME FORMAT]…",
             "frontend web\n    mode http\n    http-error status 503 content-type text/plain string \"back soon\" hdr Retry-After 10"},
     .parse = http_error},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> error_keywords() { return rows; }

} // namespace penstock
