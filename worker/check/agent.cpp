// SPDX-License-Identifier: BSD-2-Clause
#include "worker/check/agent.h"

#include "shared/base/text.h"

namespace penstock {

namespace {

struct PlainWord {
  string_view word;
  AgentReport::Admin admin;
  AgentReport::Operation operation;
};
constexpr PlainWord plain_words[] = {
    {"ready", AgentReport::Ready, AgentReport::Silent},    {"drain", AgentReport::Drain, AgentReport::Silent},
    {"maint", AgentReport::Maint, AgentReport::Silent},    {"up", AgentReport::Unchanged, AgentReport::Up},
    {"down", AgentReport::Unchanged, AgentReport::Down},   {"stopped", AgentReport::Unchanged, AgentReport::Stopped},
    {"fail", AgentReport::Unchanged, AgentReport::Fail},
};

bool take_weight(string_view text, AgentReport &out) {
  bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  auto n = parse_u64(text);
  if (!n || *n > (percent ? 25600u : 256u)) return false;
  (percent ? out.weight_percent : out.weight) = static_cast<u32>(*n);
  return true;
}

bool take_word(string_view word, AgentReport &out) {
  for (const PlainWord &p : plain_words) {
    if (!iequals(word, p.word)) continue;
    if (p.admin != AgentReport::Unchanged) out.admin = p.admin;
    if (p.operation != AgentReport::Silent) out.operation = p.operation;
    return true;
  }
  if (istarts_with(word, "weight:")) return take_weight(word.substr(7), out);
  if (istarts_with(word, "maxconn:")) {
    auto n = parse_u64(word.substr(8));
    if (!n || *n > ~u32{0}) return false;
    out.maxconn = static_cast<u32>(*n);
    return true;
  }
  return word.ends_with('%') && take_weight(word, out);
}

} // namespace

AgentReport parse_agent_report(string_view line) {
  line = line.substr(0, line.find_first_of("\r\n"));
  AgentReport out;
  if (size_t sharp = line.find('#'); sharp != string_view::npos) {
    out.description = trim(line.substr(sharp + 1)).substr(0, 60);
    line = line.substr(0, sharp);
  }
  while (!line.empty()) {
    size_t end = line.find_first_of(" \t,");
    string_view word = line.substr(0, end);
    if (!word.empty() && take_word(word, out)) out.understood = true;
    line = end == string_view::npos ? string_view() : line.substr(end + 1);
  }
  return out;
}

} // namespace penstock
