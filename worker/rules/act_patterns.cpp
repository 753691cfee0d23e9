// SPDX-License-Identifier: BSD-2-Clause
// set-map, del-map, add-acl, del-acl: rules that change lists of patterns (shared/expr/pattern_store.h). A
// change is there for every worker when the rule is done. One that cannot be made (the key is malformed
// for a way in which the list is used, the store is full) is left out: traffic goes on.
#include "shared/expr/pattern.h"
#include "shared/expr/run.h"
#include "shared/model/config.h"
#include "worker/rules/rows.h"

namespace penstock {

namespace {

struct PatternAction : ActionData {
  PatternList *list = nullptr;
  LogFormat key, value;
};

bool parse(Compiler &compiler, std::unique_ptr<ActionData> &out, bool with_value) {
  auto data = std::make_unique<PatternAction>();
  Config &config = compiler.config();
  if (!config.pattern_files) config.pattern_files = std::make_shared<PatternFiles>();
  std::string error;
  data->list = config.pattern_files->of_rule(compiler.action_argument(), compiler.words().place(), error);
  if (!data->list) {
    compiler.words().alert_last(error);
    return false;
  }
  auto key = compiler.log_format_word("a key");
  if (!key) return false;
  data->key = std::move(*key);
  if (with_value) {
    auto value = compiler.log_format_word("a value");
    if (!value) return false;
    data->value = std::move(*value);
  }
  out = std::move(data);
  return true;
}
bool parse_key(Compiler &compiler, std::unique_ptr<ActionData> &out) { return parse(compiler, out, false); }
bool parse_key_and_value(Compiler &compiler, std::unique_ptr<ActionData> &out) { return parse(compiler, out, true); }

const PatternAction &of(const ActionData *d) { return *static_cast<const PatternAction *>(d); }

Verdict run_set_map(EvalContext &ctx, const ActionData *d) {
  string_view key = format(ctx, of(d).key), value = format(ctx, of(d).value);
  std::string error;
  of(d).list->put(key, value, error);
  return Verdict::Next;
}
Verdict run_add_acl(EvalContext &ctx, const ActionData *d) {
  std::string error;
  of(d).list->add_once(format(ctx, of(d).key), error);
  return Verdict::Next;
}
Verdict run_delete(EvalContext &ctx, const ActionData *d) {
  of(d).list->remove(format(ctx, of(d).key));
  return Verdict::Next;
}

constexpr u32 messages = at_http_request | at_http_response, with_after = at_any_http;
constexpr ActionDef rows[] = {
    {.name = "add-acl(", .sets = messages, .doc = {"Adds a pattern to the list that an ACL loads with -f, unless it is there.", "The name is that of the file, or virt@ and any name. Every worker sees the change at once; a reload forgets it.", "http-request add-acl(virt@seen) %[src] if { path /hello }\nhttp-request deny if { src -f virt@seen } { path /once }"}, .parse = parse_key, .run = run_add_acl},
    {.name = "del-acl(", .sets = with_after, .doc = {"Takes a pattern out of the list that an ACL loads with -f.", "", "http-request del-acl(virt@seen) %[src] if { path /bye }\nhttp-request deny if { src -f virt@seen }"}, .parse = parse_key, .run = run_delete},
    {.name = "del-map(", .sets = with_after, .doc = {"Takes a key out of a map.", "", "http-request del-map(virt@homes) %[src] if { path /move }\nhttp-request set-header X-Home %[src,map_ip(virt@homes)]"}, .parse = parse_key, .run = run_delete},
    {.name = "set-map(", .sets = with_after, .doc = {"Gives a key of a map another value, or adds it.", "It costs about what a look-up costs, however large the map is. Every worker sees the change at once; a reload forgets it.", "http-request set-map(virt@homes) %[src] %[path] if { path_beg /home/ }\nhttp-request set-header X-Home %[src,map_ip(virt@homes)]"}, .parse = parse_key_and_value, .run = run_set_map},
};
static_assert(sorted_and_documented<ActionDef>(rows));

} // namespace

std::span<const ActionDef> act_patterns() { return rows; }

} // namespace penstock
