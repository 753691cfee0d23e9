// SPDX-License-Identifier: BSD-2-Clause
// Compiles and runs expressions, conditions and formats out of text, without traffic.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "shared/base/text.h"
#include "shared/expr/run.h"
#include "shared/model/config.h"

namespace penstock {

inline constexpr u32 everything = ~0u;

inline std::vector<Word> words_of(string_view line) {
  std::vector<Word> out;
  for (string_view w : split(line, ' '))
    if (!w.empty()) out.push_back({std::string(w), 1});
  return out;
}

struct ExprFixture {
  Config config;
  Diagnostics diags;
  Arena arena;
  Proxy proxy;

  std::string first_error() const { return diags.all().empty() ? "" : to_text(diags.all().front()); }

  /// The value of an expression as text; "<none>" without one, "<error> …" when it does not compile.
  std::string value(string_view expression) {
    diags = {};
    Words words({}, {}, diags);
    Compiler compiler(words, config, &proxy, everything);
    auto e = compiler.expression_in(expression, {});
    if (!e) return "<error> " + first_error();
    EvalContext ctx{arena};
    ctx.proxy = &proxy;
    Sample s;
    if (!evaluate_as(ctx, *e, Type::Str, s)) return "<none>";
    return std::string(s.str);
  }
  /// Declares an ACL for the conditions that follow.
  void acl(string_view name, string_view line) {
    Words words(words_of(line), {}, diags);
    Compiler compiler(words, config, &proxy, everything);
    for (auto &a : proxy.acls)
      if (a->name == name) return void(compiler.acl_line(*a));
    proxy.acls.push_back(std::make_unique<Acl>());
    proxy.acls.back()->name = name;
    CHECK(compiler.acl_line(*proxy.acls.back()));
  }
  /// "yes", "no", "unknown" or "<error> …" of "if …" / "unless …".
  std::string condition(string_view line) {
    diags = {};
    Words words(words_of(line), {}, diags);
    Compiler compiler(words, config, &proxy, everything);
    auto c = compiler.condition();
    if (!c) return "<error> " + first_error();
    EvalContext ctx{arena};
    ctx.proxy = &proxy;
    Truth t = evaluate(ctx, *c);
    return t == Truth::Yes ? "yes" : t == Truth::No ? "no" : "unknown";
  }
  std::string formatted(string_view text, u8 flags = 0) {
    diags = {};
    Words words({}, {}, diags);
    Compiler compiler(words, config, &proxy, everything);
    auto f = compiler.log_format(text, {}, flags);
    if (!f) return "<error> " + first_error();
    EvalContext ctx{arena};
    ctx.proxy = &proxy;
    return std::string(format(ctx, *f));
  }
};

} // namespace penstock
