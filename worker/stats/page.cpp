// SPDX-License-Identifier: BSD-2-Clause
#include "worker/stats/page.h"

#include "shared/expr/run.h"
#include "worker/stats/csv_json.h"
#include "worker/stats/html_page.h"
#include "worker/stats/page_orders.h"
#include "worker/stats/page_source.h"
#include "worker/stream/reply.h"
#include "worker/worker.h"

namespace penstock {

namespace {

class HtmlSource : public PieceSource {
 public:
  explicit HtmlSource(PageSubject subject) : page_(std::move(subject)) {}

 private:
  bool make(std::string &out) override { return page_.next(out); }
  HtmlPage page_;
};

class DumpSource : public PieceSource {
 public:
  DumpSource(StatCursor cursor, DumpForm form) : cursor_(std::move(cursor)), form_(form) {}

 private:
  bool make(std::string &out) override {
    if (done_) return false;
    if (first_call_) dump_stat_head(out, form_);
    first_call_ = false;
    if (cursor_.next(subject_)) return dump_stat(out, form_, false, first_, subject_), true;
    done_ = true;
    size_t before = out.size();
    dump_stat_tail(out, form_);
    return out.size() > before;
  }
  StatCursor cursor_;
  StatSubject subject_;
  DumpForm form_;
  bool first_call_ = true, first_ = true, done_ = false;
};

/// The path and query: the part of an absolute target after its authority.
string_view local_target(string_view target) {
  if (target.starts_with('/')) return target;
  size_t authority = target.find("://");
  if (authority == string_view::npos) return target;
  size_t path = target.find('/', authority + 3);
  return path == string_view::npos ? string_view("/") : target.substr(path);
}

void begin(Stream &s, u16 status, string_view reason, string_view type) {
  s.begin_own_response();
  HttpMessage &m = s.response();
  m.make_response(status, reason);
  m.add("cache-control", "no-cache, no-store");
  if (!type.empty()) m.add("content-type", type);
  m.add("x-frame-options", "SAMEORIGIN");
  s.answer.status = status;
  s.answer.ready = true;
}

/// Nobody is let in without a name: 401 with the realm.
void ask_who(EvalContext &ctx, const StatsSettings &settings) {
  Stream &s = *ctx.stream;
  make_reply(ctx, 401, nullptr);
  if (!s.answer.raw) {
    s.response().remove_all("www-authenticate");
    s.response().add("www-authenticate", "Basic realm=\"" + settings.realm + "\"");
  }
}

/// False: the answer (401, 403) is prepared.
bool may_see(EvalContext &ctx, const StatsSettings &settings) {
  Stream &s = *ctx.stream;
  Verdict verdict = Verdict::Next;
  if (settings.rules && !settings.rules->empty()) verdict = run_rules(ctx, *settings.rules).verdict;
  if (verdict == Verdict::Stop) return true;
  if (verdict == Verdict::Done) return false;
  if (verdict != Verdict::Next) {
    if (!s.answer.status) make_reply(ctx, 403, nullptr);
    return false;
  }
  if (settings.users.empty() || basic_auth_matches(s.request().get(Header::Authorization), settings.users)) return true;
  ask_who(ctx, settings);
  return false;
}

/// Orders come from the page's own form: a browser says when another site made it post.
bool from_elsewhere(Stream &s) {
  size_t at = s.request().find("sec-fetch-site");
  if (at == HttpMessage::npos) return false;
  string_view site = s.request().value(at);
  return site != "same-origin" && site != "none";
}

PageOutcome obey(Stream &s, bool admin) {
  Incoming in = s.client().peek();
  bool complete = in.end;
  PageOrder order;
  bool understood = complete && parse_page_order(in.bytes, order);
  s.client().consume(in.bytes.size());
  if (!admin || from_elsewhere(s)) return PageOutcome::Denied;
  if (!complete) return PageOutcome::TooLong;
  if (!understood) return PageOutcome::Bad;
  Worker &w = *this_worker();
  return carry_out(order, *w.config, *w.service, w.loop.now());
}

/// The answer to an order sends the browser back to the page, so that a reload does not repeat the order.
void send_back(Stream &s, const StatsSettings &settings, const PageQuery &query, PageOutcome outcome) {
  begin(s, 303, "See Other", {});
  s.response().add("location", settings.uri + page_options(query) + ";st=" + std::string(outcome_word(outcome)));
  s.response().add("content-length", "0");
}

void send_page(Stream &s, const Proxy &p, PageQuery query, bool admin) {
  Worker &w = *this_worker();
  static constexpr string_view types[] = {"text/html; charset=utf-8", "text/plain; charset=utf-8", "application/json", "text/plain; charset=utf-8"};
  PageQuery::Form form = query.form;
  PageSubject subject{*w.config, *w.service, p, std::move(query), admin, w.loop.now(), w.loop.wall_now_us() / 1'000'000};
  begin(s, 200, "OK", types[form]);
  if (form == PageQuery::Html) {
    s.response().add("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'self'; base-uri 'none'");
    s.answer.source = new HtmlSource(std::move(subject));
    return;
  }
  StatFilter filter;
  filter.up_only = subject.query.up_only;
  filter.no_maint = subject.query.no_maint;
  filter.scopes = &p.stats->scopes;
  filter.own = &p;
  StatCursor cursor(*w.config, *w.service, std::move(filter));
  cursor.set_time(subject.now, subject.wall_s);
  s.answer.source = new DumpSource(std::move(cursor), form == PageQuery::Csv ? DumpForm::Csv : form == PageQuery::Json ? DumpForm::Json : DumpForm::Typed);
}

} // namespace

bool statistics_need_body(Stream &s, const Proxy &p) {
  return p.stats && p.stats->enabled && p.stats->admin && s.request().method() == Method::Post && is_page_target(local_target(s.request().target()), p.stats->uri);
}

bool serve_statistics(Stream &s, const Proxy &p) {
  const StatsSettings &settings = *p.stats;
  Method method = s.request().method();
  std::string target(local_target(s.request().target()));
  if (!is_page_target(target, settings.uri) || (method != Method::Get && method != Method::Head && method != Method::Post)) return false;
  s.facts.answered_by("<STATS>", this_worker()->loop.now_us());
  EvalContext ctx = s.context(Phase::Request, p, true);
  if (!may_see(ctx, settings)) return true;
  bool admin = settings.admin && evaluate(ctx, *settings.admin) == Truth::Yes;
  PageQuery query = parse_page_query(target, settings.uri);
  if (method == Method::Post) send_back(s, settings, query, obey(s, admin));
  else send_page(s, p, std::move(query), admin);
  return true;
}

} // namespace penstock
