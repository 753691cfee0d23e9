// SPDX-License-Identifier: BSD-2-Clause
// Reads files line by line and gives each line to its row. All mistakes are collected; what follows a
// bad line is still read. Resolving names and checking the whole come after the last file.
#include "master/config/parser.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "master/config/conditions.h"
#include "master/config/environment.h"
#include "master/config/keyword_index.h"
#include "master/config/reader.h"
#include "master/config/resolve.h"
#include "master/config/sections.h"
#include "master/config/working_directory.h"

namespace penstock {

namespace {

/// Rows that a proxy without that half refuses; all others are ignored with a warning there, because
/// people share lines between sections.
constexpr string_view strict_keywords[] = {"declare", "default-server", "quic-initial", "retry-on", "server", "server-template", "tcp-request", "tcp-response", "use-fcgi-app"};

bool is_strict(string_view name) {
  string_view first = name.substr(0, name.find(' '));
  return std::find(std::begin(strict_keywords), std::end(strict_keywords), first) != std::end(strict_keywords);
}

std::string quoted(string_view s) { return "'" + std::string(s) + "'"; }

/// "frontend 'www'" or "'global' sections", for messages.
std::string section_text(const LineContext &ctx) {
  const SectionDef *def = find_section_by_bit(ctx.section);
  std::string kind(def ? def->name : "this");
  return ctx.proxy ? kind + " " + quoted(ctx.proxy->name) : quoted(kind) + " sections";
}

void report_misplaced(LineContext &ctx, const KeywordMatch &match) {
  const KeywordDef &row = *match.elsewhere;
  std::string name = quoted(row.name);
  if (ctx.section == in_defaults && (row.sections & in_proxies)) {
    ctx.words.alert(name + " is not allowed in 'defaults' sections");
    return;
  }
  bool other_half = (ctx.section & (in_frontend | in_backend)) && (row.sections & (in_frontend | in_backend));
  if (!other_half) {
    std::string places;
    for (const SectionDef &section : section_rows())
      if (row.sections & section.bit) places += (places.empty() ? "" : ", ") + std::string(section.name);
    ctx.words.alert("the keyword " + name + " is not allowed in " + section_text(ctx), "it belongs to: " + places);
    return;
  }
  string_view half = ctx.section == in_frontend ? "backend" : "frontend";
  if (is_strict(row.name)) {
    ctx.words.alert(name + " is not allowed because " + section_text(ctx) + " has no " + std::string(half) + " capability");
    return;
  }
  std::string hint;
  if (row.name == "fullconn") hint = "maybe you want 'maxconn' instead";
  if (row.name == "maxconn") hint = "maybe you want 'fullconn' instead";
  ctx.words.warning(name + " is ignored because " + section_text(ctx) + " has no " + std::string(half) + " capability", hint);
}

void report_unknown(LineContext &ctx) {
  Words &words = ctx.words;
  string_view first = words.peek();
  std::string hint = keyword_hint(words, ctx.section);
  if (!is_keyword_family(first, ctx.section)) {
    words.alert("unknown keyword " + quoted(first) + " in " + section_text(ctx), hint);
    return;
  }
  words.next();
  if (words.at_end()) words.alert("'" + std::string(first) + "' must be followed by what it is about");
  else words.alert("unknown keyword '" + std::string(first) + " " + std::string(words.peek()) + "' in " + section_text(ctx), hint);
}

/// Kinds of rules in the order in which they run, whatever the order of their lines.
struct RuleKind {
  string_view name;
  bool (*present)(const Proxy &);
};
constexpr RuleKind rule_kinds[] = {
    {"tcp-request connection", [](const Proxy &p) { return !p.tcp_connection.empty(); }},
    {"tcp-request session", [](const Proxy &p) { return !p.tcp_session.empty(); }},
    {"tcp-request content", [](const Proxy &p) { return !p.tcp_request.empty(); }},
    {"http-request", [](const Proxy &p) { return !p.http_request.empty(); }},
    {"use_backend", [](const Proxy &p) { return !p.use_backend.empty(); }},
    {"use-server", [](const Proxy &p) { return !p.use_server.empty(); }},
};

void warn_of_order(LineContext &ctx, const KeywordDef &row, Place at) {
  if (!ctx.proxy) return;
  const RuleKind *kind = std::find_if(std::begin(rule_kinds), std::end(rule_kinds), [&](const RuleKind &k) { return k.name == row.name; });
  if (kind == std::end(rule_kinds)) return;
  for (const RuleKind *later = kind + 1; later != std::end(rule_kinds); later++) {
    if (!later->present(*ctx.proxy)) continue;
    ctx.diags().warning(at, "this " + quoted(row.name) + " rule stands after " + quoted(later->name) + " rules but runs before them");
    return;
  }
}

void run_row(LineContext &ctx, const KeywordDef &row, Place at) {
  Words &words = ctx.words;
  words.set_subject(row.name);
  ctx.def = &row;
  if (row.standing == Standing::Planned) {
    ctx.diags().alert(at, quoted(row.name) + " is known but not supported yet");
    return;
  }
  if (row.standing == Standing::Legacy && !row.modern.empty()) ctx.diags().warning(at, quoted(row.name) + " is an old form", "write " + quoted(row.modern));
  unsigned alerts = ctx.diags().alerts();
  warn_of_order(ctx, row, at);
  row.parse(ctx);
  if (ctx.diags().alerts() == alerts) words.end();
}

Negation take_negation(Words &words) {
  if (words.take("no")) return Negation::No;
  if (words.take("default")) return Negation::Default;
  return Negation::None;
}

void keep_rule(LineContext &ctx, const KeywordDef &row, Place at) {
  Defaults &defaults = *ctx.defaults;
  if (defaults.name.empty()) {
    ctx.diags().alert(at, quoted(row.name) + " is only allowed in 'defaults' sections that have a name");
    return;
  }
  defaults.rules.push_back({ctx.words.all(), ctx.words.line_place()});
  if (!defaults.rehearsal) {
    defaults.rehearsal = std::make_unique<Proxy>();
    defaults.rehearsal->name = defaults.name;
    defaults.rehearsal->is_frontend = defaults.rehearsal->is_backend = true;
  }
  LineContext rehearsal = ctx;
  static_cast<ProxySettings &>(*defaults.rehearsal) = defaults;
  size_t names_before = ctx.config.pending_names.size();
  rehearsal.proxy = defaults.rehearsal.get();
  rehearsal.settings = defaults.rehearsal.get();
  run_row(rehearsal, row, at);
  ctx.config.pending_names.resize(names_before); // nobody will run these; a frontend may lack what they name
  *ctx.settings = *defaults.rehearsal; // settings that such a line gives are inherited like all others
}

} // namespace

void parse_line_in_section(LineContext &ctx) {
  Words &words = ctx.words;
  Place at = words.place();
  ctx.negation = take_negation(words);
  if (ctx.negation != Negation::None && words.at_end()) {
    words.alert("a keyword must follow " + quoted(words.all()[0].text));
    return;
  }
  KeywordMatch match = find_keyword(words, ctx.section);
  if (!match.row) {
    if (match.elsewhere) report_misplaced(ctx, match);
    else report_unknown(ctx);
    return;
  }
  for (size_t i = 0; i < match.words; i++) words.next();
  if (ctx.negation != Negation::None && !match.row->negatable && match.row->standing != Standing::Planned) {
    ctx.diags().alert(at, quoted(words.all()[0].text) + " cannot be used with " + quoted(match.row->name));
    return;
  }
  if (match.row->replayed && ctx.section == in_defaults) keep_rule(ctx, *match.row, at);
  else run_row(ctx, *match.row, at);
}

bool LineContext::wants_frontend() {
  if (!proxy || proxy->is_frontend) return true;
  words.warning("'" + std::string(words.subject()) + "' is ignored because " + section_text(*this) + " has no frontend capability");
  return false;
}
bool LineContext::wants_backend() {
  if (!proxy || proxy->is_backend) return true;
  words.warning("'" + std::string(words.subject()) + "' is ignored because " + section_text(*this) + " has no backend capability");
  return false;
}

namespace {

/// One run over all files.
class ConfigurationReader {
 public:
  ConfigurationReader(Config &config, Diagnostics &diags) : config_(config), diags_(diags) {}

  ~ConfigurationReader() { directory_.restore(); }

  void read(const std::string &path) {
    config_.file_names.push_back(path);
    file_ = config_.file_names.back().c_str();
    directory_.restore(); // names of files on the command line start where the program did
    if (!read_file(path, text_)) {
      diags_.alert({file_, 0, 0}, std::string("cannot be read: ") + std::strerror(errno));
      return;
    }
    directory_.apply(config_.global.default_path, path, {file_, 0, 0}, diags_);
    string_view rest = text_;
    for (line_ = 1; !rest.empty(); line_++) {
      size_t end = rest.find('\n');
      string_view line = rest.substr(0, end);
      rest.remove_prefix(end == string_view::npos ? rest.size() : end + 1);
      read_line(line);
    }
    close_section();
    blocks_.finish(diags_);
  }

 private:
  Place place(size_t offset) const { return {file_, line_, static_cast<u16>(std::min<size_t>(offset + 1, 65535))}; }

  void read_line(string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (size_t nul = line.find('\0'); nul != string_view::npos) {
      diags_.alert(place(nul), "a NUL byte is not allowed here");
      return;
    }
    if (!tokenizer_.run(line, {file_, line_, section_name_}, buffer_)) {
      diags_.alert(place(tokenizer_.error.at), tokenizer_.error.text);
      return;
    }
    if (blocks_.active() && tokenizer_.empty_word != Tokenizer::no_empty_word)
      diags_.warning(place(tokenizer_.empty_word), "this word is empty and ends the line: what follows is ignored");
    if (buffer_.empty()) return;
    Words words(std::move(buffer_), {file_, line_, 0}, diags_);
    if (!blocks_.directive(words) && blocks_.active()) read_words(words);
    buffer_ = words.release();
  }

  void read_words(Words &words) {
    if (const SectionDef *def = find_section(words.peek())) {
      close_section();
      open_section(*def, words);
      return;
    }
    if (!section_) {
      if (!skipping_) words.alert("the keyword " + quoted(words.peek()) + " stands before any section");
      return;
    }
    LineContext ctx = context_for(words);
    parse_line_in_section(ctx);
    if (ctx.def && ctx.def->name == "default-path") directory_.apply(config_.global.default_path, file_, words.line_place(), diags_);
  }

  LineContext context_for(Words &words) {
    LineContext ctx{.words = words, .config = config_, .section = section_->bit};
    ctx.settings = object_.settings, ctx.proxy = object_.proxy, ctx.defaults = object_.defaults;
    ctx.userlist = object_.userlist, ctx.http_errors = object_.http_errors, ctx.other = object_.other;
    return ctx;
  }

  void open_section(const SectionDef &def, Words &words) {
    words.next();
    words.set_subject(def.name);
    skipping_ = true;
    if (def.standing == Standing::Planned) {
      words.alert_last("sections " + quoted(def.name) + " are known but not supported yet");
      return;
    }
    std::string name;
    if (def.takes_name != SectionName::None && !words.at_end() && !(def.takes_name == SectionName::Optional && words.peek() == "from"))
      name = words.next();
    if (def.takes_name == SectionName::Required && name.empty()) {
      words.alert(quoted(def.name) + " must be followed by a name");
      return;
    }
    section_ = &def;
    object_ = {};
    LineContext ctx = context_for(words);
    if (!def.open(ctx, name)) {
      section_ = nullptr;
      return;
    }
    words.end();
    skipping_ = false;
    object_ = {ctx.settings, ctx.proxy, ctx.defaults, ctx.userlist, ctx.http_errors, ctx.other};
    section_name_ = name.empty() ? std::string(def.name) : name;
  }

  void close_section() {
    if (section_ && section_->close) {
      Words none({}, {file_, line_, 0}, diags_);
      LineContext ctx = context_for(none);
      section_->close(ctx);
    }
    section_ = nullptr;
    skipping_ = false;
    section_name_.clear();
  }

  struct Object {
    ProxySettings *settings = nullptr;
    Proxy *proxy = nullptr;
    Defaults *defaults = nullptr;
    Userlist *userlist = nullptr;
    HttpErrors *http_errors = nullptr;
    void *other = nullptr;
  };

  Config &config_;
  Diagnostics &diags_;
  WorkingDirectory directory_;
  const char *file_ = nullptr;
  u32 line_ = 0;
  std::string text_;
  Tokenizer tokenizer_;
  std::vector<Word> buffer_;
  ConditionalBlocks blocks_;
  const SectionDef *section_ = nullptr;
  bool skipping_ = false; // the section's header was wrong or is not supported: its lines mean nothing
  Object object_;
  std::string section_name_;
};

} // namespace

void read_configuration(const std::vector<std::string> &arguments, Config &config, Diagnostics &diags) {
  std::vector<std::string> files = expand_file_list(arguments, diags);
  set_predefined_variables(files, config);
  ConfigurationReader reader(config, diags);
  for (const std::string &file : files) reader.read(file);
  resolve_configuration(config, diags);
  set_variables_known_after_reading(config);
}

} // namespace penstock
