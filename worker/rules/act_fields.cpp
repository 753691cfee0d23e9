// SPDX-License-Identifier: BSD-2-Clause
// Actions on header fields: add, set, delete, replace; early-hint (manual, section 4.3).
#include "shared/base/regex.h"
#include "shared/base/text.h"
#include "shared/expr/run.h"
#include "worker/rules/http_view.h"
#include "worker/rules/rows.h"

namespace penstock {

namespace {

struct FieldAction : ActionData {
  std::string name;
  Header id = Header::Other;
  LogFormat value;
  std::shared_ptr<const Regex> pattern;
  MatchMethod match = MatchMethod::Str; // of del-header
};

std::unique_ptr<FieldAction> named_field(Compiler &compiler) {
  auto name = compiler.words().need("the name of a header field");
  if (!name) return nullptr;
  auto data = std::make_unique<FieldAction>();
  data->name = *name;
  data->id = header_of(*name);
  return data;
}

/// NAME FORMAT
bool parse_name_format(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  auto data = named_field(compiler);
  if (!data) return false;
  auto format = compiler.log_format_word("the field's value");
  if (!format) return false;
  data->value = std::move(*format);
  out = std::move(data);
  return true;
}

/// NAME REGEX FORMAT
bool parse_replace(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  auto data = named_field(compiler);
  if (!data) return false;
  auto pattern = compiler.words().need("a regular expression");
  if (!pattern) return false;
  std::string error;
  data->pattern = Regex::compile(*pattern, false, error);
  if (!data->pattern) {
    compiler.words().alert_last(error);
    return false;
  }
  auto format = compiler.log_format_word("what to put in its place");
  if (!format) return false;
  data->value = std::move(*format);
  out = std::move(data);
  return true;
}

/// NAME [-m METHOD]
bool parse_delete(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  auto data = named_field(compiler);
  if (!data) return false;
  if (compiler.words().take("-m")) {
    auto word = compiler.words().need("a match method");
    if (!word) return false;
    auto method = match_method_of(*word);
    bool possible = method == MatchMethod::Str || method == MatchMethod::Beg || method == MatchMethod::End || method == MatchMethod::Sub || method == MatchMethod::Reg;
    if (!possible) {
      compiler.words().alert_last("fields can be deleted by -m str, beg, end, sub or reg, not '" + std::string(*word) + "'");
      return false;
    }
    data->match = *method;
    std::string error;
    if (method == MatchMethod::Reg && !(data->pattern = Regex::compile(data->name, true, error))) {
      compiler.words().alert_last(error);
      return false;
    }
  }
  out = std::move(data);
  return true;
}

const FieldAction &of(const ActionData *d) { return *static_cast<const FieldAction *>(d); }

/// A field's value never holds what would end its line.
string_view one_line(EvalContext &ctx, string_view value) {
  if (value.find_first_of(string_view("\r\n\0", 3)) == string_view::npos) return value;
  string_view copy = ctx.scratch.copy(value);
  for (char &c : std::span(const_cast<char *>(copy.data()), copy.size()))
    if (c == '\r' || c == '\n' || c == '\0') c = ' ';
  return copy;
}

Verdict run_add(EvalContext &ctx, const ActionData *d) {
  HttpMessage *msg = message_of(ctx);
  if (!msg) return Verdict::Next;
  const FieldAction &a = of(d);
  msg->add(a.name, one_line(ctx, format(ctx, a.value)));
  return Verdict::Next;
}

Verdict run_set(EvalContext &ctx, const ActionData *d) {
  HttpMessage *msg = message_of(ctx);
  if (!msg) return Verdict::Next;
  const FieldAction &a = of(d);
  string_view value = one_line(ctx, format(ctx, a.value)); // may look at the field itself
  if (!value.empty() && msg->find(a.id, a.name, 0) != HttpMessage::npos) value = ctx.scratch.copy(value);
  msg->set(a.name, value);
  return Verdict::Next;
}

bool name_matches(const FieldAction &a, string_view name) {
  switch (a.match) {
    case MatchMethod::Beg: return istarts_with(name, a.name);
    case MatchMethod::End: return name.size() >= a.name.size() && iequals(name.substr(name.size() - a.name.size()), a.name);
    case MatchMethod::Reg: return a.pattern->matches(name);
    case MatchMethod::Sub:
      for (size_t i = 0; i + a.name.size() <= name.size(); i++)
        if (iequals(name.substr(i, a.name.size()), a.name)) return true;
      return false;
    default: return iequals(name, a.name);
  }
}

Verdict run_delete(EvalContext &ctx, const ActionData *d) {
  HttpMessage *msg = message_of(ctx);
  if (!msg) return Verdict::Next;
  const FieldAction &a = of(d);
  if (a.match == MatchMethod::Str) {
    msg->remove_all(a.name);
    return Verdict::Next;
  }
  for (size_t i = msg->size(); i-- > 0;)
    if (name_matches(a, msg->name(i))) msg->remove(i);
  return Verdict::Next;
}

/// The whole line at once.
Verdict run_replace_header(EvalContext &ctx, const ActionData *d) {
  HttpMessage *msg = message_of(ctx);
  if (!msg) return Verdict::Next;
  const FieldAction &a = of(d);
  string_view replacement = ctx.scratch.copy(format(ctx, a.value));
  for (size_t i = msg->find(a.id, a.name, 0); i != HttpMessage::npos; i = msg->find(a.id, a.name, i + 1)) {
    Regex::Captures groups;
    string_view old = msg->value(i);
    if (a.pattern->search(old, groups)) msg->set_value(i, one_line(ctx, expand_groups(replacement, old, groups, ctx.scratch)));
  }
  return Verdict::Next;
}

/// Each value of the list on its own.
Verdict run_replace_value(EvalContext &ctx, const ActionData *d) {
  HttpMessage *msg = message_of(ctx);
  if (!msg) return Verdict::Next;
  const FieldAction &a = of(d);
  string_view replacement = ctx.scratch.copy(format(ctx, a.value));
  for (size_t i = msg->find(a.id, a.name, 0); i != HttpMessage::npos; i = msg->find(a.id, a.name, i + 1)) {
    string_view line = ctx.scratch.copy(msg->value(i)), value;
    bool changed = false;
    u32 at = 0;
    string_view pieces[128]; // values with what stands between them
    size_t count = 0, kept = 0;
    while (count + 2 < std::size(pieces) && next_list_value(line, at, value)) {
      Regex::Captures groups;
      if (!a.pattern->search(value, groups)) continue;
      size_t begin = static_cast<size_t>(value.data() - line.data());
      pieces[count++] = line.substr(kept, begin - kept);
      pieces[count++] = expand_groups(replacement, value, groups, ctx.scratch);
      kept = begin + value.size();
      changed = true;
    }
    if (!changed) continue;
    pieces[count++] = line.substr(kept);
    size_t size = 0;
    for (size_t k = 0; k < count; k++) size += pieces[k].size();
    char *text = ctx.scratch.chars(size + 1), *end = text;
    for (size_t k = 0; k < count; k++) {
      if (!pieces[k].empty()) std::memcpy(end, pieces[k].data(), pieces[k].size());
      end += pieces[k].size();
    }
    msg->set_value(i, one_line(ctx, {text, size}));
  }
  return Verdict::Next;
}

constexpr ActionDef rows[] = {
    {.name = "add-header", .sets = at_any_http, .doc = {"Adds a header field after those that are there.", "The value is a log format. Line breaks in it become blanks.", "http-request add-header X-Path %[path]"}, .parse = parse_name_format, .run = run_add},
    {.name = "del-header", .sets = at_any_http, .doc = {"Deletes all header fields of a name.", "With -m str, beg, end, sub or reg the name is compared that way.", "http-response del-header ^X- -m reg"}, .parse = parse_delete, .run = run_delete},
    {.name = "replace-header", .sets = at_any_http, .doc = {"Rewrites each line of a header field that matches a regular expression.", "The whole value is replaced by the format, in which \\1 to \\9 stand for groups.", "http-request replace-header Cookie foo=([^;]*);(.*) foo=\\1;ip=%bi;\\2"}, .parse = parse_replace, .run = run_replace_header},
    {.name = "replace-value", .sets = at_any_http, .doc = {"Rewrites each value of a header field's list that matches a regular expression.", "Like replace-header, but values divided by commas are looked at one by one.", "http-request replace-value X-Forwarded-For ^192\\.168\\.(.*)$ 172.16.\\1"}, .parse = parse_replace, .run = run_replace_value},
    {.name = "set-header", .sets = at_any_http, .doc = {"Sets a header field: all of that name are replaced by one.", "The value is a log format and may look at the field's old value. Line breaks in it become blanks.", "http-request set-header X-Forwarded-Port %[dst_port]"}, .parse = parse_name_format, .run = run_set},
};
static_assert(sorted_and_documented<ActionDef>(rows));

} // namespace

std::span<const ActionDef> act_fields() { return rows; }

} // namespace penstock
