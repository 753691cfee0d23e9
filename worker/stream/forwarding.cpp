// SPDX-License-Identifier: BSD-2-Clause
#include "worker/stream/forwarding.h"

#include <algorithm>

#include "shared/base/text.h"
#include "shared/expr/run.h"
#include "worker/http/forwarded.h"

namespace penstock {

namespace {

using Option = std::shared_ptr<const ForwardHeader> ProxySettings::*;

bool is_excepted(const ForwardHeader *option, const Ip &ip) {
  return option != nullptr && std::any_of(option->except.begin(), option->except.end(), [&](const Network &n) { return n.contains(ip); });
}

/// One of the two proxies wanting it is enough; the backend's name counts first, any exception keeps it away, and
/// `if-none` only when both agree.
void add_address(Stream &s, Option option, const Address &address) {
  const ForwardHeader *front = (s.frontend().*option).get(), *back = (s.backend().*option).get();
  if (front != nullptr && !front->enabled) front = nullptr;
  if (back != nullptr && !back->enabled) back = nullptr;
  if ((front == nullptr && back == nullptr) || !address.is_inet()) return;
  if (is_excepted(front, address.ip) || is_excepted(back, address.ip)) return;
  const std::string &name = back != nullptr ? back->header : front->header;
  bool if_none = (front == nullptr || front->if_none) && (back == nullptr || back->if_none);
  HttpMessage &m = s.request();
  if (if_none && m.find(name) != HttpMessage::npos) return;
  char text[64];
  m.add(name, {text, address.ip.write(text)});
}

/// The value of an expression as an address or as text; neither: the node is unknown.
ForwardedNode node_of(EvalContext &ctx, const ForwardedPart &part, const Address &implied) {
  ForwardedNode node;
  if (!part.expr) {
    node.ip = implied.ip;
    return node;
  }
  Sample sample;
  if (!evaluate(ctx, *part.expr, sample)) return node;
  if (sample.type == Type::Ipv4 || sample.type == Type::Ipv6) node.ip = sample.ip;
  else if (cast(sample, Type::Str, ctx.scratch)) node.name = sample.str;
  return node;
}

string_view port_of(EvalContext &ctx, const ForwardedPart &part, const Address &implied) {
  if (!part.enabled) return {};
  if (!part.expr) {
    if (!implied.is_inet()) return {};
    char *text = ctx.scratch.chars(24);
    return {text, static_cast<size_t>(write_u64(text, implied.port) - text)};
  }
  Sample sample;
  return evaluate_as(ctx, *part.expr, Type::Str, sample) ? sample.str : string_view{};
}

string_view host_of(EvalContext &ctx, const ForwardedPart &part, HttpMessage &request) {
  if (!part.expr) return request.get(Header::Host);
  Sample sample;
  return evaluate_as(ctx, *part.expr, Type::Str, sample) ? sample.str : string_view{};
}

void add_forwarded(Stream &s, const ForwardedHeader &option) {
  EvalContext ctx = s.context(Phase::Request, s.backend(), true);
  const Address &source = s.session().source(), &destination = s.session().destination();
  std::string value;
  if (option.proto) value = "proto=http"; // until TLS comes
  if (option.host.enabled) append_forwarded_host(value, host_of(ctx, option.host, s.request()));
  if (option.by.enabled)
    append_forwarded_node(value, "by", node_of(ctx, option.by, destination), port_of(ctx, option.by_port, destination), option.by_port.enabled);
  if (option.for_.enabled)
    append_forwarded_node(value, "for", node_of(ctx, option.for_, source), port_of(ctx, option.for_port, source), option.for_port.enabled);
  if (!value.empty()) s.request().add(Header::Forwarded, value);
}

bool plain_name(string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return is_alpha(c) || is_digit(c) || c == '-'; });
}

} // namespace

void add_forwarding_fields(Stream &s) {
  add_address(s, &ProxySettings::forwardfor, s.session().source());
  add_address(s, &ProxySettings::originalto, s.session().destination());
  if (s.backend().forwarded && s.backend().forwarded->enabled) add_forwarded(s, *s.backend().forwarded);
}

bool allow_field_names(HttpMessage &request, const Proxy &p) {
  if (p.restrict_header_names == ProxySettings::HeaderNames::Preserve) return true;
  for (size_t i = 0; i < request.size();) {
    if (request.field(i).id != Header::Other || plain_name(request.name(i))) {
      i++;
      continue;
    }
    if (p.restrict_header_names == ProxySettings::HeaderNames::Reject) return false;
    request.remove(i);
  }
  return true;
}

} // namespace penstock
