// SPDX-License-Identifier: BSD-2-Clause
// Fuzzes the compiler of expressions, ACLs, conditions, log formats and rules, and runs what it accepts over a request
// (and a response) that is made up as well.
//
// Input: what the line is, flags, the line, then up to a byte 0xff the request's head, up to the next the response's, and a body.
#include "shared/expr/run.h"
#include "master/config/reader.h"
#include "tests/fuzz/stage.h"

using namespace penstock;

namespace {

enum Flags : u8 { on_response = 1, not_final = 2, as_log = 4, small_room = 8, everything = 16 };

/// Touches every byte, so that a sanitizer sees where they lie.
u32 read_all(string_view s) {
  u32 sum = 0;
  for (char c : s) sum = sum * 31 + static_cast<unsigned char>(c);
  return sum;
}

volatile u32 sink;

void look_at(Sample s, Arena &arena) {
  if (s.type == Type::Str || s.type == Type::Bin) sink = read_all(s.str);
  for (Type to : {Type::Str, Type::Bin, Type::Int, Type::Bool, Type::Addr, Type::Meth}) {
    Sample copy = s;
    if (cast(copy, to, arena) && (to == Type::Str || to == Type::Bin)) sink = read_all(copy.str);
  }
}

struct Line {
  Words &words;
  Compiler &compiler;
  EvalContext ctx;
  u8 flags;
  /// Whether a configuration with this line would have been accepted.
  bool accepted() {
    resolve_names(compiler.config(), compiler.diags());
    return !compiler.diags().failed();
  }
};

void expression(Line &l) {
  auto e = l.compiler.expression();
  if (!e || !l.accepted()) return;
  Sample s;
  if (evaluate(l.ctx, *e, s)) look_at(s, l.ctx.scratch);
}

void condition(Line &l) {
  auto c = l.compiler.condition();
  if (c && l.accepted()) must(evaluate(l.ctx, *c) != Truth::Unknown || !l.ctx.final, "nothing stays open when all is there");
}

void acl(Line &l) {
  Acl acl;
  if (l.compiler.acl_line(acl) && l.accepted()) must(evaluate(l.ctx, acl) != Truth::Unknown || !l.ctx.final, "nothing stays open when all is there");
}

void log_format(Line &l) {
  auto f = l.compiler.log_format(l.words.peek(), l.words.place(), l.flags & as_log ? log_mandatory_dash : 0);
  if (!f || !l.accepted()) return;
  size_t room = l.flags & small_room ? l.words.peek().size() / 2 : 65536;
  auto out = std::make_unique<char[]>(room);
  size_t n = format(l.ctx, *f, out.get(), room);
  must(n <= room, "a format keeps to its room");
  sink = read_all({out.get(), n});
}

void rule(Line &l) {
  auto r = compile_rule(l.compiler);
  if (!r || !l.accepted()) return;
  RuleList rules;
  rules.push_back(std::move(r));
  Stream &s = *l.ctx.stream;
  RuleOutcome outcome = run_rules(l.ctx, rules);
  must(outcome.verdict != Verdict::Next || outcome.index == 1, "the list ran to its end");
  for (HttpMessage *m : {&s.request(), s.has_response() ? &s.response() : nullptr})
    for (size_t i = 0; m != nullptr && i < m->size(); i++) sink = read_all(m->name(i)) + read_all(m->value(i));
}

constexpr void (*kinds[])(Line &) = {expression, condition, acl, log_format, rule, rule};
constexpr u32 request_sets[] = {at_http_request, at_tcp_request};
constexpr u32 response_sets[] = {at_http_response, at_http_after};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  FuzzInput in(data, size);
  Stage &stage = Stage::get();
  StageInput input;
  u8 kind = in.byte() % std::size(kinds), flags = in.byte();
  string_view text = in.until('\n'), request = in.until('\xff'), response = in.until('\xff');
  bool answers = flags & on_response;

  Diagnostics diags;
  Tokenizer tokenizer;
  std::vector<Word> cut;
  if (kinds[kind] == log_format) cut.push_back({std::string(text), 1});
  else if (!tokenizer.run(text, {"fuzz", 1, "frontend fe"}, cut)) return 0;
  Words words(std::move(cut), {"fuzz", 1, 0}, diags);
  u32 set = (answers ? response_sets : request_sets)[kind % 2];
  u32 available = available_in(set);
  if (flags & everything) available |= needs_end | needs_status;
  Compiler compiler(words, stage.config, &stage.frontend(), available, set);

  runtime->scratch.reset();
  StageStream staged(request, response, in.rest());
  if (answers) staged.with_response();
  bool is_final = !(flags & not_final);
  Line line{words, compiler, staged.stream().context(flags & everything ? Phase::Log : answers ? Phase::Response : Phase::Request, stage.frontend(), is_final), flags};
  line.ctx.response_side = answers;
  kinds[kind](line);
  return 0;
}
