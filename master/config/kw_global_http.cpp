// SPDX-License-Identifier: BSD-2-Clause
// Global keywords about protocols (manual 3.1): case of HTTP/1 names, status classes, PROXY protocol.
#include <algorithm>

#include "master/config/reader.h"
#include "master/config/slots.h"
#include "shared/base/text.h"
#include "shared/table/registry.h"

namespace penstock {

namespace {

/// Empty, or what is wrong.
std::string add_case(Global &g, string_view from, string_view to) {
  if (from.empty() || to.empty()) return "expects a name in lower case and the form to send";
  if (!iequals(from, to)) return "'" + std::string(from) + "' and '" + std::string(to) + "' may only differ in case";
  if (lower(from) != from) return "'" + std::string(from) + "' must be in lower case";
  if (!g.h1_case_adjust.emplace(from, to).second) return "'" + std::string(from) + "' is adjusted twice";
  return {};
}

void case_adjust(LineContext &ctx) {
  auto from = ctx.words.need("a header name in lower case and the form to send");
  if (!from) return;
  auto to = ctx.words.need("the form of '" + std::string(*from) + "' to send");
  if (!to) return;
  if (std::string wrong = add_case(ctx.config.global, *from, *to); !wrong.empty()) ctx.words.alert_last("'h1-case-adjust': " + wrong);
}

void case_adjust_file(LineContext &ctx) {
  auto path = ctx.words.need("a file");
  if (!path) return;
  std::string text;
  if (!read_file(std::string(*path), text)) return ctx.words.alert_last("cannot read '" + std::string(*path) + "'");
  u32 number = 0;
  for (string_view line : split(text, '\n')) {
    number++;
    line = trim(line);
    if (line.empty() || line.front() == '#') continue;
    size_t blank = line.find_first_of(" \t");
    string_view to = blank == string_view::npos ? string_view() : trim(line.substr(blank));
    std::string wrong = add_case(ctx.config.global, line.substr(0, blank), to);
    if (!wrong.empty()) ctx.words.alert_last(std::string(*path) + ":" + std::to_string(number) + ": " + wrong);
  }
}

/// [+-]RANGE[,RANGE…] …: replaces, extends or reduces the set.
template <StatusSet Global::*Set> void status_codes(LineContext &ctx) {
  StatusSet &set = ctx.config.global.*Set;
  if (ctx.words.at_end()) return void(ctx.words.need("ranges of status codes such as 400-499 or -404"));
  while (!ctx.words.at_end()) {
    string_view word = ctx.words.next(), rest = word;
    char sign = rest.front();
    if (sign == '+' || sign == '-') rest.remove_prefix(1);
    else set.set(100, 599, false);
    for (string_view range : split(rest, ',')) {
      size_t dash = range.find('-');
      auto low = parse_u64(range.substr(0, dash));
      auto high = dash == string_view::npos ? low : parse_u64(range.substr(dash + 1));
      if (!low || !high || *low < 100 || *high > 599 || *low > *high)
        return ctx.words.alert_last("'" + std::string(word) + "' is not a range of status codes from 100 to 599");
      set.set(static_cast<u32>(*low), static_cast<u32>(*high), sign != '-');
    }
  }
}

constexpr KeywordDef rows[] = {
    {.name = "h1-accept-payload-with-any-method", .sections = in_global,
     .doc = {.summary = "Accepts HTTP/1.0 requests with a body whose method usually has none.", .text = "They are refused otherwise, because programs disagree about where such a request ends.", .example = "global\n    h1-accept-payload-with-any-method"},
     .parse = set_flag<&Global::h1_accept_payload_with_any_method>},
    {.name = "h1-case-adjust", .sections = in_global,
     .doc = {.summary = "Form in which a header's name is sent over HTTP/1 where a proxy asks for it.",
             .text = "See 'option h1-case-adjust-bogus-client' and 'option h1-case-adjust-bogus-server'.", .example = "global\n    h1-case-adjust content-length Content-Length"},
     .parse = case_adjust},
    {.name = "h1-case-adjust-file", .sections = in_global,
     .doc = {.summary = "The same from a file: two names a line.", .text = {}, .example = "global\n    h1-case-adjust-file /dev/null"},
     .parse = case_adjust_file},
    {.name = "h1-do-not-close-on-insecure-transfer-encoding", .sections = in_global,
     .doc = {.summary = "Keeps a connection open after a message with both Transfer-Encoding and Content-Length.", .text = {}, .example = "global\n    h1-do-not-close-on-insecure-transfer-encoding"},
     .parse = set_flag<&Global::h1_keep_open_on_insecure_te>},
    {.name = "harden.reject-privileged-ports.tcp", .sections = in_global,
     .doc = {.summary = "Whether clients that connect from a port below 1024 are refused.", .text = {}, .example = "global\n    harden.reject-privileged-ports.tcp on"},
     .parse = set_on_off<&Global::reject_privileged_ports_tcp>},
    {.name = "http-err-codes", .sections = in_global,
     .doc = {.summary = "Status codes that count as errors of the client.", .text = "A range replaces the set; with '+' it is added, with '-' taken out.", .example = "global\n    http-err-codes 400-499 -404"},
     .parse = status_codes<&Global::http_err_codes>},
    {.name = "http-fail-codes", .sections = in_global,
     .doc = {.summary = "Status codes that count as failures of the server.", .text = "Written like http-err-codes.", .example = "global\n    http-fail-codes -501,505"},
     .parse = status_codes<&Global::http_fail_codes>},
    {.name = "pp2-never-send-local", .sections = in_global,
     .doc = {.summary = "Health checks send a complete PROXY header instead of one that says LOCAL.", .text = {}, .example = "global\n    pp2-never-send-local"},
     .parse = set_flag<&Global::pp2_never_send_local>},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> kw_global_http_rows() { return rows; }

} // namespace penstock
