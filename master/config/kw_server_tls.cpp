// SPDX-License-Identifier: BSD-2-Clause
// TLS options of `server` lines: known by name, so that a line which needs them is refused as exactly that.
#include "master/config/kw_proxy.h"

namespace penstock {

namespace {

constexpr OptionDef rows[] = {
    {"allow-0rtt", "", {"Sends early data of TLS 1.3.", "", ""}, nullptr, Standing::Planned},
    {"alpn", "<protocols>", {"Protocols offered by ALPN.", "", ""}, nullptr, Standing::Planned},
    {"ca-file", "<file>", {"Authorities that the server's certificate is checked against.", "", ""}, nullptr, Standing::Planned},
    {"check-alpn", "<protocols>", {"Protocols offered by ALPN in health checks.", "", ""}, nullptr, Standing::Planned},
    {"check-sni", "<name>", {"Server name sent in health checks.", "", ""}, nullptr, Standing::Planned},
    {"check-ssl", "", {"Health checks over TLS.", "", ""}, nullptr, Standing::Planned},
    {"ciphers", "<list>", {"Ciphers up to TLS 1.2.", "", ""}, nullptr, Standing::Planned},
    {"ciphersuites", "<list>", {"Cipher suites of TLS 1.3.", "", ""}, nullptr, Standing::Planned},
    {"client-sigalgs", "<list>", {"Signature algorithms for our certificate.", "", ""}, nullptr, Standing::Planned},
    {"crl-file", "<file>", {"Revocation lists.", "", ""}, nullptr, Standing::Planned},
    {"crt", "<file>", {"Certificate shown to the server.", "", ""}, nullptr, Standing::Planned},
    {"curves", "<list>", {"Curves of the key exchange.", "", ""}, nullptr, Standing::Planned},
    {"ecdhe", "<curve>", {"Curve of the key exchange.", "", ""}, nullptr, Standing::Planned},
    {"force-sslv3", "", {"Only SSL 3.0.", "", ""}, nullptr, Standing::Planned},
    {"force-tlsv10", "", {"Only TLS 1.0.", "", ""}, nullptr, Standing::Planned},
    {"force-tlsv11", "", {"Only TLS 1.1.", "", ""}, nullptr, Standing::Planned},
    {"force-tlsv12", "", {"Only TLS 1.2.", "", ""}, nullptr, Standing::Planned},
    {"force-tlsv13", "", {"Only TLS 1.3.", "", ""}, nullptr, Standing::Planned},
    {"ktls", "<on|off>", {"Encryption in the kernel.", "", ""}, nullptr, Standing::Planned},
    {"no-check-ssl", "", {"Undoes 'check-ssl'.", "", ""}, nullptr, Standing::Planned},
    {"no-send-proxy-v2-ssl", "", {"Undoes 'send-proxy-v2-ssl'.", "", ""}, nullptr, Standing::Planned},
    {"no-send-proxy-v2-ssl-cn", "", {"Undoes 'send-proxy-v2-ssl-cn'.", "", ""}, nullptr, Standing::Planned},
    {"no-ssl", "", {"Undoes 'ssl'.", "", ""}, nullptr, Standing::Planned},
    {"no-ssl-reuse", "", {"Does not resume sessions.", "", ""}, nullptr, Standing::Planned},
    {"no-sslv3", "", {"Refuses SSL 3.0.", "", ""}, nullptr, Standing::Planned},
    {"no-tls-tickets", "", {"Uses no session tickets.", "", ""}, nullptr, Standing::Planned},
    {"no-tlsv10", "", {"Refuses TLS 1.0.", "", ""}, nullptr, Standing::Planned},
    {"no-tlsv11", "", {"Refuses TLS 1.1.", "", ""}, nullptr, Standing::Planned},
    {"no-tlsv12", "", {"Refuses TLS 1.2.", "", ""}, nullptr, Standing::Planned},
    {"no-tlsv13", "", {"Refuses TLS 1.3.", "", ""}, nullptr, Standing::Planned},
    {"npn", "<protocols>", {"Protocols offered by NPN.", "", ""}, nullptr, Standing::Planned},
    {"renegotiate", "", {"Allows renegotiation.", "", ""}, nullptr, Standing::Planned},
    {"send-proxy-v2-ssl", "", {"PROXY protocol version 2 with the client's TLS facts.", "", ""}, nullptr, Standing::Planned},
    {"send-proxy-v2-ssl-cn", "", {"The same with the name of the client's certificate.", "", ""}, nullptr, Standing::Planned},
    {"sigalgs", "<list>", {"Signature algorithms.", "", ""}, nullptr, Standing::Planned},
    {"sni", "<expression>", {"Server name sent in the handshake.", "", ""}, nullptr, Standing::Planned},
    {"sni-auto", "", {"Server name taken from the Host header.", "", ""}, nullptr, Standing::Planned},
    {"ssl", "", {"Speaks TLS with the server.", "", ""}, nullptr, Standing::Planned},
    {"ssl-max-ver", "<version>", {"Newest version of TLS.", "", ""}, nullptr, Standing::Planned},
    {"ssl-min-ver", "<version>", {"Oldest version of TLS.", "", ""}, nullptr, Standing::Planned},
    {"ssl-reuse", "", {"Resumes sessions.", "", ""}, nullptr, Standing::Planned},
    {"tls-tickets", "", {"Uses session tickets.", "", ""}, nullptr, Standing::Planned},
    {"verify", "<mode>", {"Whether the server's certificate is checked.", "", ""}, nullptr, Standing::Planned},
    {"verifyhost", "<name>", {"Name that the server's certificate must bear.", "", ""}, nullptr, Standing::Planned},
};
static_assert(sorted_and_documented<OptionDef>(rows));

} // namespace

std::span<const OptionDef> server_tls_options() { return rows; }

} // namespace penstock
