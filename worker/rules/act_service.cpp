// SPDX-License-Identifier: BSD-2-Clause
// The action use-service (manual, 4.3): an answer made by a part of the product itself. Each service is a row.
#include "shared/base/text.h"
#include "shared/http/uri.h"
#include "shared/table/registry.h"
#include "shared/table/words.h"
#include "worker/stats/page_source.h"
#include "worker/stats/prometheus.h"
#include "worker/stream/reply.h"
#include "worker/worker.h"

namespace penstock {

namespace {

struct BuiltinService {
  string_view name;
  string_view logged_as; // in place of a server's name
  void (*answer)(EvalContext &ctx);
};

class PrometheusSource : public PieceSource {
 public:
  explicit PrometheusSource(PrometheusPage page) : page_(std::move(page)) {}

 private:
  bool make(std::string &out) override { return page_.next(out); }
  PrometheusPage page_;
};

void prometheus(EvalContext &ctx) {
  Stream &s = *ctx.stream;
  string_view target = s.request().target();
  size_t question = target.find('?');
  PrometheusQuery query;
  if (question != string_view::npos && !parse_prometheus_query(target.substr(question + 1), query)) return make_reply(ctx, 400, nullptr);
  if (s.request().method() != Method::Get && s.request().method() != Method::Head) return make_reply(ctx, 405, nullptr);
  const Worker &w = *this_worker();
  s.begin_own_response();
  s.response().make_response(200, "OK");
  s.response().add("cache-control", "no-cache");
  s.response().add("content-type", "text/plain; version=0.0.4");
  s.answer.status = 200;
  s.answer.ready = true;
  s.answer.source = new PrometheusSource(PrometheusPage(*w.config, *w.service, std::move(query), w.loop.now(), w.loop.wall_now_us() / 1'000'000));
}

constexpr BuiltinService services[] = {{"prometheus-exporter", "<PROMEX>", prometheus}};

struct ServiceAction : ActionData {
  const BuiltinService *service = nullptr;
};

bool parse_service(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  Words &words = compiler.words();
  auto name = words.need("the name of a service");
  if (!name) return false;
  auto data = std::make_unique<ServiceAction>();
  NearMiss near(*name);
  for (const BuiltinService &s : services) {
    near.consider(s.name);
    if (s.name == *name) data->service = &s;
  }
  if (data->service == nullptr) {
    words.alert_last("there is no service '" + std::string(*name) + "'", near.hint());
    return false;
  }
  out = std::move(data);
  return true;
}

Verdict run_service(EvalContext &ctx, const ActionData *data) {
  const BuiltinService &service = *static_cast<const ServiceAction *>(data)->service;
  ctx.stream->facts.answered_by(service.logged_as, this_worker()->loop.now_us());
  ctx.stream->answer.intercepted = true;
  service.answer(ctx);
  return Verdict::Done;
}

constexpr ActionDef entries[] = {
    {.name = "use-service", .sets = at_http_request,
     .doc = {.summary = "Lets a service of the product itself answer.",
             .text = "'prometheus-exporter' gives the statistics as metrics. Its query may say 'scope=global|frontend|listener|backend|server|*' (repeatable), "
                     "'no-maint' and 'metrics=NAME,…' (a '-' before a name leaves that one out).",
             .example = "frontend web\n    mode http\n    http-request use-service prometheus-exporter if { path /metrics }"},
     .parse = parse_service, .run = run_service, .is_final = true},
};
static_assert(sorted_and_documented<ActionDef>(entries));

} // namespace

std::span<const ActionDef> act_service() { return entries; }

} // namespace penstock
