// SPDX-License-Identifier: BSD-2-Clause
// The named protocols as moves of a plan: a greeting or a minimal request, and what a healthy server
// answers. Each is described by its own protocol's documents: SMTP RFC 5321, LDAP RFC 4511, TLS RFC 5246,
// the MySQL client/server protocol, PostgreSQL's frontend/backend protocol, the Redis protocol.
#include <cstring>

#include "shared/base/text.h"
#include "worker/check/plan.h"

namespace penstock {

namespace {

PlanStep send(std::string bytes) {
  PlanStep s;
  s.kind = CheckStep::Send;
  s.bytes = std::move(bytes);
  return s;
}

PlanStep expect(Probe probe) {
  PlanStep s;
  s.kind = CheckStep::Expect;
  s.probe = probe;
  return s;
}

u8 byte(string_view s, size_t i) { return static_cast<u8>(s[i]); }

std::string first_line(string_view in) {
  return std::string(in.substr(0, in.find_first_of("\r\n")).substr(0, 60));
}

// ---- SMTP: every reply line is "NNN text"; a hyphen after the code announces another line
Expectation smtp_reply(string_view in, bool closed, size_t &taken) {
  size_t at = 0;
  while (true) {
    size_t eol = in.find('\n', at);
    if (eol == string_view::npos) return closed ? Expectation::fail(CheckStatus::L7Response, "no complete SMTP reply") : Expectation::need_more();
    string_view line = in.substr(at, eol - at);
    at = eol + 1;
    if (line.size() < 3 || !is_digit(line[0]) || !is_digit(line[1]) || !is_digit(line[2]))
      return Expectation::fail(CheckStatus::L7Response, first_line(line));
    if (line.size() > 3 && line[3] == '-') continue;
    taken = at;
    u16 code = static_cast<u16>((line[0] - '0') * 100 + (line[1] - '0') * 10 + line[2] - '0');
    if (line[0] != '2') return Expectation::fail(CheckStatus::L7Status, first_line(line), code);
    return Expectation::ok(first_line(line), code);
  }
}

// ---- MySQL: packets of a 3-byte length, a sequence number and a payload
bool mysql_packet(string_view in, string_view &payload, size_t &taken) {
  if (in.size() < 4) return false;
  size_t length = byte(in, 0) | byte(in, 1) << 8 | byte(in, 2) << 16;
  if (in.size() < 4 + length) return false;
  payload = in.substr(4, length);
  taken = 4 + length;
  return true;
}

Expectation mysql_error(string_view payload) {
  u16 code = payload.size() >= 3 ? static_cast<u16>(byte(payload, 1) | byte(payload, 2) << 8) : u16{0};
  size_t text = payload.size() > 9 && payload[3] == '#' ? 9 : 3;
  return Expectation::fail(CheckStatus::L7Status, payload.size() > text ? std::string(payload.substr(text, 60)) : "error packet", code);
}

Expectation mysql_greeting(string_view in, bool closed, size_t &taken) {
  string_view payload;
  if (!mysql_packet(in, payload, taken)) return closed ? Expectation::fail(CheckStatus::L7Response, "no complete handshake packet") : Expectation::need_more();
  if (payload.empty()) return Expectation::fail(CheckStatus::L7Response, "empty handshake packet");
  if (byte(payload, 0) == 0xff) return mysql_error(payload);
  if (byte(payload, 0) != 10 && byte(payload, 0) != 9) return Expectation::fail(CheckStatus::L7Response, "not a MySQL handshake");
  string_view version = payload.substr(1);
  return Expectation::ok(std::string(version.substr(0, std::min(version.find('\0'), size_t{60}))));
}

Expectation mysql_login(string_view in, bool closed, size_t &taken) {
  string_view payload;
  if (!mysql_packet(in, payload, taken)) return closed ? Expectation::fail(CheckStatus::L7Response, "no complete answer to the login") : Expectation::need_more();
  if (payload.empty()) return Expectation::fail(CheckStatus::L7Response, "empty answer to the login");
  if (byte(payload, 0) == 0xff) return mysql_error(payload);
  return Expectation::ok("MySQL server is ok");
}

std::string mysql_frame(u8 sequence, string_view payload) {
  std::string out;
  for (int shift = 0; shift < 24; shift += 8) out += static_cast<char>(payload.size() >> shift & 0xff);
  out += static_cast<char>(sequence);
  return out.append(payload);
}

std::string mysql_login_request(string_view user, bool post41) {
  std::string p;
  if (post41) {
    // CLIENT_LONG_PASSWORD | PROTOCOL_41 | TRANSACTIONS | SECURE_CONNECTION | PLUGIN_AUTH, max packet, utf8
    p.append("\x00\x82\x08\x00\x00\x00\x00\x01\x21", 9).append(23, '\0').append(user).append(1, '\0');
    p.append(1, '\0').append("mysql_native_password").append(1, '\0');
  } else {
    p.append("\x00\x20\x00\x00\x01", 5).append(user).append(1, '\0').append(1, '\0');
  }
  return mysql_frame(1, p) + mysql_frame(0, "\x01"); // COM_QUIT
}

// ---- PostgreSQL: a start-up message; 'R' asks for authentication, 'E' refuses
Expectation pgsql_answer(string_view in, bool closed, size_t &taken) {
  if (in.size() < 9) return closed ? Expectation::fail(CheckStatus::L7Response, "no complete answer to the start-up message") : Expectation::need_more();
  taken = in.size();
  if (in[0] == 'R') return Expectation::ok("PostgreSQL server is ok");
  if (in[0] == 'E') return Expectation::fail(CheckStatus::L7Status, first_line(in.substr(5)));
  return Expectation::fail(CheckStatus::L7Response, "not a PostgreSQL answer");
}

std::string pgsql_startup(string_view user) {
  std::string body("\x00\x03\x00\x00", 4);
  body.append("user").append(1, '\0').append(user).append(1, '\0');
  body.append("database").append(1, '\0').append(user).append(1, '\0').append(1, '\0');
  u32 size = static_cast<u32>(body.size() + 4);
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(size >> shift & 0xff);
  return out + body;
}

Expectation redis_pong(string_view in, bool closed, size_t &taken) {
  constexpr string_view want = "+PONG\r\n";
  if (in.size() < want.size()) {
    if (!closed && want.starts_with(in)) return Expectation::need_more();
    return Expectation::fail(in.starts_with('-') ? CheckStatus::L7Status : CheckStatus::L7Response, first_line(in));
  }
  taken = want.size();
  if (in.starts_with(want)) return Expectation::ok("Redis server is ok");
  return Expectation::fail(CheckStatus::L7Status, first_line(in));
}

// ---- LDAPv3: an anonymous bind request must be answered by a bind response with result 0
Expectation ldap_bind_response(string_view in, bool closed, size_t &taken) {
  auto bad = [] { return Expectation::fail(CheckStatus::L7Response, "Not LDAPv3 protocol"); };
  if (in.size() < 14) return closed ? bad() : Expectation::need_more();
  if (byte(in, 0) != 0x30) return bad();
  size_t header = byte(in, 1) & 0x80 ? 2 + (byte(in, 1) & 0x7f) : 2; // long form of the length
  if (header > 6 || in.size() < header + 10) return closed ? bad() : Expectation::need_more();
  // INTEGER 1 (the message id), then [APPLICATION 1] with an ENUMERATED result code
  if (in.substr(header, 3) != string_view("\x02\x01\x01", 3) || byte(in, header + 3) != 0x61) return bad();
  size_t op = byte(in, header + 4) & 0x80 ? 2 + (byte(in, header + 4) & 0x7f) : 2;
  size_t result = header + 3 + op;
  if (op > 6 || in.size() < result + 3) return closed ? bad() : Expectation::need_more();
  if (byte(in, result) != 0x0a || byte(in, result + 1) != 1) return bad();
  taken = in.size();
  if (u8 code = byte(in, result + 2)) return Expectation::fail(CheckStatus::L7Status, "See RFC: http://tools.ietf.org/html/rfc4511#section-4.1.9", code);
  return Expectation::ok("Success");
}

// ---- TLS: whoever answers a ClientHello with a handshake or alert record speaks TLS
Expectation tls_answer(string_view in, bool closed, size_t &taken) {
  if (in.size() < 5) return closed ? Expectation::fail(CheckStatus::L6Response, "no TLS record") : Expectation::need_more();
  taken = in.size();
  if ((byte(in, 0) != 0x15 && byte(in, 0) != 0x16) || byte(in, 1) != 3) return Expectation::fail(CheckStatus::L6Response, "not a TLS record");
  Expectation e = Expectation::ok();
  e.status = CheckStatus::L6Ok;
  return e;
}

std::string client_hello() {
  std::string random(32, '\0');
  for (size_t i = 0; i < random.size(); i++) random[i] = static_cast<char>(i * 7 + 3); // no secret is agreed: nothing need be random
  std::string ciphers;
  for (u16 c : {0xc02f, 0xc030, 0xc02b, 0xc02c, 0xc013, 0xc014, 0x009c, 0x009d, 0x002f, 0x0035, 0x000a}) {
    ciphers += static_cast<char>(c >> 8);
    ciphers += static_cast<char>(c & 0xff);
  }
  auto sized = [](string_view s, int width) {
    std::string out;
    for (int shift = (width - 1) * 8; shift >= 0; shift -= 8) out += static_cast<char>(s.size() >> shift & 0xff);
    return out.append(s);
  };
  std::string groups = std::string("\x00\x0a", 2) + sized(sized(string_view("\x00\x1d\x00\x17\x00\x18", 6), 2), 2);
  std::string formats = std::string("\x00\x0b", 2) + sized(sized(string_view("\x00", 1), 1), 2);
  std::string algorithms = std::string("\x00\x0d", 2) + sized(sized(string_view("\x04\x03\x08\x04\x04\x01\x05\x03\x08\x05\x05\x01\x02\x01", 14), 2), 2);
  std::string body = std::string("\x03\x03", 2) + random + sized("", 1) + sized(ciphers, 2) + sized(string_view("\x00", 1), 1) +
                     sized(groups + formats + algorithms, 2);
  std::string handshake = std::string("\x01", 1) + sized(body, 3);
  return std::string("\x16\x03\x01", 3) + sized(handshake, 2);
}

} // namespace

void add_named_protocol(const CheckSettings &s, std::vector<PlanStep> &steps) {
  steps.push_back(PlanStep::of(CheckStep::Connect));
  switch (s.kind) {
    case CheckKind::Smtp:
      steps.push_back(expect(smtp_reply));
      steps.push_back(send((s.smtp_ehlo ? "EHLO " : "HELO ") + (s.smtp_domain.empty() ? "localhost" : s.smtp_domain) + "\r\n"));
      steps.push_back(expect(smtp_reply));
      steps.push_back(send("QUIT\r\n"));
      steps.push_back(expect(smtp_reply));
      break;
    case CheckKind::Mysql:
      steps.push_back(expect(mysql_greeting));
      if (s.user.empty()) break;
      steps.push_back(send(mysql_login_request(s.user, s.mysql_post41)));
      steps.push_back(expect(mysql_login));
      break;
    case CheckKind::Pgsql:
      steps.push_back(send(pgsql_startup(s.user)));
      steps.push_back(expect(pgsql_answer));
      break;
    case CheckKind::Redis:
      steps.push_back(send("*1\r\n$4\r\nPING\r\n"));
      steps.push_back(expect(redis_pong));
      break;
    case CheckKind::Ldap:
      steps.push_back(send(std::string("\x30\x0c\x02\x01\x01\x60\x07\x02\x01\x03\x04\x00\x80\x00", 14)));
      steps.push_back(expect(ldap_bind_response));
      break;
    case CheckKind::SslHello:
      steps.push_back(send(client_hello()));
      steps.push_back(expect(tls_answer));
      break;
    default: break; // Connect; External has a runner of its own
  }
}

} // namespace penstock
