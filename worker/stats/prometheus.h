// SPDX-License-Identifier: BSD-2-Clause
// The statistics as a Prometheus page (`http-request use-service prometheus-exporter`): the figures of `show
// info` and `show stat` under the names that dashboards know. Metric by metric, each over all objects, made
// while it is sent.
#pragma once

#include <string>
#include <vector>

#include "worker/stats/collect.h"
#include "worker/stats/info.h"

namespace penstock {

/// What the query of a request asks for: scope=…, no-maint, metrics=….
struct PrometheusQuery {
  enum Scope : u8 { Global = 1, Frontend = 2, Listener = 4, Backend = 8, Server = 16, All = 31 };
  u8 scopes = All;
  bool no_maint = false;
  std::vector<std::string> only, without; // names of metrics
  bool wants(string_view metric) const;
};
/// False: it cannot be understood.
bool parse_prometheus_query(string_view query, PrometheusQuery &out);

class PrometheusPage {
 public:
  PrometheusPage(const Config &config, const Service &service, PrometheusQuery query, Tick now, i64 wall_s);
  /// Appends the next piece; false after the last one.
  bool next(std::string &out);

 private:
  bool next_info(std::string &out);
  bool next_metric(std::string &out);

  const Config &config_;
  const Service &service_;
  PrometheusQuery query_;
  Tick now_;
  i64 wall_s_;
  InfoSubject info_;
  StatSubject subject_;
  size_t info_at_ = 0, metric_ = 0;
  u8 object_ = 0; // index into the objects' order
};

} // namespace penstock
