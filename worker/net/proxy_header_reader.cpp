// SPDX-License-Identifier: BSD-2-Clause
// See proxy_header_reader.h.
#include "worker/net/proxy_header_reader.h"

namespace penstock {

/// The magic number in front of NetScaler's header where the configuration gives none.
static constexpr u32 netscaler_magic = 0;

/// Whether it looks like one, of either version, as far as it goes.
static bool begins_a_header(string_view in) {
  constexpr string_view v1 = "PROXY ", v2("\r\n\r\n\0\r\nQUIT\n", 12);
  return in.starts_with(v1.substr(0, in.size())) || in.starts_with(v2.substr(0, in.size()));
}

HeaderRead read_proxy_header(Connection &c, bool netscaler, ProxyHeader &out) {
  for (;;) {
    string_view in = c.input();
    ProxyResult r{};
    if (!in.empty()) r = netscaler ? parse_netscaler_cip(in, netscaler_magic, out) : parse_proxy_header(in, out);
    if (r.status == ProxyStatus::Complete) {
      c.consume(r.consumed);
      return HeaderRead::Done;
    }
    if (r.status == ProxyStatus::Bad) return begins_a_header(in) ? HeaderRead::Invalid : HeaderRead::Missing;
    if (r.status == ProxyStatus::BadFamily) return HeaderRead::Family;
    Io io = c.fill();
    if (io == Io::Ok) continue;
    if (io == Io::Blocked) return HeaderRead::Wait;
    if (io == Io::Full) return HeaderRead::Invalid;
    return in.empty() ? HeaderRead::Aborted : HeaderRead::Truncated;
  }
}

} // namespace penstock
