// SPDX-License-Identifier: BSD-2-Clause
// `log global` becomes the targets of the global section, and the texts of log formats are compiled:
// only now is the mode of a proxy known that inherited its format. Equal formats are compiled once.
#include <algorithm>
#include <map>
#include <tuple>

#include "master/config/resolve.h"
#include "shared/expr/log_format_defaults.h"
#include "shared/model/config.h"
#include "shared/table/words.h"

namespace penstock {

namespace {

void replace_global_targets(Config &config, Proxy &proxy) {
  std::vector<LogTarget> targets;
  for (LogTarget &target : proxy.logs) {
    if (target.is_global) targets.insert(targets.end(), config.global.logs.begin(), config.global.logs.end());
    else targets.push_back(std::move(target));
  }
  proxy.logs = std::move(targets);
}

constexpr u32 seen_by_logs = needs_client | needs_session | needs_req_bytes | needs_req_head | needs_req_body | needs_server | needs_res_bytes | needs_res_head |
                             needs_res_body | needs_stream | needs_end | needs_status;
constexpr u32 seen_by_unique_ids = needs_client | needs_session | needs_req_bytes | needs_req_head | needs_req_body | needs_stream;

class FormatCompiler {
 public:
  FormatCompiler(Config &config, Diagnostics &diags) : config_(config), diags_(diags) {}

  std::shared_ptr<const LogFormat> compile(Proxy &proxy, const std::string &text, u32 available, u8 flags, Place place) {
    if (text.empty()) return nullptr;
    auto key = std::make_tuple(text, proxy.mode, available);
    if (auto it = made_.find(key); it != made_.end()) return it->second;
    Words none({}, place, diags_);
    Compiler compiler(none, config_, &proxy, available);
    auto format = compiler.log_format(text, place, flags);
    std::shared_ptr<const LogFormat> shared = format ? std::make_shared<const LogFormat>(std::move(*format)) : nullptr;
    made_.emplace(std::move(key), shared);
    return shared;
  }

 private:
  Config &config_;
  Diagnostics &diags_;
  std::map<std::tuple<std::string, Mode, u32>, std::shared_ptr<const LogFormat>> made_;
};

bool is_own(const Proxy &proxy, const Place &place) {
  return place.file && proxy.place.file == place.file && place.line > proxy.place.line;
}

/// `option httplog` cannot be served in mode tcp.
bool fall_back_to_tcp(Proxy &proxy, Diagnostics &diags) {
  if (proxy.mode == Mode::Http || proxy.log_format_text != http_log_format) return false;
  proxy.log_format_text = tcp_log_format;
  if (is_own(proxy, proxy.log_format_place))
    diags.warning(proxy.log_format_place, "'option httplog' cannot be used in " + proxy_text(proxy) + ", which is not in 'mode http'", "'option tcplog' is used instead");
  return true;
}

void compile_formats(FormatCompiler &compiler, Proxy &proxy, Diagnostics &diags) {
  bool is_fallback = fall_back_to_tcp(proxy, diags); // told already
  Place place = proxy.log_format_place.file ? proxy.log_format_place : proxy.place;
  proxy.log_format = compiler.compile(proxy, proxy.log_format_text, seen_by_logs, log_mandatory_dash, place);
  proxy.error_log_format = compiler.compile(proxy, proxy.error_log_format_text, seen_by_logs, log_mandatory_dash, place);
  proxy.log_format_sd = compiler.compile(proxy, proxy.log_format_sd_text, seen_by_logs, log_mandatory_dash, place);
  proxy.unique_id_format = compiler.compile(proxy, proxy.unique_id_format_text, seen_by_unique_ids, 0, proxy.place);
  for (const auto &format : {proxy.log_format, proxy.error_log_format, proxy.log_format_sd, proxy.unique_id_format})
    if (format) proxy.needs |= format->needs;
  if (proxy.logs.empty() && proxy.log_format && !is_fallback && is_own(proxy, proxy.log_format_place))
    diags.warning(proxy.log_format_place, "the log format of " + proxy_text(proxy) + " has no effect: there is no 'log' line");
}

} // namespace

namespace {

/// Targets of the form ring@NAME: how lines look there is said by both.
void find_rings(Config &config, std::vector<LogTarget> &targets, Diagnostics &diags) {
  for (LogTarget &target : targets) {
    if (target.transport != LogTransport::Ring || target.is_global) continue;
    auto found = std::find_if(config.rings.begin(), config.rings.end(), [&](auto &ring) { return ring->name == target.name; });
    if (found == config.rings.end()) {
      NearMiss near(target.name);
      for (auto &ring : config.rings) near.consider(ring->name);
      diags.alert(target.place, "there is no ring '" + target.name + "'", near.hint());
      continue;
    }
    target.ring = found->get();
    if (target.ring->format != LogLineFormat::Unspecified) target.format = target.ring->format;
    if (target.ring->maxlen != 0) target.max_len = std::min(target.max_len, target.ring->maxlen);
  }
}

} // namespace

void resolve_logs(Config &config, Diagnostics &diags) {
  for (auto &ring : config.rings)
    if (ring->size == 0) ring->size = config.global.tune.bufsize;
  find_rings(config, config.global.logs, diags);
  for (const auto &proxy : config.proxies) find_rings(config, proxy->logs, diags);
  FormatCompiler compiler(config, diags);
  for (const auto &proxy : config.proxies) {
    replace_global_targets(config, *proxy);
    if (proxy->is_frontend) compile_formats(compiler, *proxy, diags);
  }
}

} // namespace penstock
