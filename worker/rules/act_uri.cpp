// SPDX-License-Identifier: BSD-2-Clause
// Actions on the start line: method, target and its parts, status (manual, section 4.3).
#include "shared/base/regex.h"
#include "shared/base/text.h"
#include "shared/expr/run.h"
#include "shared/http/uri.h"
#include "worker/rules/http_view.h"
#include "worker/rules/rows.h"

namespace penstock {

namespace {

struct UriAction : ActionData {
  LogFormat value;
  std::shared_ptr<const Regex> pattern;
};

bool parse_format(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  auto format = compiler.log_format_word("a value");
  if (!format) return false;
  auto data = std::make_unique<UriAction>();
  data->value = std::move(*format);
  out = std::move(data);
  return true;
}

bool parse_replace(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  auto pattern = compiler.words().need("a regular expression");
  if (!pattern) return false;
  std::string error;
  auto re = Regex::compile(*pattern, false, error);
  if (!re) {
    compiler.words().alert_last(error);
    return false;
  }
  if (!parse_format(compiler, out)) return false;
  static_cast<UriAction &>(*out).pattern = std::move(re);
  return true;
}

const UriAction &of(const ActionData *d) { return *static_cast<const UriAction *>(d); }

/// Nothing that would end the start line or divide it anew.
bool fits_start_line(string_view s) {
  for (char c : s)
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) return false;
  return true;
}

/// Takes part [begin, end) of the target out and puts `with` there.
bool splice_target(EvalContext &ctx, HttpMessage &m, size_t begin, size_t end, string_view with) {
  if (!fits_start_line(with)) return false;
  string_view old = m.target();
  size_t size = begin + with.size() + (old.size() - end);
  char *text = ctx.scratch.chars(size + 1);
  old.copy(text, begin);
  if (!with.empty()) std::memcpy(text + begin, with.data(), with.size());
  if (end < old.size()) std::memcpy(text + begin + with.size(), old.data() + end, old.size() - end);
  m.set_target({text, size});
  return true;
}

enum class Part { Path, PathAndQuery, Query, Whole };

/// Where the part lies in the target; false when the target has no place for it.
bool part_bounds(const HttpMessage &m, Part part, size_t &begin, size_t &end) {
  string_view target = m.target();
  if (part == Part::Whole) return begin = 0, end = target.size(), true;
  string_view path = path_of(target);
  if (path.empty()) return false;
  size_t path_begin = static_cast<size_t>(path.data() - target.data()), path_end = path_begin + path.size();
  begin = part == Part::Query ? path_end : path_begin;
  end = part == Part::Path ? path_end : target.size();
  return true;
}

template <Part part> Verdict run_set(EvalContext &ctx, const ActionData *d) {
  HttpMessage *m = request_of(ctx);
  size_t begin, end;
  if (!m || !part_bounds(*m, part, begin, end)) return Verdict::Next;
  string_view value = format(ctx, of(d).value);
  if (part == Part::Query && !value.empty()) { // the question mark belongs to the target, not to the value
    char *text = ctx.scratch.chars(value.size() + 1);
    text[0] = '?';
    value.copy(text + 1, value.size());
    value = {text, value.size() + 1};
  }
  if (part == Part::Whole && value.empty()) return Verdict::Next;
  splice_target(ctx, *m, begin, end, value);
  return Verdict::Next;
}

template <Part part> Verdict run_replace(EvalContext &ctx, const ActionData *d) {
  HttpMessage *m = request_of(ctx);
  size_t begin, end;
  if (!m || !part_bounds(*m, part, begin, end)) return Verdict::Next;
  string_view old = m->target().substr(begin, end - begin);
  Regex::Captures groups;
  if (!of(d).pattern->search(old, groups)) return Verdict::Next;
  string_view value = expand_groups(format(ctx, of(d).value), old, groups, ctx.scratch);
  splice_target(ctx, *m, begin, end, value);
  return Verdict::Next;
}

Verdict run_set_method(EvalContext &ctx, const ActionData *d) {
  HttpMessage *m = request_of(ctx);
  string_view value = format(ctx, of(d).value);
  if (m && !value.empty() && fits_start_line(value)) m->set_method(ctx.scratch.copy(value));
  return Verdict::Next;
}

// ------------------------------------------------------------------------------------------- status

struct StatusAction : ActionData {
  u16 status = 200;
  std::string reason;
};
bool parse_status(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  auto status = compiler.words().need_int("a status", 100, 999);
  if (!status) return false;
  auto data = std::make_unique<StatusAction>();
  data->status = static_cast<u16>(*status);
  if (compiler.words().take("reason")) {
    auto reason = compiler.words().need("a reason phrase");
    if (!reason) return false;
    data->reason = *reason;
  }
  out = std::move(data);
  return true;
}
Verdict run_status(EvalContext &ctx, const ActionData *d) {
  const auto &a = *static_cast<const StatusAction *>(d);
  if (HttpMessage *m = response_of(ctx)) m->set_status(a.status, a.reason.empty() ? reason_phrase(a.status) : string_view(a.reason));
  return Verdict::Next;
}

constexpr ActionDef rows[] = {
    {.name = "replace-path", .sets = at_http_request, .doc = {"Rewrites the path where it matches a regular expression.", "The query stays. \\1 to \\9 stand for groups.", "http-request replace-path /old/(.*) /new/\\1"}, .parse = parse_replace, .run = run_replace<Part::Path>},
    {.name = "replace-pathq", .sets = at_http_request, .doc = {"Rewrites path and query where they match a regular expression.", "", "http-request replace-pathq ([^?]*)(\\?.*)? \\1/tail\\2"}, .parse = parse_replace, .run = run_replace<Part::PathAndQuery>},
    {.name = "replace-uri", .sets = at_http_request, .doc = {"Rewrites the target as it was sent where it matches a regular expression.", "", "http-request replace-uri ^http://(.*) https://\\1"}, .parse = parse_replace, .run = run_replace<Part::Whole>},
    {.name = "set-method", .sets = at_http_request, .doc = {"Sets the request's method.", "", "http-request set-method GET if { method HEAD }"}, .parse = parse_format, .run = run_set_method},
    {.name = "set-path", .sets = at_http_request, .doc = {"Sets the path; the query stays.", "", "http-request set-path /app%[path]"}, .parse = parse_format, .run = run_set<Part::Path>},
    {.name = "set-pathq", .sets = at_http_request, .doc = {"Sets path and query.", "", "http-request set-pathq /app%[pathq]"}, .parse = parse_format, .run = run_set<Part::PathAndQuery>},
    {.name = "set-query", .sets = at_http_request, .doc = {"Sets the query, written without question mark; an empty one is taken away.", "", "http-request set-query %[query,regsub(%3D,=,g)]"}, .parse = parse_format, .run = run_set<Part::Query>},
    {.name = "set-status", .sets = at_http_response | at_http_after, .doc = {"Sets the response's status and, after the word reason, its phrase.", "", "http-response set-status 503 reason \"Slow Down\""}, .parse = parse_status, .run = run_status},
    {.name = "set-uri", .sets = at_http_request, .doc = {"Sets the whole target.", "", "http-request set-uri /app%[pathq]"}, .parse = parse_format, .run = run_set<Part::Whole>},
};
static_assert(sorted_and_documented<ActionDef>(rows));

} // namespace

std::span<const ActionDef> act_uri() { return rows; }

} // namespace penstock
