// SPDX-License-Identifier: BSD-2-Clause
#include "shared/base/build_info.h"

#include <algorithm>

namespace penstock {
namespace {

// True to what works: a part that lands (TLS, Lua, HTTP/3 …) flips its row.
constexpr Feature rows[] = {
    {"51DEGREES", false},    {"ACCEPT4", true},      {"ACME", false},        {"BACKTRACE", true},
    {"CPU_AFFINITY", true},  {"CRYPT_H", true},      {"DEVICEATLAS", false}, {"DL", true},
    {"EPOLL", true},         {"GETADDRINFO", true},  {"LIBCRYPT", true},     {"LINUX_CAP", false},
    {"LINUX_SPLICE", true},  {"LINUX_TPROXY", true}, {"LUA", false},         {"NETFILTER", true},
    {"NS", false},           {"OPENSSL", false},     {"OT", false},          {"PCRE", false},
    {"PCRE2", true},         {"PCRE2_JIT", true},    {"PCRE_JIT", false},    {"POLL", false},
    {"PRCTL", true},         {"PROMEX", false},      {"QUIC", false},        {"REUSEPORT", true},
    {"RT", true},            {"SLZ", false},         {"SSL", false},         {"STATIC_PCRE", false},
    {"STATIC_PCRE2", false}, {"SYSTEMD", true},      {"TFO", true},          {"THREAD", true},
    {"THREAD_DUMP", false},  {"TPROXY", true},       {"WURFL", false},       {"ZLIB", false},
};
static_assert(std::ranges::is_sorted(rows, {}, &Feature::name));

} // namespace

std::span<const Feature> features() { return rows; }

bool has_feature(string_view name) {
  auto row = std::ranges::find(rows, name, &Feature::name);
  return row != std::end(rows) && row->built_in;
}

} // namespace penstock
