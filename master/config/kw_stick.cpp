// SPDX-License-Identifier: BSD-2-Clause
// `stick match`, `stick on`, `stick store-request`, `stick store-response`: persistence by a stick table
// (manual, section 4.2). The tables are resolved when all files are read.
#include "master/config/choice.h"
#include "master/config/kw_proxy.h"

namespace penstock {

namespace {

void read_rule(LineContext &ctx, bool match, bool store, bool response) {
  StickRule rule;
  rule.match = match, rule.store = store, rule.response = response;
  rule.place = ctx.words.place();
  u32 available = response ? available_in(at_tcp_response) : available_for_routing;
  Compiler compiler(ctx.words, ctx.config, ctx.proxy, available);
  auto key = compiler.expression();
  if (!key) return;
  rule.key = std::move(*key);
  rule.table = compiler.table_option(rule.key, ctx.words.subject());
  if (!rule.table) return;
  auto condition = compiler.condition();
  if (!condition || !ctx.words.end()) return;
  rule.condition = std::move(*condition);
  ctx.proxy->needs |= rule.condition.needs | rule.key.needs;
  ctx.proxy->stick_rules.push_back(std::move(rule));
}

void match(LineContext &ctx) { read_rule(ctx, true, false, false); }
void on(LineContext &ctx) { read_rule(ctx, true, true, false); }
void store_request(LineContext &ctx) { read_rule(ctx, false, true, false); }
void store_response(LineContext &ctx) { read_rule(ctx, false, true, true); }

constexpr u32 sections = in_backend | in_listen;

constexpr KeywordDef rows[] = {
    {.name = "stick match", .sections = sections,
     .doc = {"Sends a request to the server that the table has for its key.",
             "KEY [table TABLE] [if|unless CONDITION]\n\nThe first line that finds an entry counts, unless a cookie has decided. Without 'table' it is the backend's own. "
             "Another backend's table is matched by the servers' numbers.",
             "backend pop\n    stick-table type ip size 200k expire 30m\n    stick store-request src\n    server s1 127.0.0.1:110\n"
             "backend smtp\n    stick match src table pop\n    server s1 127.0.0.1:25"},
     .parse = match},
    {.name = "stick on", .sections = sections,
     .doc = {"Looks a key up in the table and stores the server that was used: 'stick match' and 'stick store-request' in one.",
             "KEY [table TABLE] [if|unless CONDITION]",
             "backend app\n    stick-table type ip size 200k expire 30m\n    stick on src\n    server a 127.0.0.1:8001\n    server b 127.0.0.1:8002"},
     .parse = on},
    {.name = "stick store-request", .sections = sections,
     .doc = {"Stores which server a request with this key went to, once it is connected.",
             "KEY [table TABLE] [if|unless CONDITION]\n\nOf each table the first line that applies counts; a request stores at most eight keys.",
             "backend app\n    stick-table type string len 40 size 200k expire 30m\n    stick store-request src\n    server a 127.0.0.1:8001"},
     .parse = store_request},
    {.name = "stick store-response", .sections = sections,
     .doc = {"Stores which server a response with this key came from.", "KEY [table TABLE] [if|unless CONDITION]",
             "backend app\n    mode http\n    stick-table type string len 40 size 200k expire 30m\n    stick match req.cook(ID)\n    stick store-response res.cook(ID)\n"
             "    server a 127.0.0.1:8001"},
     .parse = store_response},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> stick_keywords() { return rows; }

} // namespace penstock
