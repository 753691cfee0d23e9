// SPDX-License-Identifier: BSD-2-Clause
// `server`, `default-server` and `server-template` (manual, section 4.2). A configuration may have
// 50,000 servers: lines whose options read the same share one ServerOptions (Config::server_options_pool).
#include "master/config/kw_server.h"

#include "master/config/choice.h"
#include "master/config/kw_proxy.h"
#include "shared/base/text.h"

namespace penstock {

namespace {

/// The words from the cursor on and the default-server that they start from.
std::string pool_key(const Words &words, const void *base) {
  std::string key;
  const auto &all = words.all();
  for (size_t i = words.position(); i < all.size(); i++) {
    key += all[i].text;
    key += '\0';
  }
  key.append(reinterpret_cast<const char *>(&base), sizeof base);
  return key;
}

/// 'minconn' without a higher 'maxconn' leaves nothing to follow the load: it is the limit then.
void settle_limits(ServerOptions &o) {
  if (o.minconn < o.maxconn || o.minconn == 0) return;
  o.maxconn = o.minconn;
  o.minconn = 0;
}

/// The options of the rest of the line; null after a mistake.
const PooledServerOptions *read_options(LineContext &ctx) {
  const auto &base = ctx.settings->default_server;
  std::string key = pool_key(ctx.words, base.get());
  auto &pool = ctx.config.server_options_pool;
  if (auto at = pool.find(key); at != pool.end()) {
    while (!ctx.words.at_end()) ctx.words.next();
    return &at->second;
  }
  ServerLine line;
  if (base) line.options = *base;
  line.cookie = line.options.cookie;
  if (!parse_line_options(ctx, server_option_index(), &line)) return nullptr;
  settle_limits(line.options);
  PooledServerOptions &made = pool[std::move(key)];
  made.base = base;
  made.options = std::make_shared<ServerOptions>(std::move(line.options));
  made.id = line.id;
  made.cookie = std::move(line.cookie);
  return &made;
}

bool good_name(string_view name) {
  for (char c : name)
    if (!is_alpha(c) && !is_digit(c) && c != '-' && c != '_' && c != '.' && c != ':') return false;
  return !name.empty();
}

/// The name at the cursor; alerts at it.
std::optional<string_view> read_name(Words &words, string_view what) {
  auto name = words.need(what);
  if (!name) return std::nullopt;
  if (good_name(*name)) return name;
  words.alert_last("'" + std::string(*name) + "' is not a name (letters, digits, '-', '_', '.' and ':')");
  return std::nullopt;
}

void set_address(Server &server, const AddressWord &a) {
  server.address = a.address;
  server.host = a.host;
  server.host_family = a.family_hint;
  server.fd = a.fd;
  bool inet = !a.host.empty() || a.address.is_inet();
  server.port_from_client = inet && (!a.has_port || a.relative_port);
  server.port_offset = a.port_offset;
  if (!server.port_from_client) server.port = a.port_low;
}

constexpr AddressRules server_address_rules = {.relative_port = true, .resolve = false, .fd = true};

void add_server(LineContext &ctx, std::unique_ptr<Server> server) {
  server->proxy = ctx.proxy;
  server->index = static_cast<u32>(ctx.proxy->servers.size());
  server->global_index = ctx.config.server_count++;
  ctx.proxy->servers.push_back(std::move(server));
}

void server(LineContext &ctx) {
  Place place = ctx.words.place();
  auto name = read_name(ctx.words, "the server's name and address");
  if (!name) return;
  auto made = std::make_unique<Server>();
  made->name = *name;
  made->place = place;
  AddressWord address;
  if (!parse_address(ctx.words, server_address_rules, address)) return;
  set_address(*made, address);
  const PooledServerOptions *options = read_options(ctx);
  if (!options) return;
  made->options = options->options;
  made->id = options->id;
  made->cookie = options->cookie;
  add_server(ctx, std::move(made));
}

void default_server(LineContext &ctx) {
  if (ctx.words.at_end()) {
    ctx.words.alert("'default-server' expects at least one option");
    return;
  }
  ServerLine line;
  line.is_default = true;
  if (ctx.settings->default_server) line.options = *ctx.settings->default_server;
  if (parse_line_options(ctx, server_option_index(), &line))
    ctx.settings->default_server = std::make_shared<ServerOptions>(std::move(line.options));
}

/// Where requests go that are bound to no server; no server to balancing, statistics or logs.
void dispatch(LineContext &ctx) {
  auto made = std::make_unique<Server>();
  made->place = ctx.words.place();
  AddressWord address;
  if (!parse_address(ctx.words, {.port_required = true, .resolve = false}, address) || !ctx.words.end()) return;
  set_address(*made, address);
  ctx.proxy->direct = std::move(made);
}

/// "5" or "2-7".
bool parse_count(Words &words, u32 &from, u32 &to) {
  auto word = words.need("a number of servers, or a range such as 1-5");
  if (!word) return false;
  size_t dash = word->find('-');
  auto low = parse_u64(word->substr(0, dash));
  auto high = dash == string_view::npos ? low : parse_u64(word->substr(dash + 1));
  from = dash == string_view::npos ? 1 : static_cast<u32>(low.value_or(0));
  to = static_cast<u32>(high.value_or(0));
  if (low && high && from <= to && *high <= 100'000) return true;
  words.alert_last("'server-template' expects a number of servers, or a range such as 1-5, got '" + std::string(*word) + "'");
  return false;
}

void server_template(LineContext &ctx) {
  Place place = ctx.words.place();
  auto prefix = read_name(ctx.words, "a prefix for the servers' names");
  u32 from = 0, to = 0;
  AddressWord address;
  if (!prefix || !parse_count(ctx.words, from, to) || !parse_address(ctx.words, server_address_rules, address)) return;
  const PooledServerOptions *options = read_options(ctx);
  if (!options) return;
  for (u32 i = from; i <= to; i++) {
    auto made = std::make_unique<Server>();
    made->name = std::string(*prefix) + std::to_string(i);
    made->place = place;
    set_address(*made, address);
    made->options = options->options;
    made->id = options->id ? options->id + (i - from) : 0;
    made->cookie = options->cookie;
    add_server(ctx, std::move(made));
  }
}

constexpr KeywordDef rows[] = {
    {.name = "default-server", .sections = in_back,
     .doc = {"Options for all servers that follow.", "Lines add up; a server's own words come last.",
             "backend app\n    default-server inter 1s maxconn 100 check\n    server a 127.0.0.1:8001\n    server b 127.0.0.1:8002"},
     .parse = default_server},
    {.name = "dispatch", .sections = in_backend | in_listen,
     .doc = {"Where requests go that no server is bound to by persistence or 'use-server'.", "Only without a 'balance' line, which chooses among the servers instead.",
             "backend app\n    dispatch 127.0.0.1:8001"},
     .parse = dispatch},
    {.name = "server", .sections = in_backend | in_listen,
     .doc = {"A server of the backend.",
             "The address is 'HOST[:PORT]', a path, or has a prefix (ipv4@ ipv6@ unix@ abns@ abnsz@). Without a port, or with one that starts with "
             "'+' or '-', the port that the client connected to is used, moved by that much. Host names are resolved at start.",
             "backend app\n    balance roundrobin\n    server a 127.0.0.1:8001 check inter 1s weight 10\n    server b 127.0.0.1:8002 backup"},
     .parse = server},
    {.name = "server-template", .sections = in_backend | in_listen,
     .doc = {"Several servers of one line.", "Their names are the prefix followed by the number.", "backend app\n    server-template srv 1-3 127.0.0.1:8001 check"},
     .parse = server_template},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> server_keywords() { return rows; }

} // namespace penstock
