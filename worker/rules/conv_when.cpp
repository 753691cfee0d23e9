// SPDX-License-Identifier: BSD-2-Clause
// Converters that pass their input through: `when` only under a condition, `debug` with a line for the
// reader of the process' output (manual, section 7.3.1).
#include <unistd.h>

#include <array>

#include "shared/expr/run.h"
#include "worker/log/access.h"
#include "worker/rules/rows.h"
#include "worker/stream/stream.h"
#include "worker/worker.h"

namespace penstock {

namespace {

using Holds = bool (*)(EvalContext &ctx, const ArgValue &argument);

bool error(EvalContext &ctx, const ArgValue &) { return ctx.stream && had_trouble(ctx.stream->facts); }
bool normal(EvalContext &ctx, const ArgValue &a) { return !error(ctx, a); }
bool forwarded(EvalContext &ctx, const ArgValue &) { return ctx.stream && ctx.stream->facts.times.connected_us != 0; }
bool stopping(EvalContext &, const ArgValue &) { return this_worker() && this_worker()->stopping; }
bool by_acl(EvalContext &ctx, const ArgValue &a) { return evaluate(ctx, *a.as<Acl>()) == Truth::Yes; }

struct ConditionRow {
  string_view name;
  Holds holds;
};
constexpr ConditionRow conditions[] = {
    {"acl", by_acl}, {"error", error}, {"forwarded", forwarded}, {"normal", normal}, {"stopping", stopping},
};

PENSTOCK_CONVERTER(when) {
  bool holds = args[0].as<ConditionRow>()->holds(ctx, args[1]);
  return holds != (args[0].num != 0);
}
bool check_when(Args &args, std::string &why) {
  string_view word = args[0].str;
  args[0].num = word.starts_with('!');
  if (args[0].num) word.remove_prefix(1);
  for (const ConditionRow &c : conditions)
    if (c.name == word) args[0].ref = &c;
  if (!args[0].ref) why = "unknown condition '" + args[0].str + "'; there are acl, error, forwarded, normal and stopping, each also with '!' before it";
  else if (word == "acl" && !args[1]) why = "the condition acl lacks the name of an ACL, as in when(acl,slow)";
  else if (word != "acl" && args[1]) why = "the condition '" + std::string(word) + "' takes no argument";
  return why.empty();
}

PENSTOCK_CONVERTER(debug) {
  Sample text = s;
  char line[1024];
  size_t n = 0;
  auto put = [&](string_view part) { n += part.substr(0, sizeof line - 1 - n).copy(line + n, sizeof line - 1 - n); };
  put(args[0] ? string_view(args[0].str) : "debug");
  put(": type=");
  put(type_name(s.type));
  put(" <");
  if (cast(text, Type::Str, ctx.scratch))
    for (char c : text.str) put(c >= 32 && c < 127 ? string_view(&c, 1) : ".");
  put(">");
  line[n++] = '\n';
  [[maybe_unused]] ssize_t written = write(args[1].num ? STDOUT_FILENO : STDERR_FILENO, line, n);
  return true;
}
bool check_debug(Args &args, std::string &why) {
  args[1].num = args[1].str == "stdout";
  if (args[1] && args[1].str != "stderr" && args[1].str != "stdout") why = "the destination is stdout or stderr, got '" + args[1].str + "'";
  return why.empty();
}

constexpr ConverterDef rows[] = {
    {.name = "debug", .args = {opt(ArgType::Str, "prefix"), opt(ArgType::Str, "destination")}, .in = Type::Any, .out = Type::Same,
     .doc = {"Writes the value to the process' output and passes it on.", "With a prefix, to stderr or stdout; stderr unless given. For a look while a configuration is made: it waits for whoever reads the output.", "http-request set-var(txn.from) src,debug(from,stderr)"},
     .eval = debug, .check = check_debug},
    {.name = "when", .args = {req(ArgType::Str, "condition"), opt(ArgType::Str, "acl")}, .in = Type::Any, .out = Type::Same,
     .doc = {"The value when a condition holds, else none.",
             "Conditions: error (something went wrong, as dontlog-normal sees it), normal (nothing did), forwarded (a server was connected to), stopping (the process is about to end), and acl with the name of an ACL. '!' before it asks for the opposite. The value is "
             "made in any case.",
             "log-format \"%ci %ST %[txn.sess_term_state,when(error)]\""},
     .eval = when, .check = check_when},
};
static_assert(sorted_and_documented<ConverterDef>(rows));

} // namespace

std::span<const ConverterDef> conv_when() { return rows; }

} // namespace penstock
