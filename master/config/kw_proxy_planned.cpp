// SPDX-License-Identifier: BSD-2-Clause
// Keywords of proxy sections that the manual knows and nothing implements yet: refused as exactly that. A
// row leaves this list when another file gets one of that name.
#include "master/config/kw_proxy.h"

namespace penstock {

namespace {

constexpr KeywordDef planned(string_view name, u32 sections, string_view summary) {
  return {.name = name, .sections = sections, .doc = {summary, "", ""}, .standing = Standing::Planned, .negatable = true};
}

constexpr KeywordDef rows[] = {
    planned("compression", in_proxies, "Compresses responses."),
    planned("crt", in_frontend | in_listen, "A certificate of the frontend."),
    planned("email-alert from", in_proxies, "Sender of alert mails."),
    planned("email-alert level", in_proxies, "Least severity of alert mails."),
    planned("email-alert mailers", in_proxies, "Mail servers of alert mails."),
    planned("email-alert myhostname", in_proxies, "Name given to mail servers."),
    planned("email-alert to", in_proxies, "Recipient of alert mails."),
    planned("filter", in_frontend | in_backend | in_listen, "A filter on the data."),
    planned("guid", in_frontend | in_backend | in_listen, "A globally unique name of the proxy."),
    planned("hash-preserve-affinity", in_back, "What hashing does when a server is full."),
    planned("http-send-name-header", in_back, "A header that tells the server's name."),
    planned("log-steps", in_front, "Steps at which lines are logged."),
    planned("max-session-srv-conns", in_front, "Server connections kept for one client."),
    planned("option forwarded", in_back, "The Forwarded header of RFC 7239."),
    planned("option spop-check", in_back, "Health checks of SPOE agents."),
    planned("persist rdp-cookie", in_back, "Persistence by the RDP cookie."),
    planned("quic-initial", in_front, "Rules for the first QUIC packet."),
    planned("ssl-f-use", in_frontend | in_listen, "A certificate of the frontend."),
    planned("use-fcgi-app", in_backend | in_listen, "Speaks FastCGI with the servers."),
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> planned_proxy_keywords() { return rows; }

} // namespace penstock
