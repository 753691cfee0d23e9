// SPDX-License-Identifier: BSD-2-Clause
// From the lines of `option httpchk`, `http-check` and `tcp-check` to the steps that a check takes. Several
// proxies may share settings through a defaults section: they stay shared.
#include <algorithm>
#include <unordered_map>

#include "master/config/settle_rules.h"

namespace penstock {

namespace {

bool has(const std::vector<CheckStepPtr> &steps, CheckStep::Kind kind) {
  return std::any_of(steps.begin(), steps.end(), [&](const auto &s) { return s->kind == kind; });
}

/// The first request of a script that does not connect by itself takes what it leaves out from `option httpchk`.
CheckStepPtr completed(const CheckStep &written, const CheckStep &from) {
  auto send = std::make_shared<CheckStep>(written);
  if (send->method.empty()) send->method = from.method;
  if (send->uri.empty() && !send->uri_is_format) send->uri = from.uri;
  if (send->version.empty()) send->version = from.version;
  return send;
}

std::vector<CheckStepPtr> http_steps(const CheckSettings &c) {
  auto steps = c.http_steps;
  bool connects = has(steps, CheckStep::Connect);
  auto send = std::find_if(steps.begin(), steps.end(), [](const auto &s) { return s->kind == CheckStep::SendHttp; });
  if (send == steps.end() && c.httpchk_request) {
    auto at = std::find_if(steps.begin(), steps.end(), [](const auto &s) { return s->kind == CheckStep::Connect || s->kind == CheckStep::Expect; });
    if (at != steps.end() && (*at)->kind == CheckStep::Connect) ++at;
    steps.insert(at, c.httpchk_request);
  } else if (send != steps.end() && !connects && c.httpchk_request) {
    *send = completed(**send, *c.httpchk_request);
  }
  return steps;
}

} // namespace

void settle_checks(Config &config) {
  std::unordered_map<std::shared_ptr<const CheckSettings>, std::shared_ptr<const CheckSettings>> settled;
  for (const auto &proxy : config.proxies) {
    if (!proxy->is_backend || !proxy->check) continue;
    auto &made = settled[proxy->check];
    if (!made) {
      auto copy = std::make_shared<CheckSettings>(*proxy->check);
      if (copy->kind == CheckKind::Http) copy->steps = http_steps(*copy);
      if (copy->kind == CheckKind::TcpScript) copy->steps = copy->tcp_steps;
      made = std::move(copy);
    }
    proxy->check = made;
  }
  for (const auto &defaults : config.defaults)
    if (auto at = settled.find(defaults->check); at != settled.end()) defaults->check = at->second;
}

} // namespace penstock
