// SPDX-License-Identifier: BSD-2-Clause
#include "worker/cli/command.h"

#include <algorithm>

#include "shared/base/text.h"
#include "worker/cli/cli_session.h"
#include "worker/cli/maxmind_update.h"

namespace penstock {

namespace {

constexpr CliCommandRows tables[] = {event_commands, server_commands, limit_commands, show_commands, show_server_commands, stream_commands, pattern_commands,
                                      table_commands, maxmind_commands, session_commands};

/// How many leading words of `line` the command's words agree with; its last one may be a beginning.
/// -1 when a word contradicts.
int agreement(string_view command, std::span<const std::string> line) {
  auto own = split(command, ' ');
  size_t n = std::min(own.size(), line.size());
  for (size_t i = 0; i < n; i++) {
    bool last = i + 1 == line.size();
    if (last ? !own[i].starts_with(line[i]) : own[i] != line[i]) return static_cast<int>(i) == 0 ? -1 : static_cast<int>(i);
  }
  return static_cast<int>(n);
}

bool looks_like(string_view command, string_view word) {
  for (string_view own : split(command, ' '))
    if (edit_distance(own, word, 3) <= (word.size() > 3 ? 2u : 1u) || (word.size() > 2 && own.find(word) != string_view::npos)) return true;
  return false;
}

void add_line(std::string &out, const CliCommand &c) {
  size_t begin = out.size();
  (out += "  ") += c.words;
  if (!c.usage.empty()) (out += ' ') += c.usage;
  size_t width = out.size() - begin;
  if (width < 42) out.append(42 - width, ' ');
  string_view summary = c.doc.summary;
  if (summary.ends_with('.')) summary.remove_suffix(1);
  ((out += ": ") += summary) += '\n';
}

/// Whether anything is listed for `words`, apart from what always is.
bool any_match(CliLevel level, std::span<const std::string> words, int &best) {
  best = 0;
  for (const CliCommand *c : cli_commands())
    if (c->level <= level && !c->always_listed && !c->unlisted) best = std::max(best, words.empty() ? 0 : agreement(c->words, words));
  if (best > 0 || words.empty()) return true;
  return std::any_of(cli_commands().begin(), cli_commands().end(),
                     [&](const CliCommand *c) { return c->level <= level && !c->always_listed && looks_like(c->words, words[0]); });
}

} // namespace

string_view level_name(CliLevel l) {
  static constexpr string_view names[] = {"user", "operator", "admin"};
  return names[static_cast<u8>(l)];
}

const std::vector<const CliCommand *> &cli_commands() {
  static const std::vector<const CliCommand *> all = [] {
    std::vector<const CliCommand *> v;
    for (CliCommandRows rows : tables)
      for (const CliCommand &c : rows()) v.push_back(&c);
    std::stable_sort(v.begin(), v.end(), [](const CliCommand *a, const CliCommand *b) {
      return a->always_listed != b->always_listed ? b->always_listed : a->words < b->words;
    });
    return v;
  }();
  return all;
}

const CliCommand *find_command(std::span<const std::string> words, size_t &length) {
  const CliCommand *found = nullptr;
  length = 0;
  for (const CliCommand *c : cli_commands()) {
    auto own = split(c->words, ' ');
    if (own.size() > words.size() || own.size() <= length) continue;
    if (!std::equal(own.begin(), own.end(), words.begin(), [](string_view a, const std::string &b) { return a == b; })) continue;
    found = c;
    length = own.size();
  }
  return found;
}

void list_commands(std::string &out, CliLevel level, std::span<const std::string> words) {
  int best = 0;
  bool some = any_match(level, words, best);
  for (const CliCommand *c : cli_commands()) {
    if (c->level > level || c->unlisted) continue;
    bool listed = c->always_listed || words.empty() || !some || (best > 0 ? agreement(c->words, words) == best : looks_like(c->words, words[0]));
    if (listed) add_line(out, *c);
  }
}

void explain_unknown(std::string &out, CliLevel level, std::span<const std::string> words) {
  int best = 0;
  ((out += "Unknown command: '") += words.empty() ? std::string() : words[0]) += '\'';
  out += any_match(level, words, best) ? ", but maybe one of the following ones is a better match:\n" : ". Please enter one of the following commands only:\n";
  list_commands(out, level, words);
}

const Server *find_server(CliCall &call, string_view text) {
  size_t slash = text.find('/');
  if (slash == string_view::npos) return call.fail("Require 'backend/server'."), nullptr;
  const Proxy *p = find_backend(call, text.substr(0, slash));
  if (!p) return nullptr;
  string_view name = text.substr(slash + 1);
  std::optional<u64> number = name.starts_with('#') ? parse_u64(name.substr(1)) : std::nullopt;
  for (auto &s : p->servers)
    if (s->row != no_row && (number ? s->id == *number : s->name == name)) return s.get();
  call.fail("No such server.");
  return nullptr;
}

const Proxy *find_backend(CliCall &call, string_view name) {
  const Proxy *p = call.control.config->backend(name);
  if (std::optional<u64> number = name.starts_with('#') ? parse_u64(name.substr(1)) : std::nullopt)
    for (auto &candidate : call.control.config->proxies)
      if (candidate->is_backend && candidate->id == *number) p = candidate.get();
  if (!p || !p->is_backend || p->back_row == no_row) return call.fail("No such backend."), nullptr;
  return p;
}

const Proxy *find_frontend(CliCall &call, string_view name) {
  if (name.empty()) return call.fail("A frontend name is expected."), nullptr;
  const Proxy *p = call.control.config->frontend(name);
  if (!p || !p->is_frontend || p->front_row == no_row) return call.fail("No such frontend."), nullptr;
  return p;
}

} // namespace penstock
