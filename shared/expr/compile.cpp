// SPDX-License-Identifier: BSD-2-Clause
// Expressions: from words to fetch, typed arguments and converters, with every cast checked.
#include "shared/expr/compile.h"

#include "shared/base/regex.h"
#include "shared/base/text.h"
#include "shared/expr/expr_parser.h"
#include "shared/expr/needs.h"
#include "shared/expr/pattern.h"
#include "shared/expr/var_name.h"
#include "shared/model/config.h"
#include "shared/table/known_names.h"
#include "shared/table/registry.h"

namespace penstock {

namespace {

std::string quoted(string_view s) { return "'" + std::string(s) + "'"; }

bool is_name_char(char c) { return is_alpha(c) || is_digit(c) || c == '_' || c == '.' || c == '-' || c == '+'; }

/// What a fetch needs, in words, for messages.
struct NeedName { u32 bit; const char *text; };
constexpr NeedName need_names[] = {
    {needs_client, "the client's address"},      {needs_session, "an established session"},
    {needs_req_bytes, "the request's bytes"},    {needs_req_head, "the request's headers"},
    {needs_req_body, "the request's body"},      {needs_server, "the server's connection"},
    {needs_res_bytes, "the response's bytes"},   {needs_res_head, "the response's headers"},
    {needs_res_body, "the response's body"},     {needs_stream, "a stream"},
    {needs_end, "the end of the stream"},        {needs_check, "a health check"},
    {needs_any_head, "a message's headers"},     {needs_status, "a response's status"},
};

struct SetName { u32 set; const char *text; };
constexpr SetName set_names[] = {
    {at_tcp_connection, "tcp-request connection"}, {at_tcp_session, "tcp-request session"},
    {at_tcp_request, "tcp-request content"},       {at_tcp_response, "tcp-response content"},
    {at_http_request, "http-request"},             {at_http_response, "http-response"},
    {at_http_after, "http-after-response"},
};

} // namespace

string_view leading_name(string_view text) {
  size_t n = 0;
  while (n < text.size() && is_name_char(text[n])) n++;
  return text.substr(0, n);
}

/// What of `needs` is not to be had where `available` is; 0 when all is.
u32 missing_needs(u32 needs, u32 available) {
  u32 missing = needs & ~available;
  if (missing & needs_any_head && available & (needs_req_head | needs_res_head)) missing &= ~u32{needs_any_head};
  return missing;
}

std::string describe_needs(u32 needs) {
  std::string out;
  for (const NeedName &n : need_names)
    if (needs & n.bit) out += (out.empty() ? "" : ", ") + std::string(n.text);
  return out;
}

u32 available_in(u32 rule_set) {
  constexpr u32 request = needs_client | needs_session | needs_stream | needs_req_bytes | needs_req_head | needs_req_body;
  constexpr u32 response = needs_client | needs_session | needs_stream | needs_server | needs_res_bytes | needs_res_head | needs_res_body | needs_status;
  switch (rule_set) {
    case at_tcp_connection: return needs_client;
    case at_tcp_session: return needs_client | needs_session;
    case at_tcp_request:
    case at_http_request: return request;
    case at_tcp_response:
    case at_http_response: return response;
    case at_http_after: return response & ~u32{needs_res_body | needs_res_bytes};
    default: return 0;
  }
}

string_view Compiler::where() const {
  for (const SetName &s : set_names)
    if (s.set == rule_set_) return s.text;
  return words_.subject();
}

// ---------------------------------------------------------------------------------------- ExprParser

bool ExprParser::fail(std::string text, std::string hint) {
  Place at = place_;
  if (at.column) at.column = static_cast<u16>(at.column + at_);
  compiler_.diags().alert(at, std::move(text), std::move(hint));
  return false;
}

string_view ExprParser::name() {
  string_view n = leading_name(text_.substr(at_));
  at_ += n.size();
  return n;
}

/// `(a,b,"c,d")`: quotes and backslashes work as on a line (manual 2.2); cuts at commas.
bool ExprParser::arguments(std::vector<std::string> &out, bool &present) {
  present = at_ < text_.size() && text_[at_] == '(';
  if (!present) return true;
  at_++;
  std::string arg;
  char quote = 0;
  for (; at_ < text_.size(); at_++) {
    char c = text_[at_];
    if (quote == 0 && c == ')') {
      at_++;
      out.push_back(std::move(arg));
      return true;
    }
    if (quote == 0 && c == ',') {
      out.push_back(std::move(arg));
      arg.clear();
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else if (c == '\\' && quote != '\'' && at_ + 1 < text_.size()) {
      char next = text_[at_ + 1];
      constexpr string_view from = "nrt\\'\" ", to = "\n\r\t\\'\" ";
      size_t i = from.find(next);
      if (i == string_view::npos) {
        arg += c;
        continue;
      }
      arg += to[i];
      at_++;
    } else {
      arg += c;
    }
  }
  return fail(quote ? "a quote is not closed in the arguments" : "')' is missing after the arguments");
}

static std::shared_ptr<NameRef> pending_name(Compiler &compiler, ArgType type, const std::string &text, Place at, std::string where, Type key = Type::Any) {
  auto ref = std::make_shared<NameRef>();
  ref->type = type;
  ref->text = text;
  compiler.config().pending_names.push_back({ref, at, compiler.proxy(), std::move(where), key});
  return ref;
}

std::shared_ptr<NameRef> Compiler::table_option(const Expr &key, string_view what) {
  Place at = words_.place();
  std::string name;
  if (words_.take("table")) {
    auto word = words_.need("the name of a stick table after 'table'");
    if (!word) return nullptr;
    name = *word;
  }
  return pending_name(*this, ArgType::Table, name, at, "'" + std::string(what) + "'", key.out);
}

/// "map_beg_int" is a prefix match, "map" an exact one.
static MatchMethod map_method(string_view converter) {
  auto parts = split(converter, '_');
  if (parts.size() < 2) return MatchMethod::Str;
  if (parts[1] == "regm") return MatchMethod::Reg;
  return match_method_of(parts[1]).value_or(MatchMethod::Str);
}

/// "map_dom_int" asks for numbers as values.
static u8 map_values(string_view converter) {
  auto parts = split(converter, '_');
  if (parts.size() < 3) return PatternList::any_text;
  return parts[2] == "int" ? PatternList::numbers : parts[2] == "ip" ? PatternList::addresses : PatternList::any_text;
}

static std::optional<i64> mask_bits(string_view text, bool v6) {
  if (auto n = parse_u64(text)) return *n <= (v6 ? 128u : 32u) ? std::optional<i64>(static_cast<i64>(*n)) : std::nullopt;
  if (v6) return std::nullopt;
  auto net = parse_network("0.0.0.0/" + std::string(text));
  return net ? std::optional<i64>(net->bits) : std::nullopt;
}

/// An argument that is called acl names one: `ref` is the ACL, `num` 1 where '!' stands before it.
bool ExprParser::named_acl(string_view name, ArgValue &out, std::string &error) {
  out.num = name.starts_with('!');
  if (out.num) name.remove_prefix(1);
  out.ref = compiler_.find_acl(name); // the proxy owns it
  if (!out.ref) {
    auto acl = predefined_acl(compiler_, name, place_);
    out.ref = acl.get();
    out.owner = acl;
  }
  if (!out.ref) error = "there is no ACL " + quoted(name) + " above this line in this section";
  return out.ref;
}

bool ExprParser::convert_arg(string_view owner, size_t index, const ArgSpec &spec, const std::string &text, ArgValue &out, std::string &error) {
  out.type = spec.type;
  out.str = text;
  auto number = [&](const char *what, auto value) {
    if (!value) error = std::string("expects ") + what + ", got " + quoted(text);
    else out.num = static_cast<i64>(*value);
    return static_cast<bool>(value);
  };
  auto variable = [&]() {
    auto id = parse_variable(text, compiler_.config(), error);
    if (id) out.num = id->packed(), out.type = ArgType::Var;
    return static_cast<bool>(id);
  };
  switch (spec.type) {
    case ArgType::None: return true;
    case ArgType::Str: return spec.name != "acl" || named_acl(text, out, error);
    case ArgType::Int: return number("a number", parse_i64(text));
    case ArgType::Time: return number("a delay such as 30s", parse_delay(text).value);
    case ArgType::Size: return number("a size such as 16k", parse_size(text));
    case ArgType::Mask4: return number("an IPv4 mask such as 24", mask_bits(text, false));
    case ArgType::Mask6: return number("an IPv6 mask such as 64", mask_bits(text, true));
    case ArgType::Ip: {
      auto ip = parse_ip(text);
      if (ip) out.ip = *ip;
      else error = quoted(text) + " is no IP address";
      return static_cast<bool>(ip);
    }
    case ArgType::Regex: {
      auto re = Regex::compile(text, false, error);
      out.ref = re.get();
      out.owner = re;
      return out.ref;
    }
    case ArgType::Map: {
      Config &config = compiler_.config();
      if (!config.pattern_files) config.pattern_files = std::make_shared<PatternFiles>();
      out.ref = config.pattern_files->of_file(text, {.kind = PatternFiles::Map, .method = map_method(owner), .values = map_values(owner), .place = place_}, error);
      return out.ref;
    }
    case ArgType::Var: return variable();
    case ArgType::IntOrVar:
      if (auto v = parse_i64(text)) {
        out.type = ArgType::Int;
        out.num = *v;
        return true;
      }
      if (variable()) return true;
      error = "expects a number or a variable, got " + quoted(text);
      return false;
    case ArgType::StrOrVar: {
      constexpr string_view scopes[] = {"proc.", "sess.", "txn.", "req.", "res.", "check."};
      for (string_view s : scopes)
        if (text.starts_with(s)) return variable();
      out.type = ArgType::Str;
      return true;
    }
    case ArgType::OwnTable: out.type = ArgType::Table; [[fallthrough]];
    case ArgType::Frontend:
    case ArgType::Backend:
    case ArgType::Table:
    case ArgType::Server:
    case ArgType::Userlist: {
      auto ref = pending_name(compiler_, out.type, text, place_, "argument " + std::to_string(index + 1) + " of " + quoted(owner));
      out.ref = ref.get();
      out.owner = ref;
      return true;
    }
  }
  return false;
}

bool ExprParser::convert_args(string_view owner, const char *kind, const ArgSpecs &specs, const std::vector<std::string> &texts, Args &out) {
  size_t most = 0, least = 0;
  for (const ArgSpec &s : specs) {
    if (s.type == ArgType::None) break;
    most++;
    if (!s.optional) least = most;
  }
  bool only_empty = texts.size() == 1 && texts[0].empty(); // "()": one empty argument where one is wanted, none otherwise
  if (texts.size() > most && !only_empty)
    return fail(std::string(kind) + " " + quoted(owner) + (most == 0 ? " takes no argument" : " takes at most " + std::to_string(most) + (most == 1 ? " argument" : " arguments")));
  if (texts.size() < least)
    return fail(std::string(kind) + " " + quoted(owner) + " lacks its argument '" + std::string(specs[texts.size()].name) + "'");
  out.resize(most);
  for (size_t i = 0; i < texts.size() && i < most; i++) {
    if (texts[i].empty() && (specs[i].optional || specs[i].type != ArgType::Str)) {
      if (specs[i].optional) continue;
      return fail("argument '" + std::string(specs[i].name) + "' of " + quoted(owner) + " is empty");
    }
    std::string error;
    if (!convert_arg(owner, i, specs[i], texts[i], out[i], error))
      return fail("argument '" + std::string(specs[i].name) + "' of " + quoted(owner) + ": " + error);
  }
  std::string none;
  for (size_t i = 0; i < most; i++)
    if (specs[i].type == ArgType::OwnTable && !out[i]) convert_arg(owner, i, specs[i], none, out[i], none);
  return true;
}

static std::string fetch_hint(string_view name) {
  NearMiss near(name);
  for (FetchRows rows : fetch_tables())
    for (const FetchDef &f : rows()) near.consider(f.name);
  for (AclAliasRows rows : acl_alias_tables())
    for (const AclAliasDef &a : rows()) near.consider(a.name);
  return near.hint();
}

static std::string converter_hint(string_view name) {
  NearMiss near(name);
  for (ConverterRows rows : converter_tables())
    for (const ConverterDef &c : rows()) near.consider(c.name);
  return near.hint();
}

bool ExprParser::one_converter(Expr &out) {
  string_view n = name();
  const ConverterDef *def = n.empty() ? nullptr : find_converter(n);
  if (!def) {
    at_ -= n.size();
    if (n.empty()) return fail("a converter is missing after ',' in " + quoted(text_));
    if (language_has_converter(n)) return fail("the converter " + quoted(n) + " is known but not supported yet");
    return fail("unknown converter " + quoted(n) + " after " + quoted(out.fetch->name), converter_hint(n));
  }
  if (!castable(out.out, def->in))
    return fail("converter " + quoted(n) + " works on type " + std::string(type_name(def->in)) + " and cannot be applied to type " + std::string(type_name(out.out)));
  std::vector<std::string> texts;
  bool present;
  ConverterStep step;
  step.def = def;
  if (!arguments(texts, present) || !convert_args(n, "converter", def->args, texts, step.args)) return false;
  std::string error;
  if (def->check && !def->check(step.args, error)) return fail("converter " + quoted(n) + ": " + error);
  if (def->out != Type::Same) out.out = def->out;
  out.converters.push_back(std::move(step));
  return true;
}

bool ExprParser::converters(Expr &out) {
  for (;;) {
    if (!one_converter(out)) return false;
    trailing_comma_ = false;
    if (at_expression_end()) break;
    if (text_[at_] != ',') return fail("expected ',' or the end of the expression, found " + quoted(text_.substr(at_)));
    at_++;
    if (at_ >= text_.size() && !in_brackets_) {
      trailing_comma_ = true;
      break;
    }
  }
  return true;
}

bool ExprParser::parse(Expr &out) {
  string_view n = name();
  if (n.empty()) return fail("a sample fetch method is expected, found " + quoted(text_));
  out.fetch = find_fetch(n);
  if (!out.fetch) {
    if (const AclAliasDef *alias = find_acl_alias(n)) out.fetch = find_fetch(alias->fetch);
  }
  if (!out.fetch) {
    at_ = 0;
    if (language_has_fetch(n)) return fail("the sample fetch " + quoted(n) + " is known but not supported yet");
    return fail("unknown sample fetch method " + quoted(n), fetch_hint(n));
  }
  std::vector<std::string> texts;
  bool present;
  if (!arguments(texts, present) || !convert_args(n, "fetch method", out.fetch->args, texts, out.args)) return false;
  std::string error;
  if (out.fetch->check && !out.fetch->check(out.args, error)) return fail("fetch method " + quoted(n) + ": " + error);
  out.out = out.fetch->out;
  out.needs = out.fetch->needs;
  if (!at_expression_end()) {
    if (text_[at_] != ',') return fail("expected ',' or the end of the expression after " + quoted(text_.substr(0, at_)) + ", found " + quoted(text_.substr(at_)));
    at_++;
    if (at_ >= text_.size() && !in_brackets_) trailing_comma_ = true;
    else if (!converters(out)) return false;
  }
  out.text = text_.substr(0, at_);
  return true;
}

// ------------------------------------------------------------------------------------------ Compiler

static bool check_available(Compiler &c, const Expr &e, Place at) {
  u32 missing = missing_needs(e.needs, c.available());
  if (!missing) return true;
  c.diags().alert(at, "'" + std::string(e.fetch->name) + "' cannot be used here (" + std::string(c.where()) + "): it needs " + describe_needs(missing));
  return false;
}

std::optional<Expr> Compiler::expression() {
  Place at = words_.place();
  auto word = words_.need("a sample expression");
  if (!word) return std::nullopt;
  Expr e;
  ExprParser parser(*this, *word, at);
  if (!parser.parse(e)) return std::nullopt;
  // Converters may follow as words of their own, as in "src ipmask(24)".
  while (!words_.at_end() && find_converter(leading_name(words_.peek())) && !words_.peek().empty()) {
    ExprParser more(*this, words_.peek(), words_.place());
    if (!more.converters(e)) return std::nullopt;
    e.text += "," + std::string(words_.next());
  }
  if (!check_available(*this, e, at)) return std::nullopt;
  return e;
}

std::optional<Expr> Compiler::expression_in(string_view text, Place at) {
  Expr e;
  ExprParser parser(*this, text, at);
  if (!parser.parse(e) || !check_available(*this, e, at)) return std::nullopt;
  return e;
}

// --------------------------------------------------------------------------------- names known later

namespace {

/// What a table's keys are, as a type of samples.
Type key_type(const TableDef &t) {
  constexpr Type types[] = {Type::Ipv4, Type::Ipv6, Type::Int, Type::Str, Type::Bin};
  return types[static_cast<u8>(t.key)];
}

const TableDef *find_table(Config &config, const PendingName &p, std::string &error) {
  const TableDef *table = p.ref->text.empty() ? p.proxy ? p.proxy->table : nullptr : config.table(p.ref->text);
  if (table && !castable(p.key, key_type(*table))) {
    error = "keys of type " + std::string(type_name(p.key)) + " do not fit the table '" + table->name + "', whose keys are of type " + table->type_word;
    return nullptr;
  }
  if (table) return table;
  if (!p.ref->text.empty()) error = config.backend(p.ref->text) || config.frontend(p.ref->text) ? "'" + p.ref->text + "' has no 'stick-table'" : "there is no stick table '" + p.ref->text + "'";
  else error = (p.proxy ? "'" + p.proxy->name + "' has no 'stick-table' of its own" : std::string("there is no proxy here that could have a 'stick-table'")) + ": name the table";
  return nullptr;
}

const Server *find_server(const Proxy &backend, string_view name) {
  for (const auto &s : backend.servers)
    if (s->name == name) return s.get();
  return nullptr;
}

/// The object, or null and what is wrong.
const void *look_up(Config &config, const PendingName &p, std::string &error) {
  const std::string &text = p.ref->text;
  switch (p.ref->type) {
    case ArgType::Frontend:
      if (const Proxy *f = config.frontend(text)) return f;
      error = "there is no frontend '" + text + "'";
      return nullptr;
    case ArgType::Backend:
      if (const Proxy *b = config.backend(text)) return b;
      error = "there is no backend '" + text + "'";
      return nullptr;
    case ArgType::Userlist:
      if (const Userlist *u = config.userlist(text)) return u;
      error = "there is no userlist '" + text + "'";
      return nullptr;
    case ArgType::Table: return find_table(config, p, error);
    case ArgType::Server: {
      size_t slash = text.find('/');
      const Proxy *backend = slash == std::string::npos ? p.proxy : config.backend(string_view(text).substr(0, slash));
      string_view name = slash == std::string::npos ? string_view(text) : string_view(text).substr(slash + 1);
      if (!backend) {
        error = "there is no backend '" + text.substr(0, slash) + "'";
        return nullptr;
      }
      if (const Server *s = find_server(*backend, name)) return s;
      error = "backend '" + backend->name + "' has no server '" + std::string(name) + "'";
      return nullptr;
    }
    default: error = "'" + text + "' names nothing that exists"; return nullptr;
  }
}

bool is_rehearsal(const Config &config, const Proxy &p) {
  for (const auto &d : config.defaults)
    if (d->rehearsal.get() == &p) return true;
  return false;
}

} // namespace

void resolve_names(Config &config, Diagnostics &diags) {
  for (PendingName &p : config.pending_names) {
    std::string error;
    // A rule of a defaults section is read for its mistakes alone: each proxy that inherits it has its own table.
    if (p.ref->type == ArgType::Table && p.ref->text.empty() && p.proxy && is_rehearsal(config, *p.proxy)) continue;
    p.ref->target = look_up(config, p, error);
    if (p.ref->target) continue;
    NearMiss near(p.ref->text);
    const auto &names = p.ref->type == ArgType::Frontend ? config.frontends : config.backends;
    if (p.ref->type == ArgType::Frontend || p.ref->type == ArgType::Backend)
      for (const auto &[name, proxy] : names) near.consider(name);
    if (p.ref->type == ArgType::Table && !p.ref->text.empty() && !config.table(p.ref->text))
      for (const auto &table : config.tables) near.consider(table->name);
    diags.alert(p.place, p.where + ": " + error, near.hint());
  }
  config.pending_names.clear();
  if (config.pattern_files) config.pattern_files->finish(diags);
}

} // namespace penstock
