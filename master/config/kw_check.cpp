// SPDX-License-Identifier: BSD-2-Clause
// How servers are checked: `option httpchk` in all its forms, `option tcp-check` and the named
// protocols, `external-check` (manual, section 4.2). The last option of a section decides.
#include "master/config/check_words.h"
#include "master/config/choice.h"
#include "shared/base/text.h"

namespace penstock {

namespace {

template <CheckKind Kind> void plain(LineContext &ctx) {
  if (ctx.words.end()) change_checks(ctx, [](CheckSettings &c) { c.kind = Kind; });
}

// ------------------------------------------------------------------------------------ option httpchk

/// Headers and a body that old lines hide behind the version: "HTTP/1.1\r\nHost:\ www". The reader has
/// turned the escapes into characters, but in some quotings they are still two characters each.
std::string unescape_line_ends(string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i++) {
    bool escape = text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == 'r' || text[i + 1] == 'n');
    if (!escape) out += text[i];
    else out += text[++i] == 'r' ? '\r' : '\n';
  }
  return out;
}

/// What the modern line says instead, for the warning.
void describe(std::string &line, string_view word, string_view value) {
  line += ' ';
  line += word;
  for (char c : value) {
    if (c == ' ' || c == '"' || c == '\\') line += '\\';
    line += c;
  }
}

bool add_hidden_header(LineContext &ctx, CheckStep &request, string_view line, std::string &modern) {
  size_t colon = line.find(':');
  if (colon == string_view::npos || colon == 0) {
    ctx.words.alert_last("'" + std::string(line) + "' behind the version is not a header");
    return false;
  }
  string_view name = trim(line.substr(0, colon)), value = trim(line.substr(colon + 1));
  std::string escaped;
  for (char c : value) escaped += c == '%' ? "%%" : std::string(1, c);
  Compiler compiler(ctx.words, ctx.config, ctx.proxy, needs_check);
  auto format = compiler.log_format(escaped, ctx.words.place_of(ctx.words.position() - 1));
  if (!format) return false;
  describe(modern, "hdr ", name);
  describe(modern, "", value);
  request.headers.emplace_back(std::string(name), std::move(*format));
  return true;
}

bool read_hidden_headers(LineContext &ctx, CheckStep &request, string_view text) {
  std::string modern = "http-check send";
  while (!text.empty()) {
    size_t end = text.find('\n');
    string_view line = trim(text.substr(0, end));
    text.remove_prefix(end == string_view::npos ? text.size() : end + 1);
    if (line.empty()) { // the rest is a body
      request.body = text;
      if (!text.empty()) describe(modern, "body ", text);
      break;
    }
    if (!add_hidden_header(ctx, request, line, modern)) return false;
  }
  ctx.diags().warning(ctx.words.line_place(), "headers behind the version of 'option httpchk' are an old form", "write '" + modern + "'");
  return true;
}

bool read_version(LineContext &ctx, CheckStep &request) {
  auto word = ctx.words.need("a version");
  if (!word) return false;
  std::string text = unescape_line_ends(*word);
  size_t end = text.find_first_of("\r\n");
  request.version = text.substr(0, end);
  if (request.version != "HTTP/1.0" && request.version != "HTTP/1.1") {
    ctx.words.alert_last("'option httpchk' expects the version 'HTTP/1.0' or 'HTTP/1.1', got '" + request.version + "'");
    return false;
  }
  if (end == std::string::npos) return true;
  size_t first = text.find_first_not_of("\r\n", end);
  std::string hidden = first == std::string::npos ? std::string() : text.substr(first);
  // Unescaped blanks cut the value into further words.
  while (!ctx.words.at_end()) hidden += " " + unescape_line_ends(ctx.words.next());
  return hidden.empty() || read_hidden_headers(ctx, request, hidden);
}

/// `[METHOD] URI [VERSION]`: one word alone is the URI.
void httpchk(LineContext &ctx) {
  Words &words = ctx.words;
  auto request = std::make_shared<CheckStep>();
  request->kind = CheckStep::SendHttp;
  request->place = words.line_place();
  if (words.left() == 1) {
    request->uri = words.next();
  } else if (!words.at_end()) {
    request->method = words.next();
    request->uri = words.next();
    if (!words.at_end() && !read_version(ctx, *request)) return;
  }
  if (!words.end()) return;
  change_checks(ctx, [&](CheckSettings &c) {
    c.kind = CheckKind::Http;
    c.httpchk_request = std::move(request);
  });
}

// ---------------------------------------------------------------------------------- named protocols

void mysql(LineContext &ctx) {
  std::string user;
  bool post41 = true;
  if (!ctx.words.at_end()) {
    if (!ctx.words.take("user")) return alert_expected(ctx.words, "'user NAME' or nothing");
    auto name = ctx.words.need("the name of a user");
    if (!name) return;
    user = *name;
    constexpr Choice<bool> forms[] = {{"post-41", true}, {"pre-41", false}};
    if (!ctx.words.at_end()) {
      const bool *form = need_choice(ctx.words, forms);
      if (!form) return;
      post41 = *form;
    }
  }
  if (!ctx.words.end()) return;
  change_checks(ctx, [&](CheckSettings &c) { c.kind = CheckKind::Mysql, c.user = user, c.mysql_post41 = post41; });
}

void pgsql(LineContext &ctx) {
  if (!ctx.words.take("user")) return alert_expected(ctx.words, "'user NAME'");
  auto name = ctx.words.need("the name of a user");
  if (name && ctx.words.end()) change_checks(ctx, [&](CheckSettings &c) { c.kind = CheckKind::Pgsql, c.user = *name; });
}

void smtp(LineContext &ctx) {
  bool ehlo = false;
  std::string domain = "localhost";
  if (ctx.words.left() >= 2) {
    ehlo = ctx.words.next() == "EHLO";
    domain = ctx.words.next();
  } else if (!ctx.words.at_end()) {
    ctx.words.next(); // a hello word without a domain means the default, as it always did
  }
  if (ctx.words.end()) change_checks(ctx, [&](CheckSettings &c) { c.kind = CheckKind::Smtp, c.smtp_ehlo = ehlo, c.smtp_domain = domain; });
}

template <auto Field> void external(LineContext &ctx) {
  auto v = ctx.words.need("a path");
  if (v && ctx.words.end()) change_checks(ctx, [&](CheckSettings &c) { c.*Field = *v; });
}

constexpr KeywordDef rows[] = {
    {.name = "external-check command", .sections = in_back,
     .doc = {"The program that 'option external-check' runs.", "It gets the proxy's and the server's addresses as arguments and more in its environment; status 0 means that the server is up.",
             "global\n    external-check\nbackend app\n    option external-check\n    external-check command /bin/true\n    server a 127.0.0.1:8001 check"},
     .parse = external<&CheckSettings::external_command>},
    {.name = "external-check path", .sections = in_back,
     .doc = {"PATH of that program.", "", "global\n    external-check\nbackend app\n    option external-check\n    external-check path /usr/bin:/bin\n    external-check command /bin/true\n    server a 127.0.0.1:8001 check"},
     .parse = external<&CheckSettings::external_path>},
    {.name = "option external-check", .sections = in_back,
     .doc = {"Checks servers by a program of one's own.", "Needs 'external-check' in the global section.",
             "global\n    external-check\nbackend app\n    option external-check\n    external-check command /bin/true\n    server a 127.0.0.1:8001 check"},
     .parse = plain<CheckKind::External>},
    {.name = "option httpchk", .sections = in_back,
     .doc = {"Checks servers by an HTTP request; statuses 2xx and 3xx pass.",
             "'option httpchk [METHOD] URI [VERSION]'; OPTIONS, / and HTTP/1.0 are the defaults. 'http-check' lines refine request and expectations.",
             "backend app\n    option httpchk GET /alive HTTP/1.1\n    http-check send hdr Host www.example.com\n    server a 127.0.0.1:8001 check"},
     .parse = httpchk},
    {.name = "option ldap-check", .sections = in_back, .doc = {"Checks servers by an LDAP bind.", "", "backend app\n    option ldap-check\n    server a 127.0.0.1:389 check"}, .parse = plain<CheckKind::Ldap>},
    {.name = "option mysql-check", .sections = in_back,
     .doc = {"Checks servers by MySQL's greeting, and by a login if a user is given.", "", "backend db\n    option mysql-check user haproxy\n    server a 127.0.0.1:3306 check"}, .parse = mysql},
    {.name = "option pgsql-check", .sections = in_back,
     .doc = {"Checks servers by the beginning of a PostgreSQL session.", "", "backend db\n    option pgsql-check user haproxy\n    server a 127.0.0.1:5432 check"}, .parse = pgsql},
    {.name = "option redis-check", .sections = in_back, .doc = {"Checks servers by Redis' PING.", "", "backend db\n    option redis-check\n    server a 127.0.0.1:6379 check"}, .parse = plain<CheckKind::Redis>},
    {.name = "option smtpchk", .sections = in_back,
     .doc = {"Checks servers by an SMTP greeting.", "'option smtpchk [HELO|EHLO DOMAIN]'", "backend mail\n    option smtpchk EHLO mail.example.com\n    server a 127.0.0.1:25 check"}, .parse = smtp},
    {.name = "option ssl-hello-chk", .sections = in_back,
     .doc = {"Checks servers by an SSLv3 client hello.", "", "backend app\n    option ssl-hello-chk\n    server a 127.0.0.1:443 check"}, .parse = plain<CheckKind::SslHello>},
    {.name = "option tcp-check", .sections = in_back,
     .doc = {"Checks servers by the script of the 'tcp-check' lines.", "Without any it is a connection.",
             "backend cache\n    option tcp-check\n    tcp-check connect\n    tcp-check send PING\\r\\n\n    tcp-check expect string +PONG\n    server a 127.0.0.1:6379 check"},
     .parse = plain<CheckKind::TcpScript>},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> check_keywords() { return rows; }

} // namespace penstock
