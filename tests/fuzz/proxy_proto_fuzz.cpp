// SPDX-License-Identifier: BSD-2-Clause
// Fuzzes the readers of PROXY headers: pieces mean the same as the whole, and addresses survive being written again.
#include <cstdint>
#include <string>

#include "shared/model/server.h"
#include "worker/net/proxy_proto.h"

using namespace penstock;

namespace {

void must(bool holds) {
  if (!holds) __builtin_trap();
}

void written_again(const ProxyHeader &h) {
  static char out[proxy_v2_max];
  ProxyHeader again;
  size_t n = write_proxy_v2(&h.source, &h.destination, proxy_v2_crc32c, {}, {}, out, sizeof out);
  must(n > 0);
  ProxyResult r = parse_proxy_header({out, n}, again);
  must(r.status == ProxyStatus::Complete && r.consumed == n && again.source == h.source && again.destination == h.destination);
  if (!h.source.is_inet()) return;
  n = write_proxy_v1(h.source, h.destination, out, sizeof out);
  r = parse_proxy_header({out, n}, again);
  must(r.status == ProxyStatus::Complete && again.source == h.source && again.destination == h.destination);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  string_view bytes{reinterpret_cast<const char *>(data), size};
  ProxyHeader whole, part;
  ProxyResult r = parse_proxy_header(bytes, whole);
  must(r.consumed <= size);
  if (size <= 400) {
    ProxyResult p;
    for (size_t n = 0; n <= size; n++)
      if ((p = parse_proxy_header(bytes.substr(0, n), part)).status != ProxyStatus::NeedMore) break;
    must((p.status == ProxyStatus::Complete) == (r.status == ProxyStatus::Complete) && p.consumed == r.consumed);
  }
  if (r.status == ProxyStatus::Complete) {
    string_view value;
    for (unsigned type = 0; type < 256; type++) whole.find(static_cast<u8>(type), value);
    if (!whole.local) written_again(whole);
  }
  parse_netscaler_cip(bytes, 0x4d, part);
  return 0;
}
