// SPDX-License-Identifier: BSD-2-Clause
// Parse functions for rows whose whole meaning is "put the value there":
//   {.name = "maxconn", …, .parse = set_number<&Global::maxconn, 0, 1'000'000'000>}
// The member may be one of Global, Tune, ProxySettings or Proxy; which object it is follows from its class.
#pragma once

#include "master/config/parser.h"

namespace penstock {

template <class Class, class Value> Class slot_class(Value Class::*);
template <auto Member> using ClassOf = decltype(slot_class(Member));

template <class T> struct SlotOwner;
template <> struct SlotOwner<Global> { static Global &of(LineContext &ctx) { return ctx.config.global; } };
template <> struct SlotOwner<Tune> { static Tune &of(LineContext &ctx) { return ctx.config.global.tune; } };
template <> struct SlotOwner<ProxySettings> { static ProxySettings &of(LineContext &ctx) { return *ctx.settings; } };
template <> struct SlotOwner<Timeouts> { static Timeouts &of(LineContext &ctx) { return ctx.settings->timeout; } };

template <auto Member> auto &slot(LineContext &ctx) {
  if constexpr (std::is_same_v<ClassOf<Member>, Proxy>) return ctx.proxy->*Member;
  else return SlotOwner<ClassOf<Member>>::of(ctx).*Member;
}

template <auto Member, i64 min, i64 max> void set_number(LineContext &ctx) {
  if (auto v = ctx.words.need_int("a number", min, max)) slot<Member>(ctx) = static_cast<std::decay_t<decltype(slot<Member>(ctx))>>(*v);
}
template <auto Member> void set_delay(LineContext &ctx) {
  if (auto v = ctx.words.need_delay("a delay")) slot<Member>(ctx) = *v;
}
template <auto Member, u64 min, u64 max> void set_size(LineContext &ctx) {
  auto v = ctx.words.need_size("a size");
  if (!v) return;
  if (*v < min || *v > max) {
    ctx.words.alert_last("'" + std::string(ctx.words.subject()) + "' must be from " + std::to_string(min) + " to " + std::to_string(max));
    return;
  }
  slot<Member>(ctx) = static_cast<std::decay_t<decltype(slot<Member>(ctx))>>(*v);
}
template <auto Member> void set_text(LineContext &ctx) {
  if (auto v = ctx.words.need("a value")) slot<Member>(ctx) = *v;
}
/// A word that stands alone; `no WORD` takes it back.
template <auto Member, bool value = true> void set_flag(LineContext &ctx) {
  slot<Member>(ctx) = (ctx.negation == Negation::No) != value;
}
/// `on` or `off`.
template <auto Member> void set_on_off(LineContext &ctx) {
  auto v = ctx.words.need("'on' or 'off'");
  if (!v) return;
  if (*v != "on" && *v != "off") ctx.words.alert_last("'" + std::string(ctx.words.subject()) + "' expects 'on' or 'off', got '" + std::string(*v) + "'");
  else slot<Member>(ctx) = *v == "on";
}

} // namespace penstock
