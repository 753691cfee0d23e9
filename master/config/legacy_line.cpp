// SPDX-License-Identifier: BSD-2-Clause
#include "master/config/legacy_line.h"

#include "shared/base/text.h"

namespace penstock {

namespace {

using WordList = std::vector<std::string>;

/// A percent sign starts a log format; in old lines it was text.
std::string escape_format(string_view text) {
  std::string out;
  for (char c : text) out += c == '%' ? "%%" : std::string(1, c);
  return out;
}

/// Position of the first `c` outside brackets and escapes of an expression, or npos.
size_t find_plain(string_view regex, char c, size_t from = 0) {
  bool in_class = false;
  int depth = 0;
  for (size_t i = from; i < regex.size(); i++) {
    if (regex[i] == '\\') {
      if (!in_class && depth == 0 && i + 1 < regex.size() && regex[i + 1] == c && c == ' ') return i;
      i++;
    } else if (in_class) {
      in_class = regex[i] != ']';
    } else if (regex[i] == '[') {
      in_class = true;
    } else if (regex[i] == c && depth == 0) {
      return i;
    } else if (regex[i] == '(') {
      depth++;
    } else if (regex[i] == ')') {
      depth--;
    }
  }
  return string_view::npos;
}

unsigned count_groups(string_view regex) {
  unsigned n = 0;
  bool in_class = false;
  for (size_t i = 0; i < regex.size(); i++) {
    if (regex[i] == '\\') i++;
    else if (in_class) in_class = regex[i] != ']';
    else if (regex[i] == '[') in_class = true;
    else if (regex[i] == '(' && !regex.substr(i).starts_with("(?")) n++;
  }
  return n;
}

/// "\3" becomes "\2" when one group before it went away; false if one of those that went is used.
bool renumber(string_view text, unsigned gone, std::string &out) {
  for (size_t i = 0; i < text.size(); i++) {
    bool reference = text[i] == '\\' && i + 1 < text.size() && is_digit(text[i + 1]);
    if (!reference) {
      out += text[i];
      continue;
    }
    unsigned n = static_cast<unsigned>(text[++i] - '0');
    if (n != 0 && n <= gone) return false;
    out += '\\';
    out += static_cast<char>('0' + (n == 0 ? 0 : n - gone));
  }
  return true;
}

bool is_name_char(char c) { return is_alpha(c) || is_digit(c) || c == '-' || c == '_'; }

struct HeaderPattern {
  std::string name;
  bool whole_name = false; // a colon ended it
  std::string value;       // expression for the value; empty: any
};

/// "^Name:[ ]*value" of an expression over header lines.
std::optional<HeaderPattern> header_pattern(string_view regex) {
  if (!regex.starts_with('^')) return std::nullopt;
  regex.remove_prefix(1);
  HeaderPattern out;
  while (!regex.empty()) {
    bool escaped = regex.size() > 1 && regex[0] == '\\' && (regex[1] == '-' || regex[1] == '_');
    if (!escaped && !is_name_char(regex[0])) break;
    out.name += regex[escaped ? 1 : 0];
    regex.remove_prefix(escaped ? 2 : 1);
  }
  if (out.name.empty()) return std::nullopt;
  if (regex.empty() || regex == ".*") return out;
  if (!regex.starts_with(':')) return std::nullopt;
  regex.remove_prefix(1);
  out.whole_name = true;
  for (string_view blank : {"[ \t]*", "[ ]*", "\\s*", "\\ *", " *", "\\ ", " ", "[ ]"})
    if (regex.starts_with(blank)) {
      regex.remove_prefix(blank.size());
      break;
    }
  if (regex != ".*" && regex != "(.*)" && regex != "$") out.value = regex;
  if (regex == "(.*)") out.value = "(.*)";
  return out;
}

struct RequestLinePattern {
  std::string method; // expression, without '^'
  std::string uri;    // expression; without the blank before it
};

/// "^METHOD URI[ VERSION]" of an expression over the request line.
std::optional<RequestLinePattern> request_line_pattern(string_view regex) {
  if (!regex.starts_with('^')) return std::nullopt;
  size_t blank = find_plain(regex, ' ');
  if (blank == string_view::npos || blank < 2) return std::nullopt;
  string_view method = regex.substr(1, blank - 1);
  if (method.ends_with(':')) return std::nullopt; // a header after all
  string_view rest = regex.substr(blank + (regex[blank] == '\\' ? 2 : 1));
  if (size_t second = find_plain(rest, ' '); second != string_view::npos) rest = rest.substr(0, second);
  if (rest.empty()) return std::nullopt;
  return RequestLinePattern{std::string(method), std::string(rest)};
}

string_view without_group(string_view s) { return s.starts_with('(') && s.ends_with(')') ? s.substr(1, s.size() - 2) : s; }

bool any_method(string_view method) {
  method = without_group(method);
  for (string_view any : {"[^ :]*", "[^ ]*", "[^\\ :]*", "[^\\ ]*", "[^ :]+", "[^ ]+", "[^\\ :]+", "[^\\ ]+", ".*", ".+", "[A-Z]*", "[A-Z]+", "\\w*", "\\w+", "\\S*", "\\S+", "[^:]*", "[a-zA-Z]*"})
    if (method == any) return true;
  return false;
}

std::string anchored(string_view regex) {
  return regex.starts_with('^') ? std::string(regex) : "^" + std::string(regex);
}
std::string with_case(string_view regex, bool ignore) { return (ignore ? "(?i)" : "") + std::string(regex); }

/// `base` followed by a test that must hold and the line's own condition. False if they do not combine.
bool with_test(WordList &base, const WordList &test, const WordList &condition) {
  base.push_back("if");
  base.insert(base.end(), test.begin(), test.end());
  if (condition.empty()) return true;
  if (condition[0] != "if") return false;
  for (size_t i = 1; i < condition.size(); i++) {
    if (condition[i] == "or" || condition[i] == "||") return false;
    base.push_back(condition[i]);
  }
  return true;
}

WordList regex_test(string_view fetch, string_view regex, bool ignore_case) {
  WordList out = {"{", std::string(fetch), "-m", "reg"};
  if (ignore_case) out.push_back("-i");
  out.insert(out.end(), {"--", std::string(regex), "}"});
  return out;
}

class Translator {
 public:
  Translator(const LegacyLine &line, std::string &why) : line_(line), why_(why) {}

  std::optional<WordList> run() {
    switch (line_.verb) {
      case LegacyVerb::Add: return add();
      case LegacyVerb::Delete: return remove();
      case LegacyVerb::Replace: return replace();
      case LegacyVerb::Allow: return judge("allow");
      case LegacyVerb::Deny: return judge("deny");
      case LegacyVerb::Tarpit: return judge("tarpit");
    }
    return std::nullopt;
  }

 private:
  WordList rule(std::initializer_list<string_view> words) const {
    WordList out = {line_.response ? "http-response" : "http-request"};
    for (string_view w : words) out.emplace_back(w);
    return out;
  }
  std::optional<WordList> with_condition(WordList out) const {
    out.insert(out.end(), line_.condition.begin(), line_.condition.end());
    return out;
  }
  std::optional<WordList> fail(string_view why) {
    why_ = why;
    return std::nullopt;
  }
  string_view header_fetch() const { return line_.response ? "res.fhdr" : "req.fhdr"; }

  std::optional<WordList> add() {
    size_t colon = line_.search.find(':');
    if (colon == std::string::npos || colon == 0) return fail("what it adds is not a header (NAME: VALUE)");
    return with_condition(rule({"add-header", trim(string_view(line_.search).substr(0, colon)), escape_format(trim(string_view(line_.search).substr(colon + 1)))}));
  }

  std::optional<WordList> remove() {
    auto header = header_pattern(line_.search);
    if (!header) return fail("its expression does not begin with the name of a header (^NAME:)");
    if (!header->whole_name) return with_condition(rule({"del-header", header->name, "-m", "beg"}));
    if (header->value.empty() || header->value == "(.*)") return with_condition(rule({"del-header", header->name}));
    WordList out = rule({"del-header", header->name});
    std::string fetch = std::string(header_fetch()) + "(" + header->name + ")";
    if (!with_test(out, regex_test(fetch, anchored(header->value), line_.ignore_case), line_.condition))
      return fail("its condition cannot be combined with the expression");
    return out;
  }

  std::optional<WordList> replace() {
    if (auto header = header_pattern(line_.search); header && header->whole_name) return replace_header(*header);
    if (!line_.response)
      if (auto request = request_line_pattern(line_.search)) return replace_uri(*request);
    return fail(line_.response ? "its expression does not begin with the name of a header (^NAME:)"
                               : "its expression is neither for the request line (^METHOD URI) nor for a header (^NAME:)");
  }

  std::optional<WordList> replace_header(const HeaderPattern &header) {
    size_t colon = line_.replacement.find(':');
    if (colon == std::string::npos) return fail("its replacement is not a header (NAME: VALUE)");
    if (!iequals(trim(string_view(line_.replacement).substr(0, colon)), header.name)) return fail("its replacement has another header's name");
    std::string value = header.value.empty() ? ".*" : header.value;
    return with_condition(rule({"replace-header", header.name, with_case(value, line_.ignore_case),
                                escape_format(trim(string_view(line_.replacement).substr(colon + 1)))}));
  }

  std::optional<WordList> replace_uri(const RequestLinePattern &request) {
    auto parts = split(line_.replacement, ' ');
    unsigned gone = count_groups(request.method);
    bool same_method = parts[0] == request.method || (gone == 1 && parts[0] == "\\1");
    if (parts.size() < 2 || !same_method) return fail("its replacement changes the method");
    std::string uri;
    if (!renumber(parts[1], gone, uri)) return fail("its replacement puts the method into the URI");
    WordList out = rule({"replace-uri", with_case(anchored(request.uri), line_.ignore_case), escape_format(uri)});
    if (any_method(request.method)) return with_condition(std::move(out));
    if (!with_test(out, {"{", "method", "-m", "reg", "--", "^" + request.method + "$", "}"}, line_.condition))
      return fail("its condition cannot be combined with the method");
    return out;
  }

  std::optional<WordList> judge(string_view action) {
    WordList out = rule({action});
    WordList test;
    auto request = line_.response ? std::nullopt : request_line_pattern(line_.search);
    if (auto header = header_pattern(line_.search); header && header->whole_name) {
      std::string fetch = std::string(header_fetch()) + "(" + header->name + ")";
      test = header->value.empty() ? WordList{"{", fetch, "-m", "found", "}"} : regex_test(fetch, anchored(header->value), line_.ignore_case);
    } else if (request) {
      if (!any_method(request->method)) test = {"{", "method", "-m", "reg", "--", "^" + request->method + "$", "}"};
      WordList uri = regex_test("url", anchored(request->uri), line_.ignore_case);
      test.insert(test.end(), uri.begin(), uri.end());
    } else {
      return fail(line_.response ? "its expression does not begin with the name of a header (^NAME:)"
                                 : "its expression is neither for the request line (^METHOD URI) nor for a header (^NAME:)");
    }
    if (!with_test(out, test, line_.condition)) return fail("its condition cannot be combined with the expression");
    return out;
  }

  const LegacyLine &line_;
  std::string &why_;
};

} // namespace

std::optional<WordList> translate_legacy(const LegacyLine &line, std::string &why) { return Translator(line, why).run(); }

std::string written_line(const WordList &words) {
  std::string out;
  for (const std::string &word : words) {
    if (!out.empty()) out += ' ';
    if (word.empty()) out += "\"\"";
    for (char c : word) {
      if (c == ' ' || c == '\\' || c == '"' || c == '\'' || c == '#') out += '\\';
      out += c;
    }
  }
  return out;
}

} // namespace penstock
