// SPDX-License-Identifier: BSD-2-Clause
#include "worker/stream/reply.h"

#include "shared/model/config.h"
#include "worker/stream/error_page.h"
#include "worker/worker.h"

namespace penstock {

namespace {

const HttpReply *reply_in(const std::map<u16, ReplyPtr> &replies, u16 status) {
  auto it = replies.find(status);
  return it == replies.end() || it->second->kind == HttpReply::Default ? nullptr : it->second.get();
}

const HttpReply *in_section(const std::string &name, u16 status) {
  for (const auto &section : this_worker()->config->http_errors)
    if (section->name == name) return reply_in(section->replies, status);
  return nullptr;
}

/// Where the page of a status is configured: in the section that `reply` names, the backend, the frontend; null: built in.
const HttpReply *configured_page(Stream &s, const HttpReply *reply, u16 status) {
  if (reply != nullptr && reply->kind == HttpReply::Errorfiles)
    if (const HttpReply *found = in_section(reply->errorfiles, status)) return found;
  for (const Proxy *p : {&s.backend(), &s.frontend()})
    if (const HttpReply *found = reply_in(p->error_replies, status)) {
      if (found->kind != HttpReply::Errorfiles) return found;
      if ((found = in_section(found->errorfiles, status))) return found;
    }
  return nullptr;
}

struct HeaderText {
  string_view name, value;
};

/// Evaluates the reply's own headers and content, then makes the head: `ctx` may look at the message that is replaced.
void make_custom(EvalContext &ctx, u16 status, const HttpReply &reply) {
  Stream &s = *ctx.stream;
  size_t count = reply.headers.size();
  auto *headers = static_cast<HeaderText *>(s.arena().take(count * sizeof(HeaderText), alignof(HeaderText)));
  for (size_t i = 0; i < count; i++)
    headers[i] = {reply.headers[i].first, s.arena().copy(format(ctx, reply.headers[i].second))};
  string_view body;
  if (reply.kind == HttpReply::Body) body = reply.text;
  else if (reply.kind == HttpReply::BodyFormat) body = s.arena().copy(format(ctx, reply.format));
  s.begin_own_response();
  s.response().make_response(status, reason_for(status));
  for (size_t i = 0; i < count; i++) s.response().add(headers[i].name, headers[i].value);
  finish_reply_head(s.response(), body.size(), body.empty() ? string_view{} : string_view{reply.content_type});
  s.answer.body = body;
}

void make_from_file(Stream &s, const HttpReply &reply) {
  Answer &a = s.answer;
  s.begin_own_response();
  a.close |= reply.text.empty();
  a.raw = reply.text.empty() || !build_from_file(reply.text, s.response(), a.body, a.close);
  if (!a.raw) a.status = s.response().status();
}

/// Headers that a rule adds to an error page (`deny … default-errorfiles hdr …`).
void add_headers(EvalContext &ctx, const HttpReply &reply) {
  for (const auto &[name, value] : reply.headers) ctx.stream->response().add(name, format(ctx, value));
}

} // namespace

void make_reply(EvalContext &ctx, u16 status, const HttpReply *reply) {
  Stream &s = *ctx.stream;
  Answer &a = s.answer;
  a.status = status;
  a.reply = reply;
  const HttpReply *content = reply;
  bool page = reply == nullptr || reply->kind == HttpReply::Default || reply->kind == HttpReply::Errorfiles || reply->kind == HttpReply::None;
  if (page) content = configured_page(s, reply, status);
  if (content == nullptr) {
    s.begin_own_response();
    a.body = build_error_page(status, s.response(), a.close);
  } else if (!content->redirect_to.empty()) {
    s.begin_own_response();
    build_error_redirect(content->redirect_code, content->redirect_to, s.response());
    a.status = content->redirect_code;
  } else if (content->kind == HttpReply::Raw) {
    make_from_file(s, *content);
  } else {
    make_custom(ctx, status, *content);
  }
  if (page && reply != nullptr && !a.raw && !reply->headers.empty()) add_headers(ctx, *reply);
  a.ready = !a.raw;
}

void complete_answer(Stream &s) {
  Answer &a = s.answer;
  if (a.raw) return;
  if (!a.ready) {
    EvalContext ctx = s.context(Phase::Request, s.backend(), true);
    make_reply(ctx, a.status != 0 ? a.status : 500, a.reply);
    return;
  }
  HttpMessage &head = s.response();
  if (a.source == nullptr && head.find(Header::ContentLength) == HttpMessage::npos && !a.close) finish_reply_head(head, a.body.size(), {});
}

} // namespace penstock
