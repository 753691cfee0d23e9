// SPDX-License-Identifier: BSD-2-Clause
// `cookie NAME …`: persistence by a cookie (manual, section 4.2).
#include "master/config/choice.h"
#include "master/config/kw_proxy.h"
#include "shared/base/text.h"

namespace penstock {

namespace {

struct Reading {
  Words &words;
  CookiePersistence &cookie;
};
struct Word {
  string_view name;
  bool (*read)(Reading &);
};

template <auto Field> bool flag(Reading &r) { return r.cookie.*Field = true; }

bool domain(Reading &r) {
  auto v = r.words.need("a domain");
  if (!v) return false;
  if (v->find('.') == string_view::npos || v->find_first_of(" \t;,") != string_view::npos) {
    r.words.alert_last("'" + std::string(*v) + "' is not a domain for a cookie: a dot is needed, blanks, ';' and ',' are not allowed");
    return false;
  }
  r.cookie.domains.emplace_back(*v);
  return true;
}

bool attr(Reading &r) {
  auto v = r.words.need("an attribute");
  if (!v) return false;
  bool bad = v->find(';') != string_view::npos;
  for (char c : *v) bad |= static_cast<unsigned char>(c) < 32 || c == 127;
  if (bad) r.words.alert_last("'attr' allows neither ';' nor control characters");
  else r.cookie.attrs.emplace_back(*v);
  return !bad;
}

template <auto Field> bool life(Reading &r) {
  auto v = need_delay_seconds(r.words);
  if (v) r.cookie.*Field = static_cast<u32>((*v + 999) / 1000);
  return v.has_value();
}

constexpr Word cookie_words[] = {
    {"attr", attr},
    {"domain", domain},
    {"dynamic", flag<&CookiePersistence::dynamic>},
    {"httponly", flag<&CookiePersistence::httponly>},
    {"indirect", flag<&CookiePersistence::indirect>},
    {"insert", flag<&CookiePersistence::insert>},
    {"maxidle", life<&CookiePersistence::maxidle_s>},
    {"maxlife", life<&CookiePersistence::maxlife_s>},
    {"nocache", flag<&CookiePersistence::nocache>},
    {"postonly", flag<&CookiePersistence::postonly>},
    {"prefix", flag<&CookiePersistence::prefix>},
    {"preserve", flag<&CookiePersistence::preserve>},
    {"rewrite", flag<&CookiePersistence::rewrite>},
    {"secure", flag<&CookiePersistence::secure>},
};

bool read_word(Reading &r) {
  string_view word = r.words.peek();
  for (const Word &w : cookie_words)
    if (w.name == word) {
      r.words.next();
      return w.read(r);
    }
  NearMiss near(word);
  std::string all;
  for (const Word &w : cookie_words) {
    near.consider(w.name);
    all += (all.empty() ? "" : ", ") + std::string(w.name);
  }
  alert_expected(r.words, all, near.hint());
  return false;
}

/// Combinations that contradict each other; the message, or nothing.
string_view contradiction(const CookiePersistence &c) {
  if (c.insert + c.prefix + c.rewrite > 1) return "'rewrite', 'insert' and 'prefix' exclude each other";
  if (c.dynamic && (c.rewrite || c.prefix)) return "'dynamic' cannot be combined with 'rewrite' or 'prefix'";
  if ((c.maxidle_s || c.maxlife_s) && !c.insert) return "'maxidle' and 'maxlife' need 'insert'";
  if (c.preserve && !c.insert && !c.indirect) return "'preserve' needs 'insert' or 'indirect'";
  return {};
}

void cookie(LineContext &ctx) {
  auto name = ctx.words.need("the name of a cookie");
  if (!name) return;
  auto made = std::make_shared<CookiePersistence>();
  made->name = *name;
  Reading reading{ctx.words, *made};
  while (!ctx.words.at_end())
    if (!read_word(reading)) return;
  if (string_view wrong = contradiction(*made); !wrong.empty())
    return ctx.diags().alert(ctx.words.line_place(), "'cookie': " + std::string(wrong));
  ctx.settings->cookie = std::move(made);
}

constexpr KeywordDef rows[] = {
    {.name = "cookie", .sections = in_back,
     .doc = {"Keeps a client at its server by a cookie.",
             "insert: the proxy sets it. rewrite: the server sets it and the proxy fills in the value. prefix: the server's own cookie gets a prefix. "
             "With 'indirect' the server does not see it, 'nocache' forbids caches to keep the response, 'postonly' sets it on POST only, 'preserve' lets the "
             "server decide; httponly, secure, domain, attr are the cookie's attributes; maxidle and maxlife bound its age; 'dynamic' computes values from the servers' addresses.",
             "backend app\n    mode http\n    cookie SRV insert indirect nocache httponly\n    server a 127.0.0.1:8001 cookie a\n    server b 127.0.0.1:8002 cookie b"},
     .parse = cookie},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> cookie_keywords() { return rows; }

} // namespace penstock
