// SPDX-License-Identifier: BSD-2-Clause
// Fuzzes every converter of the tables with any arguments that its row accepts, alone and in chains, over values of every
// type: short, long (64 kB), with NUL bytes and with what is no UTF-8.
//
// Input: how many converters (1-3), the type of the value, how it is stretched; then each converter on a line, "name(arguments)"
// or, where that is no name, a byte for its number and the arguments; then the value's bytes.
#include <charconv>
#include <vector>

#include "shared/base/text.h"
#include "shared/expr/run.h"
#include "shared/table/registry.h"
#include "tests/fuzz/stage.h"
#include "worker/stream/vars.h"

using namespace penstock;

namespace {

const std::vector<const ConverterDef *> &converters() {
  static const auto all = [] {
    std::vector<const ConverterDef *> out;
    for (ConverterRows rows : converter_tables())
      for (const ConverterDef &c : rows()) out.push_back(&c);
    return out;
  }();
  return all;
}

constexpr Type types[] = {Type::Str, Type::Bin, Type::Int, Type::Bool, Type::Ipv4, Type::Ipv6, Type::Meth};

Sample value_of(Type t, string_view bytes, u8 stretch, std::string &keep) {
  keep = bytes;
  size_t length = stretch & 1 ? 65536 : stretch & 2 ? 1000 : 0;
  if (!bytes.empty())
    while (keep.size() < length) keep.append(keep, 0, length - keep.size());
  Sample s;
  i64 number = 0;
  if (t == Type::Int && std::from_chars(keep.data(), keep.data() + keep.size(), number).ec != std::errc()) std::memcpy(&number, keep.data(), std::min<size_t>(8, keep.size()));
  Ip ip{.family = static_cast<u8>(t == Type::Ipv4 ? 4 : 6)};
  std::memcpy(ip.bytes.data(), keep.data(), std::min<size_t>(t == Type::Ipv4 ? 4 : 16, keep.size()));
  switch (t) {
    case Type::Bin: s.set_bin(keep); break;
    case Type::Int: s.set_int(number); break;
    case Type::Bool: s.set_bool(!keep.empty() && keep[0] & 1); break;
    case Type::Ipv4:
    case Type::Ipv6: s.set_ip(ip); break;
    case Type::Meth: s.type = Type::Meth, s.num = static_cast<i64>(method_of(keep)), s.str = keep; break;
    default: s.set_str(keep);
  }
  return s;
}

bool is_promised(Type promised, Type t) {
  if (promised == Type::Same || promised == Type::Any || promised == t) return true;
  return promised == Type::Addr && (t == Type::Ipv4 || t == Type::Ipv6);
}

volatile u32 sink;

void read_all(string_view s) {
  for (char c : s) sink = sink + static_cast<unsigned char>(c);
}

std::string one_converter(string_view line) {
  if (find_converter(line.substr(0, line.find('(')))) return std::string(line);
  u8 number = line.empty() ? u8{0} : static_cast<u8>(line[0]);
  std::string name(converters()[number % converters().size()]->name);
  return line.size() < 2 ? name : name + "(" + std::string(line.substr(1)) + ")";
}

/// One step, with the promises that a row makes.
bool apply(EvalContext &ctx, const ConverterStep &step, Sample &s) {
  if (!cast(s, step.def->in, ctx.scratch)) return false;
  Sample before = s;
  if (!step.def->eval(ctx, step.args, s)) return false;
  if (!is_promised(step.def->out, s.type)) std::fprintf(stderr, "%s gives %s\n", std::string(step.def->name).c_str(), std::string(type_name(s.type)).c_str());
  must(is_promised(step.def->out, s.type), "a converter gives the type of its row");
  if (s.type == Type::Str || s.type == Type::Bin) read_all(s.str);
  if (before.type == Type::Str || before.type == Type::Bin) read_all(before.str); // what it was made of is still there
  return true;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  FuzzInput in(data, size);
  Stage &stage = Stage::get();
  StageInput input;
  unsigned count = in.byte() % 3 + 1;
  Type type = types[in.byte() % std::size(types)];
  u8 stretch = in.byte();
  std::string text = "var(txn.value)";
  for (unsigned i = 0; i < count; i++) text += "," + one_converter(in.until('\n'));

  Diagnostics diags;
  Words words({}, {"fuzz", 1, 0}, diags);
  Compiler compiler(words, stage.config, &stage.frontend(), available_in(at_http_request), at_http_request);
  auto expr = compiler.expression_in(text, {});
  resolve_names(stage.config, diags);
  if (expr && !diags.failed()) {
    runtime->scratch.reset();
    StageStream staged({}, {}, {});
    EvalContext ctx = staged.stream().context(Phase::Request, stage.frontend(), true);
    std::string keep;
    const Sample value = value_of(type, in.rest(), stretch, keep);
    const std::string as_it_was = keep;
    Sample s = value;
    bool good = true;
    for (const ConverterStep &step : expr->converters) good = good && apply(ctx, step, s);
    if (good) cast(s, Type::Str, ctx.scratch);
    must(keep == as_it_was, "a converter leaves what it reads as it is");
    must(set_variable(ctx, VarId::unpacked(expr->args[0].num), value), "the variable is set");
    Sample whole; // the same as the engine does it
    bool engine = evaluate_as(ctx, *expr, Type::Str, whole);
    if (engine) read_all(whole.str);
  }
  return 0;
}
