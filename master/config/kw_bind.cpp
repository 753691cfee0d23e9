// SPDX-License-Identifier: BSD-2-Clause
// `bind ADDR[,ADDR…] [options]`. One Bind per address and port: lists and ranges are expanded here
// (manual, section 4.2 'bind'). An old `listen NAME ADDR:PORT` line comes as a `bind` line too.
#include "master/config/kw_proxy.h"
#include "shared/base/text.h"

namespace penstock {

namespace {

/// All the addresses of one word, ranges expanded, as `made` with `from`'s place.
bool expand_addresses(Words &words, std::vector<Bind> &made) {
  if (words.at_end() || words.peek().empty()) {
    words.alert("'bind' expects an address with a port, such as ':80' or '127.0.0.1:8080'");
    return false;
  }
  Place place = words.place();
  for (string_view piece : split(words.peek(), ',')) {
    AddressWord a;
    std::string error;
    if (!parse_address_text(piece, {.port_required = true, .port_range = true, .fd = true}, a, error)) {
      words.alert("'bind': " + error);
      return false;
    }
    for (u32 port = a.port_low; port <= a.port_high || port == a.port_low; port++) {
      Bind bind;
      bind.place = place;
      bind.address = a.address;
      if (bind.address.is_inet()) bind.address.port = static_cast<u16>(port);
      bind.inherited_fd = a.fd;
      bind.inherited_kind_given = a.socket_given;
      bind.sockpair = a.sockpair;
      made.push_back(std::move(bind));
    }
  }
  words.next();
  return true;
}

void adopt(Proxy &proxy, const std::vector<Bind> &made, const Bind &options) {
  for (const Bind &m : made) {
    auto bind = std::make_unique<Bind>(options);
    bind->proxy = &proxy;
    bind->place = m.place;
    bind->address = m.address;
    bind->inherited_fd = m.inherited_fd;
    bind->inherited_kind_given = m.inherited_kind_given;
    bind->sockpair = m.sockpair;
    if (bind->name.empty()) bind->name = "sock-" + std::to_string(proxy.binds.size() + 1);
    if (options.id && &m != &made.front()) bind->id = options.id + static_cast<u32>(&m - &made.front());
    proxy.binds.push_back(std::move(bind));
  }
}

void bind(LineContext &ctx) {
  std::vector<Bind> made;
  if (!expand_addresses(ctx.words, made)) return;
  Bind options;
  if (!parse_line_options(ctx, bind_option_index(), &options)) return;
  adopt(*ctx.proxy, made, options);
}

constexpr KeywordDef rows[] = {
    {.name = "bind", .sections = in_frontend | in_listen,
     .doc = {"Addresses on which the frontend accepts connections.",
             "ADDR is '[HOST]:PORT[-PORT]', a path that starts with '/', or has a prefix (ipv4@ ipv6@ unix@ abns@ abnsz@ fd@ sockpair@). "
             "Several are separated by commas. '*' or nothing means every IPv4 address, '::' every IPv6 address. "
             "The options that follow hold for all addresses of the line.",
             "frontend web\n    bind 127.0.0.1:8080,127.0.0.1:8081 name plain\n    bind /tmp/penstock-example.sock mode 600"},
     .parse = bind},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> bind_keywords() { return rows; }

} // namespace penstock
