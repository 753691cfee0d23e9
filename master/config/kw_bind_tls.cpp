// SPDX-License-Identifier: BSD-2-Clause
// TLS options of `bind` lines: known by name, so that a line which needs them is refused as exactly that.
#include "master/config/kw_proxy.h"

namespace penstock {

namespace {

constexpr OptionDef rows[] = {
    {"allow-0rtt", "", {"Accepts early data of TLS 1.3.", "", ""}, nullptr, Standing::Planned},
    {"alpn", "<protocols>", {"Protocols offered by ALPN.", "", ""}, nullptr, Standing::Planned},
    {"ca-file", "<file>", {"Certificates of the authorities that clients' certificates are checked against.", "", ""}, nullptr, Standing::Planned},
    {"ca-ignore-err", "<errors>", {"Verification errors of authorities that are ignored.", "", ""}, nullptr, Standing::Planned},
    {"ca-sign-file", "<file>", {"Authority that signs generated certificates.", "", ""}, nullptr, Standing::Planned},
    {"ca-sign-pass", "<text>", {"Passphrase of that authority's key.", "", ""}, nullptr, Standing::Planned},
    {"ca-verify-file", "<file>", {"Authorities that are trusted but not announced.", "", ""}, nullptr, Standing::Planned},
    {"ciphers", "<list>", {"Ciphers up to TLS 1.2.", "", ""}, nullptr, Standing::Planned},
    {"ciphersuites", "<list>", {"Cipher suites of TLS 1.3.", "", ""}, nullptr, Standing::Planned},
    {"client-sigalgs", "<list>", {"Signature algorithms accepted from clients' certificates.", "", ""}, nullptr, Standing::Planned},
    {"crl-file", "<file>", {"Revocation lists for clients' certificates.", "", ""}, nullptr, Standing::Planned},
    {"crt", "<file>", {"Certificate and key, or a directory of them.", "", ""}, nullptr, Standing::Planned},
    {"crt-ignore-err", "<errors>", {"Verification errors of clients' certificates that are ignored.", "", ""}, nullptr, Standing::Planned},
    {"crt-list", "<file>", {"List of certificates with names and options.", "", ""}, nullptr, Standing::Planned},
    {"curves", "<list>", {"Curves of the key exchange.", "", ""}, nullptr, Standing::Planned},
    {"default-crt", "<file>", {"Certificate for clients whose name matches none.", "", ""}, nullptr, Standing::Planned},
    {"ecdhe", "<curve>", {"Curve of the key exchange.", "", ""}, nullptr, Standing::Planned},
    {"force-sslv3", "", {"Only SSL 3.0.", "", ""}, nullptr, Standing::Planned},
    {"force-tlsv10", "", {"Only TLS 1.0.", "", ""}, nullptr, Standing::Planned},
    {"force-tlsv11", "", {"Only TLS 1.1.", "", ""}, nullptr, Standing::Planned},
    {"force-tlsv12", "", {"Only TLS 1.2.", "", ""}, nullptr, Standing::Planned},
    {"force-tlsv13", "", {"Only TLS 1.3.", "", ""}, nullptr, Standing::Planned},
    {"generate-certificates", "", {"Makes certificates for names without one.", "", ""}, nullptr, Standing::Planned},
    {"ktls", "<on|off>", {"Encryption in the kernel.", "", ""}, nullptr, Standing::Planned},
    {"no-alpn", "", {"Offers no protocol by ALPN.", "", ""}, nullptr, Standing::Planned},
    {"no-ca-names", "", {"Does not announce the authorities.", "", ""}, nullptr, Standing::Planned},
    {"no-sslv3", "", {"Refuses SSL 3.0.", "", ""}, nullptr, Standing::Planned},
    {"no-strict-sni", "", {"Undoes 'strict-sni'.", "", ""}, nullptr, Standing::Planned},
    {"no-tls-tickets", "", {"Gives no session tickets.", "", ""}, nullptr, Standing::Planned},
    {"no-tlsv10", "", {"Refuses TLS 1.0.", "", ""}, nullptr, Standing::Planned},
    {"no-tlsv11", "", {"Refuses TLS 1.1.", "", ""}, nullptr, Standing::Planned},
    {"no-tlsv12", "", {"Refuses TLS 1.2.", "", ""}, nullptr, Standing::Planned},
    {"no-tlsv13", "", {"Refuses TLS 1.3.", "", ""}, nullptr, Standing::Planned},
    {"npn", "<protocols>", {"Protocols offered by NPN.", "", ""}, nullptr, Standing::Planned},
    {"ocsp-update", "<on|off>", {"Keeps the stapled OCSP response fresh.", "", ""}, nullptr, Standing::Planned},
    {"prefer-client-ciphers", "", {"Follows the client's order of ciphers.", "", ""}, nullptr, Standing::Planned},
    {"sigalgs", "<list>", {"Signature algorithms.", "", ""}, nullptr, Standing::Planned},
    {"ssl", "", {"Speaks TLS with the clients.", "", ""}, nullptr, Standing::Planned},
    {"ssl-max-ver", "<version>", {"Newest version of TLS.", "", ""}, nullptr, Standing::Planned},
    {"ssl-min-ver", "<version>", {"Oldest version of TLS.", "", ""}, nullptr, Standing::Planned},
    {"strict-sni", "", {"Refuses clients whose name matches no certificate.", "", ""}, nullptr, Standing::Planned},
    {"tls-ticket-keys", "<file>", {"Keys of the session tickets.", "", ""}, nullptr, Standing::Planned},
    {"tls-tickets", "", {"Gives session tickets.", "", ""}, nullptr, Standing::Planned},
    {"verify", "<mode>", {"Whether clients must show a certificate.", "", ""}, nullptr, Standing::Planned},
};
static_assert(sorted_and_documented<OptionDef>(rows));

} // namespace

std::span<const OptionDef> bind_tls_options() { return rows; }

} // namespace penstock
