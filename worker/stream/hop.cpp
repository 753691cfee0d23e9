// SPDX-License-Identifier: BSD-2-Clause
// See hop.h.
#include "worker/stream/hop.h"

#include "shared/base/text.h"

namespace penstock {

namespace {

/// Leaves of Connection only what the next hop is to know: an upgrade, and that TE was ours to send. What else it
/// names was for us, and the fields are gone since the head was read.
void drop_persistence(HttpMessage &m) {
  m.remove_all(Header::KeepAlive);
  m.remove_all(Header::ProxyConnection);
  bool upgrades = m.find(Header::Upgrade) != HttpMessage::npos;
  for (size_t i = m.find(Header::Connection); i != HttpMessage::npos; i = m.find(Header::Connection, i)) {
    string_view rest = m.value(i);
    char kept[512];
    size_t n = 0;
    bool dropped = false;
    while (!rest.empty()) {
      size_t comma = rest.find(',');
      string_view option = trim(rest.substr(0, comma));
      rest = comma == string_view::npos ? string_view() : rest.substr(comma + 1);
      if (!(upgrades && iequals(option, "upgrade")) && !iequals(option, "te")) {
        dropped = true;
        continue;
      }
      if (n + option.size() + 2 > sizeof kept) break;
      if (n > 0) kept[n++] = ',', kept[n++] = ' ';
      option.copy(kept + n, option.size());
      n += option.size();
    }
    if (n == 0) {
      m.remove(i);
      continue;
    }
    if (dropped) m.set_value(i, {kept, n});
    i++;
  }
}

} // namespace

void hide_persistence(HttpMessage &m) {
  for (size_t i = m.find(Header::Connection); i != HttpMessage::npos; i = m.find(Header::Connection, i)) {
    char kept[512];
    size_t n = 0;
    bool dropped = false, fits = true;
    for (string_view rest = m.value(i); !rest.empty();) {
      size_t comma = rest.find(',');
      string_view option = trim(rest.substr(0, comma));
      rest = comma == string_view::npos ? string_view() : rest.substr(comma + 1);
      if (option.empty() || iequals(option, "close") || iequals(option, "keep-alive")) {
        dropped = true;
        continue;
      }
      fits = n + option.size() + 1 <= sizeof kept;
      if (!fits) break;
      if (n > 0) kept[n++] = ',';
      n += option.copy(kept + n, option.size());
    }
    if (n == 0 && dropped && fits) {
      m.remove(i);
      continue;
    }
    if (dropped && fits) m.set_value(i, {kept, n});
    i++;
  }
}

void say_persistence(HttpMessage &m, bool keep_alive, u8 receiver_version) {
  bool kept_by_version = receiver_version >= 11 || !m.is_request(); // a response's line says HTTP/1.1 whoever asked
  if (keep_alive && receiver_version < 11) m.add(Header::Connection, "keep-alive");
  if (!keep_alive && kept_by_version) m.add(Header::Connection, "close");
}

OutgoingBody frame_request(HttpMessage &m, const H1Framing &from, bool close) {
  drop_persistence(m);
  say_persistence(m, !close, m.version());
  return {from.kind, from.length};
}

OutgoingBody frame_response(HttpMessage &m, const H1Framing &from, u8 client_version, bool head_request, bool &close) {
  drop_persistence(m);
  OutgoingBody body{from.kind, from.length};
  if (body.kind == BodyKind::Chunked && client_version < 11) {
    m.remove_all(Header::TransferEncoding);
    body.kind = BodyKind::UntilClose;
  } else if (body.kind == BodyKind::UntilClose && client_version >= 11 && !head_request && !close) {
    m.add(Header::TransferEncoding, "chunked");
    body.kind = BodyKind::Chunked;
  }
  if (body.kind == BodyKind::UntilClose) close = true;
  return body;
}

} // namespace penstock
