// SPDX-License-Identifier: BSD-2-Clause
// `balance`, `hash-type` and `hash-balance-factor` (manual, section 4.2). Algorithms are rows too: a
// name, perhaps an argument in parentheses, perhaps words after it.
#include "master/config/choice.h"
#include "master/config/kw_proxy.h"
#include "shared/base/text.h"

namespace penstock {

namespace {

/// What a sample of a request may look at when a server is chosen.
constexpr u32 seen_when_balancing =
    needs_client | needs_session | needs_req_bytes | needs_req_head | needs_req_body | needs_stream;

struct Algorithm {
  string_view name;
  BalanceAlgorithm value;
  enum Argument : u8 { NoArgument, Optional, Required } argument = NoArgument;
  string_view argument_is = {};
  bool (*more)(LineContext &, Balance &, string_view argument) = nullptr;
};

/// A number after a word such as 'len'.
bool read_number(Words &words, u32 &into, i64 min, i64 max) {
  words.next();
  auto v = words.need_int("a number", min, max);
  if (v) into = static_cast<u32>(*v);
  return v.has_value();
}

bool uri_words(LineContext &ctx, Balance &b, string_view) {
  Words &words = ctx.words;
  while (!words.at_end()) {
    string_view w = words.peek();
    if (w == "len") {
      if (!read_number(words, b.len, 1, 65535)) return false;
    } else if (w == "depth") {
      if (!read_number(words, b.depth, 1, 65535)) return false;
    } else if (words.take("whole")) {
      b.whole = true;
    } else if (words.take("path-only")) {
      b.path_only = true;
    } else {
      alert_expected(words, "'len', 'depth', 'whole' or 'path-only' after 'uri'");
      return false;
    }
  }
  return true;
}

bool url_param_words(LineContext &ctx, Balance &b, string_view) {
  auto name = ctx.words.need("the name of a parameter after 'url_param'");
  if (!name) return false;
  b.name = *name;
  if (!ctx.words.take("check_post")) return true;
  b.check_post = true;
  if (ctx.words.at_end()) return true;
  auto wait = ctx.words.need_int("a number of bytes", 0, 2'147'483'647);
  if (wait) b.post_wait = static_cast<u32>(*wait);
  return wait.has_value();
}

bool header_words(LineContext &ctx, Balance &b, string_view name) {
  b.name = name;
  b.domain_only = ctx.words.take("use_domain_only");
  return true;
}

bool cookie_words(LineContext &, Balance &b, string_view name) {
  b.name = name.empty() ? string_view("msts") : name;
  return true;
}

bool random_words(LineContext &ctx, Balance &b, string_view draws) {
  if (draws.empty()) return true;
  auto n = parse_u64(draws);
  if (!n || *n < 1 || *n > 1'000'000) {
    ctx.words.alert_last("'random' expects a number of draws of at least 1, got '" + std::string(draws) + "'");
    return false;
  }
  b.draws = static_cast<u32>(*n);
  return true;
}

bool hash_words(LineContext &ctx, Balance &b, string_view) {
  if (ctx.words.at_end()) {
    ctx.words.alert("'balance hash' expects a sample expression");
    return false;
  }
  Compiler compiler(ctx.words, ctx.config, ctx.proxy, seen_when_balancing);
  auto expr = compiler.expression();
  if (!expr) return false;
  b.expr = std::make_shared<Expr>(std::move(*expr));
  return true;
}

constexpr Algorithm algorithms[] = {
    {"roundrobin", BalanceAlgorithm::RoundRobin},
    {"static-rr", BalanceAlgorithm::StaticRr},
    {"leastconn", BalanceAlgorithm::LeastConn},
    {"first", BalanceAlgorithm::First},
    {"source", BalanceAlgorithm::Source},
    {"uri", BalanceAlgorithm::Uri, Algorithm::NoArgument, {}, uri_words},
    {"url_param", BalanceAlgorithm::UrlParam, Algorithm::NoArgument, {}, url_param_words},
    {"hdr", BalanceAlgorithm::Hdr, Algorithm::Required, "the name of a header", header_words},
    {"random", BalanceAlgorithm::Random, Algorithm::Optional, "a number of draws", random_words},
    {"rdp-cookie", BalanceAlgorithm::RdpCookie, Algorithm::Optional, "the name of a cookie", cookie_words},
    {"hash", BalanceAlgorithm::Hash, Algorithm::NoArgument, {}, hash_words},
};
constexpr string_view planned_algorithms[] = {"log-hash", "sticky"};

/// "hdr(host)" into "hdr" and "host"; false when the parenthesis is not closed.
bool split_argument(string_view word, string_view &name, string_view &argument) {
  size_t open = word.find('(');
  name = word.substr(0, open);
  if (open == string_view::npos) return true;
  argument = word.substr(open + 1);
  if (!argument.ends_with(')')) return false;
  argument.remove_suffix(1);
  return true;
}

const Algorithm *find_algorithm(Words &words, string_view name) {
  for (const Algorithm &a : algorithms)
    if (a.name == name) return &a;
  for (string_view planned : planned_algorithms)
    if (planned == name) {
      words.alert("the algorithm '" + std::string(name) + "' is known but not implemented yet");
      return nullptr;
    }
  NearMiss near(name);
  std::string names;
  for (const Algorithm &a : algorithms) {
    near.consider(a.name);
    names += (names.empty() ? "" : ", ") + std::string(a.name);
  }
  alert_expected(words, "an algorithm (" + names + ")", near.hint());
  return nullptr;
}

void balance(LineContext &ctx) {
  Words &words = ctx.words;
  Balance b;
  b.given = true;
  const Balance &old = ctx.settings->balance; // hash-type and the factor are lines of their own
  b.hash = old.hash, b.function = old.function, b.avalanche = old.avalanche, b.balance_factor = old.balance_factor;
  if (words.at_end()) {
    ctx.settings->balance = b;
    return;
  }
  string_view name, argument;
  bool closed = split_argument(words.peek(), name, argument);
  const Algorithm *algorithm = find_algorithm(words, name);
  if (!algorithm) return;
  std::string called(name);
  if (!closed) return words.alert("the parenthesis of '" + called + "' is not closed");
  if (algorithm->argument == Algorithm::NoArgument && words.peek().size() != name.size())
    return words.alert("'" + called + "' takes no argument in parentheses");
  if (algorithm->argument == Algorithm::Required && argument.empty())
    return words.alert("'" + called + "' expects " + std::string(algorithm->argument_is) + " in parentheses", "write " + called + "(…)");
  words.next();
  b.algorithm = algorithm->value;
  if (algorithm->more && !algorithm->more(ctx, b, argument)) return;
  if (words.end()) ctx.settings->balance = std::move(b);
}

void hash_type(LineContext &ctx) {
  constexpr Choice<HashKind> kinds[] = {{"map-based", HashKind::MapBased}, {"consistent", HashKind::Consistent}};
  constexpr Choice<HashFunction> functions[] = {{"sdbm", HashFunction::Sdbm}, {"djb2", HashFunction::Djb2}, {"wt6", HashFunction::Wt6},
                                                {"crc32", HashFunction::Crc32}, {"none", HashFunction::None}};
  const HashKind *kind = need_choice(ctx.words, kinds);
  if (!kind) return;
  HashFunction function = HashFunction::Sdbm;
  bool avalanche = *kind == HashKind::Consistent; // as the manual says: only where no function is named
  if (!ctx.words.at_end() && ctx.words.peek() != "avalanche") {
    const HashFunction *f = need_choice(ctx.words, functions);
    if (!f) return;
    function = *f;
    avalanche = false;
  }
  if (ctx.words.take("avalanche")) avalanche = true;
  if (!ctx.words.end()) return;
  Balance &b = ctx.settings->balance;
  b.hash = *kind, b.function = function, b.avalanche = avalanche;
}

void hash_balance_factor(LineContext &ctx) {
  auto v = ctx.words.need_int("a percentage above 100, or 0", 0, 2'147'483'647);
  if (!v) return;
  if (*v != 0 && *v <= 100) return ctx.words.alert_last("'hash-balance-factor' expects a percentage above 100, or 0 for none");
  if (ctx.words.end()) ctx.settings->balance.balance_factor = static_cast<u32>(*v);
}

constexpr KeywordDef rows[] = {
    {.name = "balance", .sections = in_back,
     .doc = {"How a server is chosen for a request that no persistence decides.",
             "roundrobin: in turn, by weight. static-rr: the same with weights that cannot change. leastconn: fewest connections. "
             "first: the first with a free place. source: by the client's address. uri [len N] [depth N] [whole] [path-only], "
             "url_param NAME [check_post], hdr(NAME) [use_domain_only], rdp-cookie[(NAME)], hash EXPRESSION: by a part of the request. "
             "random[(N)]: the less loaded of N random ones.",
             "backend app\n    mode http\n    balance uri depth 2\n    server a 127.0.0.1:8001\n    server b 127.0.0.1:8002"},
     .parse = balance},
    {.name = "hash-balance-factor", .sections = in_back,
     .doc = {"Bounds the load of one server under consistent hashing, in percent of the average.",
             "A request for a server above the bound goes to the next on the ring. 0 sets no bound.",
             "backend app\n    mode http\n    balance uri\n    hash-type consistent\n    hash-balance-factor 150"},
     .parse = hash_balance_factor},
    {.name = "hash-type", .sections = in_back,
     .doc = {"How hashes become servers.",
             "map-based: a table of all servers, smooth but reshuffled when one changes. consistent: a ring, of which a change moves little. "
             "Then the function (sdbm, djb2, wt6, crc32, none) and perhaps 'avalanche', which mixes its bits. With wt6 the choice is "
             "our own; with the others it is the one that other programs of this language make for the same servers.",
             "backend app\n    balance source\n    hash-type consistent djb2 avalanche"},
     .parse = hash_type},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> balance_keywords() { return rows; }

} // namespace penstock
