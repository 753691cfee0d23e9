// SPDX-License-Identifier: BSD-2-Clause
// Writes the generated manual pages from the tables' rows, and the rows' examples as configurations.
//   mangen DIR             penstock.cfg.5 and penstock-{fetches,converters,actions,log}.7 into DIR
//   mangen --examples DIR  a file per example into DIR; `make check` reads each with -c
// What a page says before its reference part is in man/*.in; the rest is the rows' own documentation.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "shared/table/registry.h"

using namespace penstock;

namespace {

/// Text as roff takes it literally.
std::string roff(string_view text) {
  std::string out;
  bool line_start = true;
  for (char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else out += c;
    line_start = c == '\n';
  }
  return out;
}

std::string paragraphs(string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t end = text.find("\n\n");
    out += ".IP\n" + roff(text.substr(0, end)) + "\n";
    text = end == string_view::npos ? string_view() : text.substr(end + 2);
  }
  return out;
}

std::string example(string_view text) {
  if (text.empty()) return {};
  std::string body(text);
  while (!body.empty() && body.back() == '\n') body.pop_back();
  return ".IP\n.nf\n.RS\n" + roff(body) + "\n.RE\n.fi\n";
}

std::string entry(string_view heading, const std::string &facts, const Doc &doc) {
  std::string out = ".TP\n.B " + roff(heading) + "\n" + roff(doc.summary) + "\n";
  if (!facts.empty()) out += ".IP\n.I " + roff(facts) + "\n";
  return out + paragraphs(doc.text) + example(doc.example);
}

std::string read_whole(const std::string &path) {
  std::ifstream in(path);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

bool write_whole(const std::string &path, const std::string &text) {
  std::ofstream out(path);
  out << text;
  out.flush();
  if (!out) std::fprintf(stderr, "mangen: cannot write %s\n", path.c_str());
  return bool(out);
}

/// All rows of one kind, sorted by name.
template <class Def, class Tables> std::vector<const Def *> rows_of(const Tables &tables) {
  std::vector<const Def *> out;
  for (auto table : tables)
    for (const Def &d : table()) out.push_back(&d);
  std::stable_sort(out.begin(), out.end(), [](const Def *a, const Def *b) { return a->name < b->name; });
  return out;
}

struct SectionName {
  u32 bit;
  const char *name;
};
constexpr SectionName section_names[] = {
    {in_global, "global"}, {in_defaults, "defaults"}, {in_frontend, "frontend"}, {in_backend, "backend"}, {in_listen, "listen"},
    {in_userlist, "userlist"}, {in_http_errors, "http-errors"}, {in_peers, "peers"}, {in_resolvers, "resolvers"}, {in_mailers, "mailers"},
    {in_cache, "cache"}, {in_ring, "ring"}, {in_log_forward, "log-forward"}, {in_crt_store, "crt-store"}, {in_fcgi_app, "fcgi-app"},
    {in_program, "program"}, {in_traces, "traces"}, {in_log_profile, "log-profile"}, {in_acme, "acme"},
};

std::string sections_of(u32 bits) {
  std::string out;
  for (const SectionName &s : section_names)
    if (bits & s.bit) out += (out.empty() ? "" : ", ") + std::string(s.name);
  return out;
}

std::string arguments(const ArgSpecs &args) {
  std::string out, closing;
  for (const ArgSpec &a : args) {
    if (a.type == ArgType::None) break;
    std::string comma = out.empty() ? "" : ",";
    out += a.optional ? "[" + comma + std::string(a.name) : comma + std::string(a.name);
    if (a.optional) closing += "]";
  }
  return out.empty() ? out : "(" + out + closing + ")";
}

struct SetName {
  u32 bit;
  const char *name;
};
constexpr SetName set_names[] = {
    {at_tcp_connection, "tcp-request connection"}, {at_tcp_session, "tcp-request session"}, {at_tcp_request, "tcp-request content"},
    {at_tcp_response, "tcp-response content"},     {at_http_request, "http-request"},       {at_http_response, "http-response"},
    {at_http_after, "http-after-response"},
};

std::string sets_of(u32 bits) {
  std::string out;
  for (const SetName &s : set_names)
    if (bits & s.bit) out += (out.empty() ? "" : ", ") + std::string(s.name);
  return out;
}

/// The rows of the sections in `mask`, and a list of what is known but not done yet.
std::string keyword_part(const std::string &title, u32 mask, u32 not_mask) {
  std::string out = ".SH " + title + "\n", planned;
  for (const KeywordDef *k : rows_of<KeywordDef>(keyword_tables())) {
    if (!(k->sections & mask) || (k->sections & not_mask)) continue;
    if (k->standing == Standing::Planned) {
      planned += (planned.empty() ? "" : ", ") + std::string(k->name);
      continue;
    }
    std::string facts = "May be used in: " + sections_of(k->sections) + ".";
    if (k->negatable) facts += " May be preceded by no.";
    if (k->standing == Standing::Legacy) facts += " An old form, accepted with a warning; write: " + std::string(k->modern);
    out += entry(k->name, facts, k->doc);
  }
  if (!planned.empty()) out += ".PP\nKnown, but not supported yet, and refused as such: " + roff(planned) + ".\n";
  return out;
}

std::string option_part(const std::string &title, std::span<const OptionRows> tables) {
  std::string out = ".SH " + title + "\n", planned;
  for (const OptionDef *o : rows_of<OptionDef>(tables)) {
    if (o->standing == Standing::Planned) {
      planned += (planned.empty() ? "" : ", ") + std::string(o->name);
      continue;
    }
    std::string heading(o->name);
    if (!o->value.empty()) heading += " " + std::string(o->value);
    out += entry(heading, {}, o->doc);
  }
  if (!planned.empty()) out += ".PP\nKnown, but not supported yet, and refused as such: " + roff(planned) + ".\n";
  return out;
}

std::string fetches_page() {
  std::string out = ".SH FETCHES\n";
  for (const FetchDef *f : rows_of<FetchDef>(fetch_tables()))
    out += entry(std::string(f->name) + arguments(f->args), "Yields: " + std::string(type_name(f->out)) + ".", f->doc);
  out += ".SH \"ACL DERIVATIVES\"\nA fetch with a match method of its own, for use in conditions only.\n";
  for (const AclAliasDef *a : rows_of<AclAliasDef>(acl_alias_tables()))
    out += ".TP\n.B " + roff(a->name) + "\n" + roff(a->fetch) + " -m " + roff(a->match) + "\n";
  return out;
}

std::string converters_page() {
  std::string out = ".SH CONVERTERS\n";
  for (const ConverterDef *c : rows_of<ConverterDef>(converter_tables()))
    out += entry(std::string(c->name) + arguments(c->args), "From " + std::string(type_name(c->in)) + " to " + std::string(type_name(c->out)) + ".", c->doc);
  return out;
}

std::string actions_page() {
  std::string out = ".SH ACTIONS\n";
  for (const ActionDef *a : rows_of<ActionDef>(action_tables())) {
    if (a->standing == Standing::Planned) continue;
    std::string name(a->name);
    if (name.ends_with('(')) name += "…)";
    if (name.ends_with('#')) name.back() = 'N';
    out += entry(name, "May be used in: " + sets_of(a->sets) + ".", a->doc);
  }
  return out;
}

std::string log_page() {
  std::string out = ".SH VARIABLES\n";
  for (const LogTagDef *t : rows_of<LogTagDef>(log_tag_tables())) out += entry("%" + std::string(t->name), t->http_only ? "Mode http only." : "", t->doc);
  return out;
}

bool write_pages(const std::string &folder) {
  struct Page {
    const char *name;
    std::string reference;
  };
  const Page pages[] = {
      {"penstock.cfg.5", keyword_part("GLOBAL KEYWORDS", in_global, 0) + keyword_part("PROXY KEYWORDS", in_proxies, in_global) +
                             keyword_part("\"KEYWORDS OF OTHER SECTIONS\"", ~u32{in_global | in_proxies}, in_global | in_proxies) +
                             option_part("\"BIND OPTIONS\"", bind_option_tables()) + option_part("\"SERVER OPTIONS\"", server_option_tables())},
      {"penstock-fetches.7", fetches_page()},
      {"penstock-converters.7", converters_page()},
      {"penstock-actions.7", actions_page()},
      {"penstock-log.7", log_page()},
  };
  bool ok = true;
  for (const Page &p : pages) {
    std::string text = read_whole(std::string("man/") + p.name + ".in");
    size_t at = text.find("@REFERENCE@\n");
    if (at == std::string::npos) {
      std::fprintf(stderr, "mangen: man/%s.in has no @REFERENCE@ line\n", p.name);
      ok = false;
      continue;
    }
    text.replace(at, 12, p.reference);
    ok = write_whole(folder + "/" + p.name, text) && ok;
  }
  return ok;
}

/// Whether the example begins with a section of its own.
bool has_sections(string_view text) {
  for (const SectionName &s : section_names)
    if (text.starts_with(s.name) && (text.size() == std::char_traits<char>::length(s.name) || text[std::char_traits<char>::length(s.name)] == ' ' ||
                                     text[std::char_traits<char>::length(s.name)] == '\n'))
      return true;
  return false;
}

constexpr char preamble[] = "defaults\n    mode http\n    timeout client 10s\n    timeout server 10s\n    timeout connect 5s\n\n";

std::string indented(string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t eol = text.find('\n');
    out += "    " + std::string(text.substr(0, eol)) + "\n";
    text = eol == string_view::npos ? string_view() : text.substr(eol + 1);
  }
  return out;
}

/// A whole configuration around an example's lines.
std::string configuration(string_view text, u32 sections) {
  if (has_sections(text)) return std::string(text) + "\n";
  if (sections & in_global && !(sections & in_proxies)) return "global\n" + indented(text);
  if (sections & in_userlist && !(sections & in_proxies)) return "userlist example\n" + indented(text);
  if (sections & in_http_errors && !(sections & in_proxies)) return "http-errors example\n" + indented(text);
  if ((sections & in_proxies) == in_defaults) return "defaults\n" + indented(text);
  bool front_only = !(sections & in_backend) && sections & in_frontend && !(sections & in_listen);
  bool back_only = !(sections & (in_frontend | in_listen)) && sections & in_backend;
  if (back_only) return preamble + ("backend example\n" + indented(text));
  return preamble + (std::string(front_only ? "frontend" : "listen") + " example\n    bind 127.0.0.1:8080\n" + indented(text));
}

bool write_examples(const std::string &folder) {
  std::map<std::string, int> used;
  bool ok = true;
  auto write = [&](const char *kind, string_view name, const Doc &doc, u32 sections) {
    if (doc.example.empty()) return;
    std::string file = kind + std::string("-");
    for (char c : name) file += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ? c : '_';
    if (int n = used[file]++) file += "-" + std::to_string(n);
    ok = write_whole(folder + "/" + file + ".cfg", configuration(doc.example, sections)) && ok;
  };
  for (const KeywordDef *k : rows_of<KeywordDef>(keyword_tables()))
    if (k->standing == Standing::Current) write("keyword", k->name, k->doc, k->sections);
  for (const OptionDef *o : rows_of<OptionDef>(bind_option_tables()))
    if (o->standing == Standing::Current) write("bind", o->name, o->doc, in_listen);
  for (const OptionDef *o : rows_of<OptionDef>(server_option_tables()))
    if (o->standing == Standing::Current) write("server", o->name, o->doc, in_backend);
  for (const FetchDef *f : rows_of<FetchDef>(fetch_tables())) write("fetch", f->name, f->doc, in_proxies);
  for (const ConverterDef *c : rows_of<ConverterDef>(converter_tables())) write("converter", c->name, c->doc, in_proxies);
  for (const ActionDef *a : rows_of<ActionDef>(action_tables()))
    if (a->standing == Standing::Current) write("action", a->name, a->doc, in_proxies);
  for (const LogTagDef *t : rows_of<LogTagDef>(log_tag_tables())) write("log", t->name, t->doc, in_proxies);
  return ok;
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 2) return write_pages(argv[1]) ? 0 : 1;
  if (argc == 3 && std::string(argv[1]) == "--examples") return write_examples(argv[2]) ? 0 : 1;
  std::fprintf(stderr, "usage: mangen DIR | mangen --examples DIR\n");
  return 2;
}
