// SPDX-License-Identifier: BSD-2-Clause
#include "worker/http/forwarded.h"

#include <algorithm>

#include "shared/base/text.h"
#include "shared/http/uri.h"

namespace penstock {

namespace {

bool obfuscable(string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return is_alpha(c) || is_digit(c) || c == '.' || c == '_' || c == '-'; });
}

void append_name(std::string &out, string_view name) {
  if (name[0] != '_') out += '_';
  out += name;
}

void separate(std::string &out) {
  if (!out.empty()) out += ';';
}

} // namespace

void append_forwarded_node(std::string &out, string_view key, const ForwardedNode &node, string_view port, bool with_port) {
  separate(out);
  out.append(key).append("=");
  bool quoted = node.ip.is_v6() || with_port;
  if (quoted) out += '"';
  if (node.ip) {
    char text[64];
    string_view address{text, node.ip.write(text)};
    if (node.ip.is_v6()) out.append("[").append(address).append("]");
    else out += address;
  } else if (obfuscable(node.name)) {
    append_name(out, node.name);
  } else {
    out += "unknown";
  }
  if (with_port && obfuscable(port)) {
    out += ':';
    auto number = port.size() <= 5 ? parse_u64(port) : std::nullopt;
    if (number && *number <= 65535) out += port;
    else append_name(out, port);
  }
  if (quoted) out += '"';
}

void append_forwarded_host(std::string &out, string_view host) {
  separate(out);
  out.append("host=\"").append(valid_host(host) ? host : string_view{}).append("\"");
}

} // namespace penstock
