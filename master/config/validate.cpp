// SPDX-License-Identifier: BSD-2-Clause
// What only the whole configuration tells: missing addresses and timeouts, keywords that the proxy's
// mode cannot serve, servers that cannot be checked. A warning is given where traffic would go another
// way than the text says, and nowhere else: people run with -dW. What was merely inherited from a
// defaults section and does not apply is dropped without a word.
#include <unistd.h>

#include <algorithm>

#include "master/config/resolve.h"
#include "shared/model/config.h"
#include "shared/table/words.h"

namespace penstock {

namespace {

bool is_set(Millis timeout) { return timeout > 0; }

void check_binds(const Proxy &proxy, Diagnostics &diags) {
  if (proxy.is_frontend && proxy.binds.empty())
    diags.warning(proxy.place, proxy_text(proxy) + " has no 'bind' line", "if this is on purpose, declare it as a backend");
}

void check_timeouts(const Proxy &proxy, Diagnostics &diags) {
  std::string missing;
  auto want = [&](bool present, string_view name) {
    if (!present) missing += (missing.empty() ? "'" : ", '") + std::string(name) + "'";
  };
  if (proxy.is_frontend) want(is_set(proxy.timeout.client), "timeout client");
  if (proxy.is_backend && (!proxy.servers.empty() || proxy.direct)) {
    want(is_set(proxy.timeout.connect), "timeout connect");
    want(is_set(proxy.timeout.server), "timeout server");
  }
  if (!missing.empty())
    diags.warning(proxy.place, proxy_text(proxy) + " has no " + missing, "connections whose other side vanished would stay for ever");
}

// ------------------------------------------------------------------------------- what mode tcp cannot do

struct RuleSetRow {
  string_view name;
  RuleList Proxy::*rules;
};
constexpr RuleSetRow http_rule_sets[] = {
    {"http-request", &Proxy::http_request},
    {"redirect", &Proxy::redirects},
    {"http-response", &Proxy::http_response},
    {"http-after-response", &Proxy::http_after},
};

void drop_http_rules(Proxy &proxy, Diagnostics &diags) {
  for (const RuleSetRow &set : http_rule_sets) {
    RuleList &rules = proxy.*set.rules;
    if (rules.empty()) continue;
    diags.warning(rules.front()->place, "the '" + std::string(set.name) + "' rules of " + proxy_text(proxy) + " are ignored: they need 'mode http'");
    rules.clear();
  }
}

template <class Part> void drop_part(Proxy &proxy, std::shared_ptr<const Part> ProxySettings::*part, string_view name, Diagnostics &diags) {
  if (!(proxy.*part)) return;
  if (!proxy.defaults || proxy.defaults->*part != proxy.*part)
    diags.warning(proxy.place, "'" + std::string(name) + "' of " + proxy_text(proxy) + " is ignored: it needs 'mode http'");
  (proxy.*part).reset();
}

bool needs_http(BalanceAlgorithm algorithm) {
  return algorithm == BalanceAlgorithm::Uri || algorithm == BalanceAlgorithm::UrlParam || algorithm == BalanceAlgorithm::Hdr;
}

void check_tcp_mode(Proxy &proxy, Diagnostics &diags) {
  drop_http_rules(proxy, diags);
  drop_part(proxy, &ProxySettings::forwardfor, "option forwardfor", diags);
  drop_part(proxy, &ProxySettings::originalto, "option originalto", diags);
  drop_part(proxy, &ProxySettings::stats, "stats", diags);
  if (!proxy.is_backend) return;
  drop_part(proxy, &ProxySettings::cookie, "cookie", diags);
  if (needs_http(proxy.balance.algorithm)) {
    if (!proxy.defaults || proxy.defaults->balance.algorithm != proxy.balance.algorithm)
      diags.warning(proxy.place, "the 'balance' algorithm of " + proxy_text(proxy) + " needs 'mode http'", "'balance roundrobin' is used instead");
    proxy.balance = {};
  }
}

// ----------------------------------------------------------------------------------- unreachable rules

constexpr RuleSetRow all_rule_sets[] = {
    {"tcp-request connection", &Proxy::tcp_connection}, {"tcp-request session", &Proxy::tcp_session}, {"tcp-request content", &Proxy::tcp_request},
    {"tcp-response content", &Proxy::tcp_response},     {"http-request", &Proxy::http_request},       {"http-response", &Proxy::http_response},
    {"http-after-response", &Proxy::http_after},
};

void check_reachable(const Proxy &proxy, Diagnostics &diags) {
  for (const RuleSetRow &set : all_rule_sets) {
    const RuleList &rules = proxy.*set.rules;
    for (size_t i = 0; i + 1 < rules.size(); i++) {
      if (!rules[i]->action->is_final || rules[i]->condition.present) continue;
      diags.warning(rules[i + 1]->place, "this '" + std::string(set.name) + "' rule and those after it are never reached",
                    "the one at line " + std::to_string(rules[i]->place.line) + " ends the list and has no condition");
      break;
    }
  }
}

// ---------------------------------------------------------------------------------------------- checks

bool is_http_check(const CheckSettings &check) { return check.kind == CheckKind::Http; }

void check_check_rules(const Proxy &proxy, const Global &global, Diagnostics &diags) {
  const CheckSettings *check = proxy.check.get();
  if (!check || (proxy.defaults && proxy.defaults->check == proxy.check)) return;
  if (check->kind == CheckKind::External) {
    if (!global.external_check) diags.alert(proxy.place, "'option external-check' of " + proxy_text(proxy) + " needs 'external-check' in the global section");
    if (check->external_command.empty()) diags.alert(proxy.place, "'option external-check' of " + proxy_text(proxy) + " needs 'external-check command'");
  } else if ((!check->http_steps.empty() || !check->tcp_steps.empty()) && !is_http_check(*check) && check->kind != CheckKind::TcpScript) {
    diags.warning(proxy.place, "the check rules of " + proxy_text(proxy) + " are ignored", "add 'option httpchk' or 'option tcp-check'");
  }
}

/// A health check must know a port to connect to.
void check_check_ports(const Proxy &proxy, Diagnostics &diags) {
  for (const auto &server : proxy.servers) {
    const ServerOptions &o = *server->options;
    std::string name = "server '" + proxy.name + "/" + server->name + "'";
    if (o.agent_check && o.agent_port == 0) diags.alert(server->place, name + " has 'agent-check' without 'agent-port'");
    if (!o.check || o.check_port != 0 || server->address.family == AF_UNIX || server->fd >= 0) continue;
    if (proxy.check && proxy.check->kind == CheckKind::External) continue;
    if (o.check_addr && o.check_addr.port != 0) continue;
    bool scripted = proxy.check && std::any_of(proxy.check->steps.begin(), proxy.check->steps.end(), [](const CheckStepPtr &s) { return s->kind == CheckStep::Connect && (s->port || s->port_expr); });
    if (!scripted && (server->port_from_client || server->port == 0))
      diags.alert(server->place, name + " has neither a port of its own nor a port for its checks", "add 'port N'");
  }
}

// ------------------------------------------------------------------------------------------------ other

/// The host's own name where none is given.
void settle_node(Global &global) {
  char name[256] = {};
  if (global.node.empty() && gethostname(name, sizeof name - 1) == 0) global.node = name;
}

/// Half of a buffer at most is kept for what rules add.
void settle_buffers(Tune &tune) { tune.maxrewrite = std::min(tune.maxrewrite, tune.bufsize / 2); }

} // namespace

void validate_configuration(Config &config, Diagnostics &diags) {
  const bool failed = diags.failed();
  settle_buffers(config.global.tune);
  settle_node(config.global);
  for (const auto &proxy : config.proxies) {
    if (proxy->disabled) continue;
    if (!failed) { // else they may be missing only because their lines have mistakes
      check_binds(*proxy, diags);
      check_timeouts(*proxy, diags);
    }
    proxy->capture_cookie_length = std::min(proxy->capture_cookie_length, config.global.tune.http_cookielen);
    if (proxy->mode != Mode::Http) check_tcp_mode(*proxy, diags);
    check_reachable(*proxy, diags);
    if (!proxy->is_backend) continue;
    check_check_rules(*proxy, config.global, diags);
    check_check_ports(*proxy, diags);
  }
}

} // namespace penstock
