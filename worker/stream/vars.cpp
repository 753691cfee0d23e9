// SPDX-License-Identifier: BSD-2-Clause
#include "worker/stream/vars.h"

#include <bit>

#include "shared/table/args.h"
#include "worker/stream/stream.h"
#include "worker/worker.h"

namespace penstock {

namespace {

/// Where the variables of a scope live.
struct Owner {
  VarNode **first = nullptr; // null: there is no such scope here
  Arena *arena = nullptr;
  u64 *bytes = nullptr;
  u64 max_bytes = 0;         // 0: no limit
};

/// Scope proc, of this process.
struct ProcessVars {
  Arena arena{4096};
  VarNode *first = nullptr;
  u64 bytes = 0;
};
ProcessVars &process_vars() {
  static ProcessVars v;
  return v;
}

/// Scope req ends where the server's response begins.
bool request_is_over(const EvalContext &ctx) {
  bool later = ctx.phase == Phase::Response || ctx.phase == Phase::AfterResponse || ctx.phase == Phase::Log;
  return later && ctx.stream->facts.times.response_us != 0;
}

Owner owner_of(const EvalContext &ctx, VarScope scope) {
  static const Tune no_limits;
  const Worker *worker = this_worker();
  const Tune &tune = worker && worker->config ? worker->config->global.tune : no_limits;
  Stream *stream = ctx.stream;
  switch (scope) {
    case VarScope::Proc: return {&process_vars().first, &process_vars().arena, &process_vars().bytes, tune.vars_proc_max};
    case VarScope::Sess:
      if (!ctx.session) return {};
      return {&ctx.session->vars, &ctx.session->arena(), &ctx.session->vars_bytes, tune.vars_sess_max};
    case VarScope::Txn: return stream ? Owner{&stream->txn_vars, &stream->arena(), &stream->vars_bytes, tune.vars_txn_max} : Owner{};
    case VarScope::Req: return stream && !request_is_over(ctx) ? Owner{&stream->req_vars, &stream->arena(), &stream->vars_bytes, tune.vars_reqres_max} : Owner{};
    case VarScope::Res: return stream ? Owner{&stream->res_vars, &stream->arena(), &stream->vars_bytes, tune.vars_reqres_max} : Owner{};
    case VarScope::Check: return ctx.check_vars ? Owner{ctx.check_vars, ctx.check_arena, ctx.check_vars_bytes, ctx.check_vars_limit} : Owner{};
  }
  return {};
}

VarNode *find(const Owner &owner, u32 slot) {
  if (!owner.first) return nullptr;
  for (VarNode *n = *owner.first; n; n = n->next)
    if (n->slot == slot) return n;
  return nullptr;
}

/// Of all scopes together (tune.vars.global-max-size).
u64 all_bytes = 0;

bool may_take(const Owner &owner, u64 bytes) {
  const Worker *worker = this_worker();
  u64 limit = worker && worker->config ? worker->config->global.tune.vars_global_max : 0;
  if (limit && all_bytes + bytes > limit) return false;
  return !owner.max_bytes || !owner.bytes || *owner.bytes + bytes <= owner.max_bytes;
}

bool has_text(const Sample &s) { return s.type == Type::Str || s.type == Type::Bin || (s.type == Type::Meth && !s.str.empty()); }

} // namespace

bool get_variable(const EvalContext &ctx, VarId id, Sample &out) {
  const VarNode *n = find(owner_of(ctx, id.scope), id.slot);
  if (!n || !n->is_set) return false;
  out = n->value;
  out.is_const = true;
  return true;
}

bool set_variable(EvalContext &ctx, VarId id, const Sample &value) {
  Owner owner = owner_of(ctx, id.scope);
  if (!owner.first) return false;
  VarNode *n = find(owner, id.slot);
  size_t length = has_text(value) ? value.str.size() : 0;
  u64 cost = (n ? 0 : sizeof(VarNode)) + (length > (n ? n->capacity : 0) ? length : 0);
  if (cost && !may_take(owner, cost)) return false;
  if (!n) {
    n = new (owner.arena->take(sizeof(VarNode), alignof(VarNode))) VarNode;
    n->slot = id.slot;
    n->next = *owner.first;
    *owner.first = n;
  }
  if (length > n->capacity) {
    n->capacity = static_cast<u32>(std::bit_ceil(length < 16 ? size_t{16} : length));
    n->text = owner.arena->chars(n->capacity);
  }
  if (owner.bytes) *owner.bytes += cost;
  if (id.scope != VarScope::Check) all_bytes += cost;
  if (length) std::memmove(n->text, value.str.data(), length); // the value may be this very variable's
  n->value = value;
  n->value.str = {n->text, length};
  n->value.may_change = false;
  n->is_set = true;
  return true;
}

void variables_gone(u64 bytes) { all_bytes -= bytes; }

void unset_variable(EvalContext &ctx, VarId id) {
  if (VarNode *n = find(owner_of(ctx, id.scope), id.slot)) n->is_set = false;
}

bool number_argument(EvalContext &ctx, const ArgValue &arg, i64 &out) {
  if (arg.type != ArgType::Var) {
    out = arg.num;
    return true;
  }
  Sample s;
  if (!get_variable(ctx, VarId::unpacked(arg.num), s) || !cast(s, Type::Int, ctx.scratch)) return false;
  out = s.num;
  return true;
}

bool text_argument(EvalContext &ctx, const ArgValue &arg, string_view &out) {
  if (arg.type != ArgType::Var) {
    out = arg.str;
    return true;
  }
  Sample s;
  if (!get_variable(ctx, VarId::unpacked(arg.num), s)) return false;
  if (s.type != Type::Bin && !cast(s, Type::Str, ctx.scratch)) return false;
  out = s.str;
  return true;
}

} // namespace penstock
