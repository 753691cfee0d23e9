// SPDX-License-Identifier: BSD-2-Clause
#include "master/config/sections.h"

#include <algorithm>

#include "shared/base/text.h"

namespace penstock {

namespace {

constexpr string_view name_characters = "-_.:"; // beside letters and digits, in the name of a proxy

bool is_proxy_name(string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return is_alpha(c) || is_digit(c) || name_characters.find(c) != string_view::npos; });
}

bool open_global(LineContext &, string_view) { return true; }

bool open_defaults(LineContext &ctx, string_view name) {
  if (!name.empty() && !is_proxy_name(name)) {
    ctx.words.alert_last("'" + std::string(name) + "' is not a valid name: letters, digits and - _ . : are");
    return false;
  }
  auto defaults = std::make_unique<Defaults>();
  defaults->name = name;
  defaults->place = ctx.words.line_place();
  const Defaults *from = nullptr;
  if (ctx.words.peek() == "from") inherit_defaults(ctx, *defaults, from);
  if (from) defaults->rules = from->rules;
  ctx.defaults = defaults.get();
  ctx.settings = defaults.get();
  ctx.config.defaults.push_back(std::move(defaults));
  return true;
}

/// `listen NAME ADDRESS:PORT`, as in old files.
bool has_bind_address(const Words &words) { return !words.at_end() && words.peek() != "from"; }

void legacy_bind(LineContext &ctx) {
  ctx.words.warning("an address on the '" + std::string(find_section_by_bit(ctx.section)->name) + "' line is an old form", "write a 'bind' line");
  Word address = ctx.words.all()[ctx.words.position()];
  ctx.words.next();
  Words line({{"bind", address.column}, address}, ctx.words.line_place(), ctx.diags());
  LineContext bind{.words = line, .config = ctx.config, .section = ctx.section};
  bind.settings = ctx.settings, bind.proxy = ctx.proxy;
  parse_line_in_section(bind);
}

void replay_rules(LineContext &ctx, const Defaults &defaults) {
  for (const KeptLine &kept : defaults.rules) {
    Diagnostics already_told; // their mistakes were reported where they stand
    Words words(kept.words, kept.place, already_told);
    LineContext line{.words = words, .config = ctx.config, .section = ctx.section};
    line.settings = ctx.settings, line.proxy = ctx.proxy;
    parse_line_in_section(line);
  }
}

template <bool frontend, bool backend> bool open_proxy(LineContext &ctx, string_view name) {
  if (!is_proxy_name(name)) {
    ctx.words.alert_last("'" + std::string(name) + "' is not a valid name: letters, digits and - _ . : are");
    return false;
  }
  auto proxy = std::make_unique<Proxy>();
  proxy->name = name;
  proxy->place = ctx.words.line_place();
  proxy->is_frontend = frontend;
  proxy->is_backend = backend;
  proxy->index = static_cast<u32>(ctx.config.proxies.size());
  ctx.proxy = proxy.get();
  ctx.settings = proxy.get();
  ctx.config.proxies.push_back(std::move(proxy));

  // An address may stand before `from`; settings come first so that the bind line sees them.
  size_t address_at = ctx.words.position();
  bool legacy_address = frontend && has_bind_address(ctx.words);
  if (legacy_address) ctx.words.next();
  const Defaults *from = nullptr;
  inherit_defaults(ctx, *ctx.proxy, from); // after an alert the lines are still worth reading
  if (legacy_address) {
    size_t after = ctx.words.position();
    ctx.words.rewind(address_at);
    legacy_bind(ctx);
    ctx.words.rewind(after);
  }
  ctx.proxy->defaults = from;
  if (from) replay_rules(ctx, *from);
  return true;
}

bool open_userlist(LineContext &ctx, string_view name) {
  if (ctx.config.userlist(name)) {
    ctx.words.alert_last("there is a userlist '" + std::string(name) + "' already");
    return false;
  }
  auto list = std::make_unique<Userlist>();
  list->name = name;
  list->place = ctx.words.line_place();
  ctx.userlist = list.get();
  ctx.config.userlists.push_back(std::move(list));
  return true;
}

/// Several sections of one name add to each other.
bool open_http_errors(LineContext &ctx, string_view name) {
  auto &all = ctx.config.http_errors;
  auto found = std::find_if(all.begin(), all.end(), [&](auto &e) { return e->name == name; });
  if (found == all.end()) {
    all.push_back(std::make_unique<HttpErrors>());
    all.back()->name = name;
    all.back()->place = ctx.words.line_place();
    found = all.end() - 1;
  }
  ctx.http_errors = found->get();
  return true;
}

bool open_peers(LineContext &ctx, string_view name) {
  ctx.config.peers_name = name;
  return true;
}

bool open_ring(LineContext &ctx, string_view name) {
  for (auto &ring : ctx.config.rings) {
    if (ring->name != name) continue;
    ctx.words.alert_last("there is a ring '" + std::string(name) + "' already, at line " + std::to_string(ring->place.line));
    return false;
  }
  auto &ring = ctx.config.rings.emplace_back(std::make_unique<Ring>());
  ring->name = ring->description = name;
  ring->place = ctx.words.line_place();
  ctx.other = ring.get();
  return true;
}

constexpr SectionDef rows[] = {
    {.name = "acme", .bit = in_acme, .doc = {.summary = "An account at a certificate authority that issues certificates automatically."}, .standing = Standing::Planned},
    {.name = "backend", .bit = in_backend, .takes_name = SectionName::Required,
     .doc = {.summary = "A group of servers and how traffic is spread over them.",
             .text = "Frontends choose a backend with use_backend or default_backend.",
             .example = "backend app\n    server s1 127.0.0.1:8080"},
     .open = open_proxy<false, true>},
    {.name = "cache", .bit = in_cache, .doc = {.summary = "A store of small HTTP answers."}, .standing = Standing::Planned},
    {.name = "crt-store", .bit = in_crt_store, .doc = {.summary = "Where certificates come from, by name."}, .standing = Standing::Planned},
    {.name = "defaults", .bit = in_defaults, .takes_name = SectionName::Optional,
     .doc = {.summary = "Settings that the proxies below start from.",
             .text = "A proxy copies the nearest defaults section above it, or the one named after 'from'. A named section may also hold rules.",
             .example = "defaults web\n    mode http\n    timeout client 30s\n    timeout connect 5s\n    timeout server 30s"},
     .open = open_defaults},
    {.name = "fcgi-app", .bit = in_fcgi_app, .doc = {.summary = "A FastCGI application that servers of a backend run."}, .standing = Standing::Planned},
    {.name = "frontend", .bit = in_frontend, .takes_name = SectionName::Required,
     .doc = {.summary = "Addresses that clients connect to, and rules for what they send.",
             .text = "",
             .example = "frontend www\n    bind 127.0.0.1:8080\n    default_backend app\nbackend app\n    server s1 127.0.0.1:8081"},
     .open = open_proxy<true, false>},
    {.name = "global", .bit = in_global,
     .doc = {.summary = "Settings of the whole service.", .text = "Several of them add to each other in order.", .example = "global\n    maxconn 1000"},
     .open = open_global},
    {.name = "http-errors", .bit = in_http_errors, .takes_name = SectionName::Required,
     .doc = {.summary = "A set of error answers that several proxies use.", .text = "Proxies load them with 'errorfiles NAME'.",
             .example = "http-errors site\n    errorfile 503 /dev/null"},
     .open = open_http_errors},
    {.name = "listen", .bit = in_listen, .takes_name = SectionName::Required,
     .doc = {.summary = "A frontend and its backend in one section.", .text = "",
             .example = "listen app\n    bind 127.0.0.1:8080\n    server s1 127.0.0.1:8081"},
     .open = open_proxy<true, true>},
    {.name = "log-forward", .bit = in_log_forward, .doc = {.summary = "Receives syslog messages and passes them on."}, .standing = Standing::Planned},
    {.name = "log-profile", .bit = in_log_profile, .doc = {.summary = "Formats of log lines by the step that emits them."}, .standing = Standing::Planned},
    {.name = "mailers", .bit = in_mailers, .doc = {.summary = "Mail servers that take alerts."}, .standing = Standing::Planned},
    {.name = "peers", .bit = in_peers, .takes_name = SectionName::Required,
     .doc = {.summary = "Stick tables that belong to no proxy.",
             .text = "Each 'table' line declares one, known to rules as SECTION/NAME. Sharing tables with other hosts is not supported yet.",
             .example = "peers limits\n    table per_ip type ip size 100k expire 10m store http_req_rate(10s)"},
     .open = open_peers},
    {.name = "program", .bit = in_program, .doc = {.summary = "A program that the master runs beside the workers."}, .standing = Standing::Planned},
    {.name = "resolvers", .bit = in_resolvers, .doc = {.summary = "Name servers that server addresses are looked up at."}, .standing = Standing::Planned},
    {.name = "ring", .bit = in_ring, .takes_name = SectionName::Required,
     .doc = {.summary = "A buffer in memory for log lines.",
             .text = "'log ring@NAME' fills it from all processes, the newest lines take the place of the oldest. 'show events NAME' of the runtime socket reads it, and "
                     "its servers get each line over TCP. It is kept over reloads.",
             .example = "ring recent\n    format rfc5424\n    size 1m\nglobal\n    log ring@recent local0"},
     .open = open_ring},
    {.name = "traces", .bit = in_traces, .doc = {.summary = "Which internal events are traced, and where to."}, .standing = Standing::Planned},
    {.name = "userlist", .bit = in_userlist, .takes_name = SectionName::Required,
     .doc = {.summary = "Users, their passwords and groups, for http_auth and the statistics page.", .text = "",
             .example = "userlist staff\n    group admins users ann\n    user ann insecure-password secret"},
     .open = open_userlist},
};

} // namespace

std::span<const SectionDef> section_rows() { return rows; }

const SectionDef *find_section(string_view word) {
  auto it = std::lower_bound(std::begin(rows), std::end(rows), word, [](const SectionDef &row, string_view w) { return row.name < w; });
  return it != std::end(rows) && it->name == word ? it : nullptr;
}

const SectionDef *find_section_by_bit(u32 bit) {
  auto it = std::find_if(std::begin(rows), std::end(rows), [&](const SectionDef &row) { return row.bit == bit; });
  return it == std::end(rows) ? nullptr : it;
}

bool inherit_defaults(LineContext &ctx, ProxySettings &into, const Defaults *&source) {
  auto &all = ctx.config.defaults;
  Defaults *from = all.empty() ? nullptr : all.back().get();
  if (ctx.words.take("from")) {
    auto name = ctx.words.need("the name of a 'defaults' section after 'from'");
    if (!name) return false;
    auto named = std::find_if(all.rbegin(), all.rend(), [&](auto &d) { return d->name == *name; });
    if (named == all.rend()) {
      NearMiss near(*name);
      for (auto &d : all) near.consider(d->name);
      ctx.words.alert_last("there is no 'defaults' section named '" + std::string(*name) + "' above this line", near.hint());
      return false;
    }
    auto other = std::find_if(named + 1, all.rend(), [&](auto &d) { return d->name == *name; });
    if (other != all.rend()) {
      ctx.words.alert_last("there are several 'defaults' sections named '" + std::string(*name) + "' above this line, at lines " +
                           std::to_string((*other)->place.line) + " and " + std::to_string((*named)->place.line));
      return false;
    }
    from = named->get();
  }
  if (!from) return true;
  from->used = true;
  into = static_cast<const ProxySettings &>(*from);
  source = from;
  return true;
}

} // namespace penstock
