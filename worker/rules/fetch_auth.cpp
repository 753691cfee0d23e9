// SPDX-License-Identifier: BSD-2-Clause
// Who the client says it is: the Authorization field and userlists (RFC 7617; manual, section 7.3.6).
#include <crypt.h>
#include <sys/random.h>

#include <algorithm>

#include "shared/base/text.h"
#include "shared/model/config.h"
#include "shared/tls/digest.h"
#include "worker/rules/base64.h"
#include "worker/rules/http_view.h"
#include "worker/rules/random.h"
#include "worker/rules/rows.h"

namespace penstock {

namespace {

struct Credentials {
  string_view scheme, text; // "Basic", what follows
  string_view user, password;
};

/// The field of the request: Proxy-Authorization where the target is absolute, as proxies are asked.
bool read_field(const EvalContext &ctx, const ArgValue *name, Credentials &c) {
  const HttpMessage *m = request_of(ctx);
  if (!m) return false;
  string_view value;
  if (name && *name) {
    size_t i = m->find(name->str);
    if (i == HttpMessage::npos) return false;
    value = m->value(i);
  } else {
    bool as_proxy = !m->target().starts_with('/') && !m->get(Header::ProxyAuthorization).empty();
    value = m->get(as_proxy ? Header::ProxyAuthorization : Header::Authorization);
  }
  size_t blank = value.find(' ');
  if (value.empty() || blank == string_view::npos) return false;
  c.scheme = value.substr(0, blank);
  c.text = trim(value.substr(blank));
  return true;
}

bool read_basic(EvalContext &ctx, Credentials &c) {
  if (!read_field(ctx, nullptr, c) || !iequals(c.scheme, "Basic")) return false;
  char *p = ctx.scratch.chars(c.text.size() + 3);
  size_t n = base64_decode(c.text, p, false);
  if (n == base64_bad) return false;
  string_view plain(p, n);
  size_t colon = plain.find(':');
  if (colon == string_view::npos) return false;
  c.user = plain.substr(0, colon);
  c.password = plain.substr(colon + 1);
  return true;
}

const User *find_user(const Userlist &list, string_view name) {
  for (const User &u : list.users)
    if (u.name == name) return &u;
  return nullptr;
}

/// Credentials that were right not long ago, each as a digest with a salt of this process: crypt() is slow on purpose,
/// and a client sends its password with every request. The password itself is not kept.
class Verified {
 public:
  struct Mark { char bytes[32]; };
  bool knows(const Mark &m) const { return same_secret(bytes_of(slot(m)), bytes_of(m)); }
  void remember(const Mark &m) { slot(m) = m; }
  /// False where there is no digest.
  bool mark(const User &user, string_view given, Mark &out) const {
    static const DigestKind *kind = digest_kind("sha256");
    char text[1024];
    size_t size = sizeof salt_ + user.name.size() + user.password.size() + given.size() + 2;
    if (size > sizeof text) return false;
    char *at = std::copy(std::begin(salt_), std::end(salt_), text);
    at = std::copy(user.name.begin(), user.name.end(), at);
    *at++ = '\0';
    at = std::copy(user.password.begin(), user.password.end(), at);
    *at++ = '\0';
    std::copy(given.begin(), given.end(), at);
    char made[digest_max];
    if (digest(kind, {text, size}, made) != sizeof out.bytes) return false;
    std::copy(made, made + sizeof out.bytes, out.bytes);
    return true;
  }
  Verified() {
    if (getrandom(salt_, sizeof salt_, 0) != sizeof salt_) std::generate(std::begin(salt_), std::end(salt_), [] { return static_cast<char>(random_u64()); });
  }

 private:
  static constexpr size_t slots = 256;
  static string_view bytes_of(const Mark &m) { return {m.bytes, sizeof m.bytes}; }
  const Mark &slot(const Mark &m) const { return marks_[static_cast<unsigned char>(m.bytes[0]) % slots]; }
  Mark &slot(const Mark &m) { return marks_[static_cast<unsigned char>(m.bytes[0]) % slots]; }
  char salt_[32];
  Mark marks_[slots] = {};
};

bool password_fits(const User &user, string_view given) {
  if (user.insecure) return user.password == given;
  static Verified verified;
  Verified::Mark mark;
  bool marked = verified.mark(user, given, mark);
  if (marked && verified.knows(mark)) return true;
  static crypt_data work;
  char clear[256];
  if (given.size() >= sizeof clear) return false;
  given.copy(clear, given.size());
  clear[given.size()] = '\0';
  const char *made = crypt_r(clear, user.password.c_str(), &work);
  bool good = made && user.password == made;
  if (good && marked) verified.remember(mark);
  return good;
}

/// The user that the request names, when the password is right.
const User *authenticated(EvalContext &ctx, const Userlist &list) {
  Credentials c;
  if (!read_basic(ctx, c)) return nullptr;
  const User *user = find_user(list, c.user);
  return user && password_fits(*user, c.password) ? user : nullptr;
}

PENSTOCK_FETCH(http_auth) {
  const auto *list = args[0].target<Userlist>();
  return list && request_of(ctx) && give_bool(out, authenticated(ctx, *list) != nullptr);
}

/// Each group of the user in turn, so that an ACL can name the one it wants.
PENSTOCK_FETCH(http_auth_group) {
  const auto *list = args[0].target<Userlist>();
  const User *user = list ? authenticated(ctx, *list) : nullptr;
  if (!user) return false;
  u32 number = 0;
  for (const auto &[group, members] : list->groups) {
    bool in = std::find(members.begin(), members.end(), user->name) != members.end() ||
              std::find(user->groups.begin(), user->groups.end(), group) != user->groups.end();
    if (!in || number++ != cursor.position) continue;
    cursor.position++;
    out.may_change = cursor.iterate;
    return give_str(out, group);
  }
  return false;
}

PENSTOCK_FETCH(auth_type) {
  Credentials c;
  return read_field(ctx, nullptr, c) && give_str(out, c.scheme);
}
PENSTOCK_FETCH(auth_user) {
  Credentials c;
  return read_basic(ctx, c) && give_str(out, c.user);
}
PENSTOCK_FETCH(auth_password) {
  Credentials c;
  return read_basic(ctx, c) && give_str(out, c.password);
}
PENSTOCK_FETCH(auth_bearer) {
  Credentials c;
  return read_field(ctx, &args[0], c) && iequals(c.scheme, "Bearer") && give_str(out, c.text);
}

constexpr ArgSpecs list = {req(ArgType::Userlist, "userlist")};
constexpr Type S = Type::Str;
constexpr u32 Q = needs_req_head;
constexpr FetchDef rows[] = {
    {.name = "http_auth", .args = list, .out = Type::Bool, .needs = Q, .doc = {"Whether the request names a user of a userlist with the right password.", "", "http-request auth unless { http_auth(staff) }\nuserlist staff\n  user joe insecure-password secret"}, .eval = http_auth},
    {.name = "http_auth_bearer", .args = {opt(ArgType::Str, "field")}, .out = S, .needs = Q, .doc = {"The token behind the word Bearer in the Authorization field, or another.", "", "http-request set-var(txn.token) http_auth_bearer"}, .eval = auth_bearer},
    {.name = "http_auth_group", .args = list, .out = S, .needs = Q, .doc = {"The groups of the user that the request names with the right password.", "", "acl admin http_auth_group(staff) admins\nuserlist staff\n  group admins users joe\n  user joe insecure-password secret"}, .eval = http_auth_group},
    {.name = "http_auth_pass", .out = S, .needs = Q, .doc = {"The password that the request gives.", "", "http-request set-var(txn.pass) http_auth_pass"}, .eval = auth_password},
    {.name = "http_auth_type", .out = S, .needs = Q, .doc = {"The scheme of the Authorization field.", "", "acl basic http_auth_type Basic"}, .eval = auth_type},
    {.name = "http_auth_user", .out = S, .needs = Q, .doc = {"The user that the request names, whether or not the password is right.", "", "http-request set-header X-User %[http_auth_user]"}, .eval = auth_user},
};
static_assert(sorted_and_documented<FetchDef>(rows));

} // namespace

std::span<const FetchDef> fetch_auth() { return rows; }

} // namespace penstock
