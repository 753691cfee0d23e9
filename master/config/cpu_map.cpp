// SPDX-License-Identifier: BSD-2-Clause
#include "master/config/cpu_map.h"

#include <algorithm>

#include "shared/base/text.h"

namespace penstock {

namespace {

constexpr u32 max_workers = 64, max_cpu = 4095;

bool refuse(LineContext &ctx, string_view word, string_view what) {
  ctx.words.alert_last("'cpu-map' expects " + std::string(what) + ", got '" + std::string(word) + "'", "such as: cpu-map auto:1/1-4 0-3");
  return false;
}

/// All CPU words of the line, sorted and unique.
bool parse_cpus(LineContext &ctx, std::vector<u32> &cpus) {
  if (ctx.words.at_end()) return ctx.words.alert("'cpu-map' expects a set of CPUs after the workers"), false;
  while (!ctx.words.at_end()) {
    string_view word = ctx.words.next();
    for (string_view part : split(word, ',')) {
      auto numbers = parse_number_set(part, 0, max_cpu);
      if (!numbers) return refuse(ctx, word, "CPU numbers or ranges");
      cpus.insert(cpus.end(), numbers->begin(), numbers->end());
    }
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return true;
}

bool is_open(string_view set) { return set.ends_with('-') || set == "all"; }

} // namespace

std::optional<std::vector<u32>> parse_number_set(string_view text, u32 first, u32 last) {
  struct Named {
    string_view name;
    u32 step, remainder;
  };
  static constexpr Named named[] = {{"all", 1, 0}, {"even", 2, 0}, {"odd", 2, 1}};
  std::vector<u32> out;
  for (const Named &n : named) {
    if (n.name != text) continue;
    for (u32 i = first; i <= last; i++)
      if (i % n.step == n.remainder) out.push_back(i);
    return out;
  }
  size_t dash = text.find('-');
  auto low = parse_u64(text.substr(0, dash));
  std::optional<u64> high = low;
  if (dash != string_view::npos) high = dash + 1 == text.size() ? last : parse_u64(text.substr(dash + 1));
  if (!low || !high) return std::nullopt;
  if (*high < *low) std::swap(low, high);
  if (*low < first || *high > last) return std::nullopt;
  for (u64 i = *low; i <= *high; i++) out.push_back(static_cast<u32>(i));
  return out;
}

void parse_cpu_map(LineContext &ctx) {
  auto word = ctx.words.need("workers and CPUs");
  if (!word) return;
  string_view spec = *word;
  bool automatic = spec.starts_with("auto:");
  if (automatic) spec.remove_prefix(5);
  size_t slash = spec.find('/');
  string_view worker_set = slash == string_view::npos ? "all" : spec.substr(slash + 1);
  auto groups = parse_number_set(spec.substr(0, slash), 1, max_workers);
  auto workers = parse_number_set(worker_set, 1, max_workers);
  if (!groups || !workers) return void(refuse(ctx, *word, "[auto:]GROUP[/WORKERS]"));
  std::vector<u32> cpus;
  if (!parse_cpus(ctx, cpus)) return;
  // Without threads written out, "auto:1-4 0-3" pairs processes of the old kind with CPUs.
  if (slash == string_view::npos && groups->size() > 1) workers = groups, groups->assign(1, 1);
  if (automatic && workers->size() != cpus.size() && !is_open(worker_set)) {
    ctx.words.alert_last("'cpu-map auto:' needs as many CPUs (" + std::to_string(cpus.size()) + ") as workers (" + std::to_string(workers->size()) + ")");
    return;
  }
  if (std::find(groups->begin(), groups->end(), 1u) == groups->end()) return;
  auto &map = ctx.config.global.cpu_map;
  if (map.size() < max_workers) map.resize(max_workers);
  for (size_t i = 0; i < workers->size(); i++) {
    if (!automatic) map[(*workers)[i] - 1] = cpus;
    else if (i < cpus.size()) map[(*workers)[i] - 1].assign(1, cpus[i]);
  }
}

} // namespace penstock
